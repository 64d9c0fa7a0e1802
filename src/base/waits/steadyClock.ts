/**
 * A monotonic clock: milliseconds since 1970 as the wall clock showed them at the start of the program, plus the time
 * that has passed since. Changes of the wall clock do not affect it. For waits and ages within this process; never for
 * times that are stored or shown.
 */
export function steadyClock(): number {
	return performance.timeOrigin + performance.now()
}
