/**
 * What is set aside in a queue, during one pass over it. A message about the same thing waits behind: a retraction must
 * not overtake its alert, nor the end of a stall its beginning.
 */

import { isAside, subjectsOf } from '../../core/aside.js'
import type { Delivery } from '../../model/delivery.js'

export interface Asides {
	/** The one that this delivery is to wait for; null: none. */
	before(delivery: Delivery): { readonly id: string; readonly nextAttemptAtMs: number } | null
	/** It is tried then, set aside. */
	put(delivery: Delivery, nextAttemptAtMs: number): void
	/** It is settled. */
	gone(delivery: Delivery): void
}

/** `known`: what the state has, in order. */
export function createAsides(known: readonly Delivery[]): Asides {
	const entries = new Map(
		known.map((delivery) => [delivery.id, { delivery, nextAttemptAtMs: delivery.nextAttemptAtMs }]),
	)
	return {
		before(delivery) {
			if (entries.size === 0) return null
			const subjects = new Set(subjectsOf(delivery.message))
			for (const [id, { delivery: other, nextAttemptAtMs }] of entries) {
				// What comes later in the order is no reason to wait.
				if (id === delivery.id) return null
				if (subjectsOf(other.message).some((subject) => subjects.has(subject))) return { id, nextAttemptAtMs }
			}
			return null
		},
		put(delivery, nextAttemptAtMs) {
			entries.set(delivery.id, { delivery, nextAttemptAtMs })
		},
		gone({ id }) {
			entries.delete(id)
		},
	}
}

/** Those that are set aside come last: they are in nobody's way. */
export function asidesLast(queue: readonly Delivery[]): readonly Delivery[] {
	if (!queue.some(isAside)) return queue
	return [...queue.filter((delivery) => !isAside(delivery)), ...queue.filter(isAside)]
}
