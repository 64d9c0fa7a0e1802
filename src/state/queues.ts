/**
 * Selects deliveries that can be tried now: queues of pending deliveries in sending order, and their claims. In memory
 * only.
 */

import { byQueue, queueOf } from '../core/outbox/queue.js'
import { inSendingOrder } from '../core/outbox/urgency.js'
import { claimable, isAside, isHeld, nextDueMsOf } from '../core/outbox/waiting.js'
import type { Delivery } from '../model/delivery.js'

export interface Queues {
	claim(
		deliveries: ReadonlyMap<string, Delivery>,
		options: { readonly nowMs: number; readonly perQueue: number },
	): readonly (readonly Delivery[])[]
	release(ids: readonly string[]): void
	nextDueMs(deliveries: ReadonlyMap<string, Delivery>): number | null
	aside(deliveries: ReadonlyMap<string, Delivery>, queue: Pick<Delivery, 'receiver' | 'recipient'>): readonly Delivery[]
}

export function createQueues(): Queues {
	/** Queue of each claimed delivery, by its id. */
	const taken = new Map<string, string>()
	let known: ReadonlyMap<string, Delivery> | null = null
	let queues: ReadonlyMap<string, readonly Delivery[]> = new Map()

	/** Cached per map, because each change makes a new map. */
	function pendingByQueue(deliveries: ReadonlyMap<string, Delivery>): ReadonlyMap<string, readonly Delivery[]> {
		if (known !== deliveries) {
			const pending = byQueue([...deliveries.values()].filter(({ status }) => status === 'pending'))
			queues = new Map([...pending].map(([queue, all]) => [queue, inSendingOrder(all)]))
			known = deliveries
		}
		return queues
	}

	return {
		claim(deliveries, { nowMs, perQueue }) {
			const busy = new Set(taken.values())
			const claimed: (readonly Delivery[])[] = []
			for (const [queue, pending] of pendingByQueue(deliveries)) {
				if (busy.has(queue)) continue
				const due = claimable(pending, nowMs, perQueue)
				if (due.length === 0) continue
				for (const { id } of due) taken.set(id, queue)
				claimed.push(due)
			}
			return claimed
		},
		release(ids) {
			for (const id of ids) taken.delete(id)
		},
		nextDueMs(deliveries) {
			const busy = new Set(taken.values())
			let next: number | null = null
			for (const [queue, pending] of pendingByQueue(deliveries)) {
				if (busy.has(queue)) continue
				const dueMs = nextDueMsOf(pending)
				if (dueMs !== null && (next === null || dueMs < next)) next = dueMs
			}
			return next
		},
		aside: (deliveries, queue) =>
			(pendingByQueue(deliveries).get(queueOf(queue)) ?? []).filter((one) => isAside(one) || isHeld(one)),
	}
}
