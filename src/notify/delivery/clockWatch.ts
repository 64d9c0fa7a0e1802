/**
 * Handles a system clock that is set back. The state stores the time of each next attempt, so a retry due in 1 s would
 * wait for an hour after the clock was set back by an hour.
 */

import type { Clock } from '../../model/glossary.js'
import type { Log, Store } from '../../model/ports.js'

export interface ClockWatch {
	/** Makes deliveries due whose time lies ahead only because the clock was set back. Throws StateError. */
	look(): Promise<void>
}

export interface ClockWatchOptions {
	readonly store: Pick<Store, 'deliveries' | 'retry' | 'nextDueMs'>
	readonly clock: Clock
	/** A monotonic clock. */
	readonly steady: Clock
	readonly log: Log
}

/** Smaller steps are ignored: they delay a retry by 2 s at most. */
const leastMs = 2_000

export function createClockWatch({ store, clock, steady, log }: ClockWatchOptions): ClockWatch {
	/** System clock minus monotonic clock at the last look; null before the first. */
	let aheadMs: number | null = null

	async function makeDue(isLate: (times: { createdAtMs: number; nextAttemptAtMs: number }) => boolean): Promise<void> {
		const ids = (await store.deliveries('pending')).filter(isLate).map(({ id }) => id)
		if (ids.length > 0) await store.retry(ids, clock())
	}

	return {
		async look() {
			const nowMs = clock()
			const nowAheadMs = nowMs - steady()
			if (aheadMs === null) {
				// An earlier run created these with a clock that was ahead. If any delivery is due, the clock is right.
				const nextMs = await store.nextDueMs()
				if (nextMs !== null && nextMs > nowMs) await makeDue(({ createdAtMs }) => createdAtMs > nowMs + leastMs)
			} else if (aheadMs - nowAheadMs >= leastMs) {
				const seconds = Math.round((aheadMs - nowAheadMs) / 1_000)
				log.warn({ seconds }, 'the clock was set back: what waits for another attempt is tried now')
				await makeDue(({ nextAttemptAtMs }) => nextAttemptAtMs > nowMs)
			}
			aheadMs = nowAheadMs
		},
	}
}
