/**
 * The quarantined deliveries of a queue (`core/outbox/quarantine.ts`) during one pass. A delivery about the same
 * subject waits for them: a retraction must not overtake its alert, nor the end of a stall its start.
 */

import { isQuarantined, subjectsOf } from '../../core/outbox/quarantine.js'
import type { Delivery } from '../../model/delivery.js'

export interface Quarantine {
	/** The quarantined delivery that this one waits for; null: none. */
	blockerOf(delivery: Delivery): Blocker | null
	/** Adds a quarantined delivery, which is retried at that time. */
	add(delivery: Delivery, nextAttemptAtMs: number): void
	/** Removes a delivery that was delivered, parked or dead. */
	remove(delivery: Delivery): void
}

export interface Blocker {
	readonly id: string
	readonly nextAttemptAtMs: number
}

/** `known`: the quarantined deliveries in the state, in sending order. */
export function createQuarantine(known: readonly Delivery[]): Quarantine {
	const entries = new Map(
		known.map((delivery) => [delivery.id, { delivery, nextAttemptAtMs: delivery.nextAttemptAtMs }]),
	)
	return {
		blockerOf(delivery) {
			if (entries.size === 0) return null
			const subjects = new Set(subjectsOf(delivery.message))
			for (const [id, { delivery: other, nextAttemptAtMs }] of entries) {
				// Later deliveries do not block this one.
				if (id === delivery.id) return null
				if (subjectsOf(other.message).some((subject) => subjects.has(subject))) return { id, nextAttemptAtMs }
			}
			return null
		},
		add(delivery, nextAttemptAtMs) {
			entries.set(delivery.id, { delivery, nextAttemptAtMs })
		},
		remove({ id }) {
			entries.delete(id)
		},
	}
}

/** Moves quarantined deliveries to the end, so that they delay no others. */
export function quarantinedLast(queue: readonly Delivery[]): readonly Delivery[] {
	if (!queue.some(isQuarantined)) return queue
	return [...queue.filter((delivery) => !isQuarantined(delivery)), ...queue.filter(isQuarantined)]
}
