/** Who may try what now: queues of pending deliveries in order of posting, and what is taken. In memory only. */

import { isAside } from '../../core/aside.js'
import { byQueue, queueOf } from '../../core/queue.js'
import type { Delivery } from '../../model/delivery.js'

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
	/** Queue by id of what is taken. */
	const taken = new Map<string, string>()
	/** How many of a queue are taken; a queue that is not here is free. */
	const underWay = new Map<string, number>()
	let known: ReadonlyMap<string, Delivery> | null = null
	let queues: ReadonlyMap<string, readonly Delivery[]> = new Map()

	/** A change gives a new map, so one pass serves every question until the next change. */
	function pendingByQueue(deliveries: ReadonlyMap<string, Delivery>): ReadonlyMap<string, readonly Delivery[]> {
		if (known !== deliveries) {
			queues = byQueue([...deliveries.values()].filter(({ status }) => status === 'pending'))
			known = deliveries
		}
		return queues
	}

	return {
		claim(deliveries, { nowMs, perQueue }) {
			const claimed: Delivery[][] = []
			for (const [queue, pending] of pendingByQueue(deliveries)) {
				if (underWay.has(queue)) continue
				const due = duePrefix(pending, nowMs, perQueue)
				if (due.length === 0) continue
				for (const { id } of due) taken.set(id, queue)
				underWay.set(queue, due.length)
				claimed.push(due)
			}
			return claimed
		},
		release(ids) {
			for (const id of ids) {
				const queue = taken.get(id)
				if (queue === undefined) continue
				taken.delete(id)
				const left = (underWay.get(queue) ?? 1) - 1
				if (left > 0) underWay.set(queue, left)
				else underWay.delete(queue)
			}
		},
		nextDueMs(deliveries) {
			let next: number | null = null
			for (const [queue, pending] of pendingByQueue(deliveries)) {
				if (underWay.has(queue)) continue
				for (const delivery of pending) {
					if (next === null || delivery.nextAttemptAtMs < next) next = delivery.nextAttemptAtMs
					if (!isAside(delivery)) break
				}
			}
			return next
		},
		aside: (deliveries, queue) => (pendingByQueue(deliveries).get(queueOf(queue)) ?? []).filter(isAside),
	}
}

function duePrefix(pending: readonly Delivery[], nowMs: number, most: number): Delivery[] {
	const due: Delivery[] = []
	for (const delivery of pending) {
		if (due.length >= most) break
		if (delivery.nextAttemptAtMs <= nowMs) due.push(delivery)
		else if (!isAside(delivery)) break
	}
	return due
}
