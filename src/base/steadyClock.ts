/**
 * How much time has passed, whatever is done to the clock on the wall: milliseconds since 1970 as they were when the
 * program started, and from then on as they pass. For waits and ages within this process; never for a time that is
 * kept or shown.
 */
export function steadyClock(): number {
	return performance.timeOrigin + performance.now()
}
