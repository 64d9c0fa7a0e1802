/**
 * How many alerts a queue was sent lately. In memory only: after a start nothing is known, and as many as allowed go
 * out again.
 */
import { queueOf } from '../../core/queue.js'
import type { Delivery } from '../../model/delivery.js'

/** Within any `everyMs` at most `max` alerts go out by themselves. */
export interface DigestRate {
	readonly everyMs: number
	readonly max: number
}

export interface Window {
	/** A queue was sent something. */
	note(delivery: Delivery, rate: DigestRate, nowMs: number): void
	/** When the queue may be sent one more; null: now. */
	fullUntilMs(delivery: Delivery, rate: DigestRate, nowMs: number): number | null
}

export function createWindow(): Window {
	const sentAtMs = new Map<string, readonly number[]>()

	function recent(delivery: Delivery, { everyMs }: DigestRate, nowMs: number): readonly number[] {
		// What lies ahead was sent before the clock was set back.
		return (sentAtMs.get(queueOf(delivery)) ?? []).filter((atMs) => atMs <= nowMs && nowMs < atMs + everyMs)
	}

	return {
		note(delivery, rate, nowMs) {
			sentAtMs.set(queueOf(delivery), [...recent(delivery, rate, nowMs), nowMs])
		},
		fullUntilMs(delivery, rate, nowMs) {
			const recentlySent = recent(delivery, rate, nowMs)
			const oldest = recentlySent[recentlySent.length - rate.max]
			return oldest === undefined ? null : oldest + rate.everyMs
		},
	}
}
