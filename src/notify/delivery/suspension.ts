/**
 * Parked deliveries wait until the operator repairs their receiver. tracewatch is not notified of a repair. So all
 * parked deliveries are retried when the daemon starts, when the settings change and when the receiver accepts another
 * message, and the oldest 3 of each queue every 15 minutes. They are never given up.
 */

import { byQueue } from '../../core/outbox/queue.js'
import { inSendingOrder, rankOf } from '../../core/outbox/urgency.js'
import type { Delivery } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Store } from '../../model/ports.js'
import { sampleSize } from './refusalSampling.js'

export const probeEveryMs = 15 * 60_000

export interface Suspension {
	/** Finds receivers with deliveries that an earlier run parked. */
	learn(): Promise<void>
	/** A delivery of this receiver was parked. */
	parked(receiver: string): void
	/**
	 * A receiver accepted a message: its parked deliveries become due, except those that it refused in this pass
	 * (`refused`). Resolves to whether there were any.
	 */
	taken(receiver: string, refused: ReadonlySet<string>): Promise<boolean>
	/**
	 * Whether this delivery must wait for a parked one of its queue: a retraction must not overtake its alert, nor the
	 * end of a stall its start. The parked one becomes due.
	 */
	overtakes(delivery: Delivery): Promise<boolean>
	/** Makes all parked deliveries due. */
	releaseAll(): Promise<void>
	/** Makes the oldest 3 of each queue due, unless one of the queue was tried within the last 15 minutes. */
	probe(): Promise<void>
	/** Time of the next probe; null while no delivery is known to be parked. */
	nextProbeMs(): number | null
}

/** `clock` gives the time from which deliveries become due. */
export function createSuspension(store: Store, clock: Clock): Suspension {
	/** Receivers with parked deliveries; it saves reading the deliveries on each call. */
	const receivers = new Set<string>()
	let probeAtMs = 0

	async function suspendedNow(): Promise<readonly Delivery[]> {
		return await store.deliveries('parked')
	}

	async function makeDue(deliveries: readonly Delivery[]): Promise<void> {
		const ids = deliveries.map(({ id }) => id)
		if (ids.length > 0) await store.retry(ids, clock())
	}

	return {
		async learn() {
			for (const { receiver } of await suspendedNow()) receivers.add(receiver)
		},
		parked(receiver) {
			if (receivers.size === 0) probeAtMs = clock() + probeEveryMs
			receivers.add(receiver)
		},
		async taken(receiver, refused) {
			if (!receivers.has(receiver)) return false
			if (refused.size === 0) receivers.delete(receiver)
			const waiting = (await suspendedNow()).filter((delivery) => delivery.receiver === receiver)
			const others = waiting.filter(({ id }) => !refused.has(id))
			await makeDue(others)
			return others.length > 0
		},
		async overtakes(delivery) {
			// A delivery that was parked before already has its place in the order.
			if (delivery.attempts > 0 || !receivers.has(delivery.receiver)) return false
			const [first] = inSendingOrder(await store.deliveries('parked', delivery))
			if (first === undefined || rankOf(first) > rankOf(delivery)) return false
			if (rankOf(first) === rankOf(delivery) && first.createdAtMs > delivery.createdAtMs) return false
			await makeDue([first])
			return true
		},
		async releaseAll() {
			receivers.clear()
			await makeDue(await suspendedNow())
		},
		async probe() {
			const waitMs = probeAtMs - clock()
			// A probe this far ahead is impossible: the clock was set back.
			if (receivers.size === 0 || (waitMs > 0 && waitMs <= probeEveryMs)) return
			probeAtMs = clock() + probeEveryMs
			const stale = [...byQueue(await suspendedNow()).values()].filter((queue) =>
				queue.every(({ nextAttemptAtMs: triedAtMs }) => triedAtMs + probeEveryMs <= clock() || triedAtMs > clock()),
			)
			await makeDue(stale.flatMap((queue) => queue.slice(0, sampleSize)))
		},
		nextProbeMs: () => (receivers.size === 0 ? null : probeAtMs),
	}
}
