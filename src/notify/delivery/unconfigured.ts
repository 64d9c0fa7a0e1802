/**
 * Deliveries whose receiver or recipient is no longer configured. They are kept unchanged, because it may be configured
 * again, and logged once per queue. Their claims are kept too, so that `claim` does not return them again and again.
 */
import { queueOf } from '../../core/outbox/queue.js'
import type { Delivery } from '../../model/delivery.js'
import type { Log, Store } from '../../model/ports.js'

export interface Unconfigured {
	keep(queue: readonly Delivery[]): void
	/** Releases the claims. */
	letGo(): Promise<void>
}

export function createUnconfigured(store: Store, log: Log): Unconfigured {
	const reported = new Set<string>()
	let claimed: string[] = []
	return {
		keep(queue) {
			claimed.push(...queue.map(({ id }) => id))
			const [first] = queue
			if (first === undefined || reported.has(queueOf(first))) return
			reported.add(queueOf(first))
			const { receiver, recipient } = first
			log.warn(
				{ receiver, ...(recipient === null ? {} : { recipient }) },
				'deliveries wait for a receiver that is no longer configured; "tracewatch deliveries drop" discards them',
			)
		},
		async letGo() {
			const ids = claimed
			claimed = []
			if (ids.length > 0) await store.release(ids)
		},
	}
}
