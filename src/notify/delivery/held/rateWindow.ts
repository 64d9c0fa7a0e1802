/**
 * Counts the alerts that each queue was sent within the last `everyMs`. In memory only: after a start, up to `max` are
 * sent again.
 */
import { queueOf } from '../../../core/outbox/queue.js'
import type { Delivery } from '../../../model/delivery.js'

/** At most `max` alerts that a digest rule may hold are sent alone within any `everyMs`. */
export interface DigestRate {
	readonly everyMs: number
	readonly max: number
}

export interface RateWindow {
	/** Counts a message that was sent to a queue. */
	note(delivery: Delivery, rate: DigestRate, nowMs: number): void
	/** When the queue may be sent another message; null: now. */
	fullUntilMs(delivery: Delivery, rate: DigestRate, nowMs: number): number | null
}

export function createRateWindow(): RateWindow {
	const sentAtMs = new Map<string, readonly number[]>()

	function recent(delivery: Delivery, { everyMs }: DigestRate, nowMs: number): readonly number[] {
		// Times in the future were recorded before the clock was set back.
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
