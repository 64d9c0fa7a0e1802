/**
 * Deliveries whose receiver, or recipient, is configured no more: kept as they are, for it may come back, and told once. Their
 * claims are kept too, so that they are not claimed over and over.
 */
import type { Delivery } from '../../model/delivery.js'
import type { Log, Store } from '../../model/ports.js'
import { laneOf } from './health.js'

export interface Orphans {
	keep(lane: readonly Delivery[]): void
	/** Gives the claims back. */
	letGo(): Promise<void>
}

export function createOrphans(store: Store, log: Log): Orphans {
	const told = new Set<string>()
	let claimed: string[] = []
	return {
		keep(lane) {
			claimed.push(...lane.map(({ id }) => id))
			const [first] = lane
			if (first === undefined || told.has(laneOf(first))) return
			told.add(laneOf(first))
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
