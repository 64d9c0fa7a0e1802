/**
 * What is parked waits for somebody to fix its receiver, who may not think of saying so. So it is tried again when
 * the daemon starts, when the settings change, as soon as its receiver takes anything else, and the oldest few of each
 * queue every quarter of an hour. It is never given up.
 */

import { byQueue } from '../../core/queue.js'
import type { Delivery } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Store } from '../../model/ports.js'
import { mostOpinions } from './opinions.js'

export const probeEveryMs = 15 * 60_000

export interface Suspension {
	/** Finds out what an earlier run has parked. */
	learn(): Promise<void>
	/** A delivery of this receiver was parked. */
	parked(receiver: string): void
	/**
	 * A receiver took a message: whatever is parked for it becomes due, but for what it has just refused. Resolves to
	 * whether there was anything.
	 */
	taken(receiver: string, refused: ReadonlySet<string>): Promise<boolean>
	/**
	 * Whether something older than this one is parked in its queue; that becomes due then, and is to go first: a
	 * retraction must not overtake its alert, nor the end of a stall its beginning.
	 */
	overtakes(delivery: Delivery): Promise<boolean>
	/** All that is parked becomes due. */
	releaseAll(): Promise<void>
	/** The oldest few of each queue become due, where none was tried for a while. */
	probe(): Promise<void>
	/** Time of the next probe; null while nothing is known to be parked. */
	nextProbeMs(): number | null
}

/** What becomes due is due at `clock()`. */
export function createSuspension(store: Store, clock: Clock): Suspension {
	/** With something parked; they save looking through the deliveries each time. */
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
			// What was parked itself has its place already.
			if (delivery.attempts > 0 || !receivers.has(delivery.receiver)) return false
			const [oldest] = await store.deliveries('parked', delivery)
			if (oldest === undefined || oldest.createdAtMs > delivery.createdAtMs) return false
			await makeDue([oldest])
			return true
		},
		async releaseAll() {
			receivers.clear()
			await makeDue(await suspendedNow())
		},
		async probe() {
			const waitMs = probeAtMs - clock()
			// Further ahead than it can be: the clock was set back.
			if (receivers.size === 0 || (waitMs > 0 && waitMs <= probeEveryMs)) return
			probeAtMs = clock() + probeEveryMs
			const stale = [...byQueue(await suspendedNow()).values()].filter((queue) =>
				queue.every(({ nextAttemptAtMs: triedAtMs }) => triedAtMs + probeEveryMs <= clock() || triedAtMs > clock()),
			)
			await makeDue(stale.flatMap((queue) => queue.slice(0, mostOpinions)))
		},
		nextProbeMs: () => (receivers.size === 0 ? null : probeAtMs),
	}
}
