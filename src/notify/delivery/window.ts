/** How many alerts a lane was told lately. In memory only: after a start nothing is known, and as many as allowed go out again. */
import type { Delivery } from '../../model/delivery.js'
import { laneOf } from './health.js'

/** Within any `everyMs` at most `max` alerts go out by themselves. */
export interface Pace {
	readonly everyMs: number
	readonly max: number
}

export interface Window {
	/** A lane was told something. */
	note(delivery: Delivery, pace: Pace, nowMs: number): void
	/** When the lane may be told one more; null: now. */
	fullUntilMs(delivery: Delivery, pace: Pace, nowMs: number): number | null
}

export function createWindow(): Window {
	const toldAtMs = new Map<string, readonly number[]>()

	function recent(delivery: Delivery, { everyMs }: Pace, nowMs: number): readonly number[] {
		// What lies ahead was told before the clock was set back.
		return (toldAtMs.get(laneOf(delivery)) ?? []).filter((atMs) => atMs <= nowMs && nowMs < atMs + everyMs)
	}

	return {
		note(delivery, pace, nowMs) {
			toldAtMs.set(laneOf(delivery), [...recent(delivery, pace, nowMs), nowMs])
		},
		fullUntilMs(delivery, pace, nowMs) {
			const told = recent(delivery, pace, nowMs)
			const oldest = told[told.length - pace.max]
			return oldest === undefined ? null : oldest + pace.everyMs
		},
	}
}
