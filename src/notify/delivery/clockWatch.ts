/**
 * When a delivery is tried again stands in the state as a time. When the clock is set back that time is further away
 * than it was meant to be: for an hour nothing would be sent that was due within a second.
 */

import type { Clock } from '../../model/glossary.js'
import type { Log, Store } from '../../model/ports.js'

export interface ClockWatch {
	/** Makes due what waits for a time that the clock has gone back from. Throws StateError. */
	look(): Promise<void>
}

export interface ClockWatchOptions {
	readonly store: Pick<Store, 'deliveries' | 'retry' | 'nextDueMs'>
	readonly clock: Clock
	/** One that nobody sets. */
	readonly steady: Clock
	readonly log: Log
}

/** Less is no worse than waiting that long. */
const leastMs = 2_000

export function createClockWatch({ store, clock, steady, log }: ClockWatchOptions): ClockWatch {
	/** The clock less the steady one, at the last look; null before the first. */
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
				// What an earlier run was sent in our future; where anything is due, the times fit.
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
