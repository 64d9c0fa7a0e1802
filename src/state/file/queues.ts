/** Who may try what now: lanes of pending deliveries in order of posting, and what is taken. In memory only. */

import type { Delivery } from '../../model/delivery.js'

export interface Lanes {
	claim(
		deliveries: ReadonlyMap<string, Delivery>,
		options: { readonly nowMs: number; readonly perLane: number },
	): readonly (readonly Delivery[])[]
	release(ids: readonly string[]): void
	nextDueMs(deliveries: ReadonlyMap<string, Delivery>): number | null
}

export function createLanes(): Lanes {
	/** Lane by id of what is taken. */
	const taken = new Map<string, string>()
	/** How many of a lane are taken; a lane that is not here is free. */
	const held = new Map<string, number>()
	let known: ReadonlyMap<string, Delivery> | null = null
	let lanes: ReadonlyMap<string, readonly Delivery[]> = new Map()

	/** A change gives a new map, so one pass serves every question until the next change. */
	function pendingByLane(deliveries: ReadonlyMap<string, Delivery>): ReadonlyMap<string, readonly Delivery[]> {
		if (known !== deliveries) {
			lanes = laneIndex(deliveries.values())
			known = deliveries
		}
		return lanes
	}

	return {
		claim(deliveries, { nowMs, perLane }) {
			const claimed: Delivery[][] = []
			for (const [lane, pending] of pendingByLane(deliveries)) {
				if (held.has(lane)) continue
				const due = duePrefix(pending, nowMs, perLane)
				if (due.length === 0) continue
				for (const { id } of due) taken.set(id, lane)
				held.set(lane, due.length)
				claimed.push(due)
			}
			return claimed
		},
		release(ids) {
			for (const id of ids) {
				const lane = taken.get(id)
				if (lane === undefined) continue
				taken.delete(id)
				const left = (held.get(lane) ?? 1) - 1
				if (left > 0) held.set(lane, left)
				else held.delete(lane)
			}
		},
		nextDueMs(deliveries) {
			let next: number | null = null
			for (const [lane, [first]] of pendingByLane(deliveries)) {
				if (!first || held.has(lane)) continue
				if (next === null || first.nextAttemptAtMs < next) next = first.nextAttemptAtMs
			}
			return next
		},
	}
}

function laneIndex(deliveries: Iterable<Delivery>): ReadonlyMap<string, readonly Delivery[]> {
	const lanes = new Map<string, Delivery[]>()
	for (const delivery of deliveries) {
		if (delivery.status !== 'pending') continue
		const lane = JSON.stringify([delivery.receiver, delivery.recipient])
		const pending = lanes.get(lane)
		if (pending) pending.push(delivery)
		else lanes.set(lane, [delivery])
	}
	return lanes
}

function duePrefix(pending: readonly Delivery[], nowMs: number, most: number): Delivery[] {
	const due: Delivery[] = []
	for (const delivery of pending) {
		if (due.length >= most || delivery.nextAttemptAtMs > nowMs) break
		due.push(delivery)
	}
	return due
}
