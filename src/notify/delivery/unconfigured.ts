/**
 * Deliveries whose receiver, or recipient, is configured no more: kept as they are, for it may come back, and logged
 * once. Their claims are kept too, so that they are not claimed over and over.
 */
import { queueOf } from '../../core/queue.js'
import type { Delivery } from '../../model/delivery.js'
import type { Log, Store } from '../../model/ports.js'

export interface Unconfigured {
	keep(queue: readonly Delivery[]): void
	/** Gives the claims back. */
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
				'deliveries wait for a receiver that is configured no more; "tracewatch deliveries drop" discards them',
			)
		},
		async letGo() {
			const ids = claimed
			claimed = []
			if (ids.length > 0) await store.release(ids)
		},
	}
}
