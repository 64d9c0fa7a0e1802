/** Rows of the history as the pages and their JSON show them. */

import { iso } from '../base/utc.js'
import type { AlertData, Message } from '../model/alert.js'
import type { DeliveryRow } from '../model/history.js'

export function publicOf(row: DeliveryRow) {
	const { id, receiver, recipient, result, attempts, lastError, answer } = row
	return {
		...{ deliveryId: id, receiver, recipient, result, attempts },
		...{ toldAt: iso(row.toldAtMs), endedAt: iso(row.endedAtMs), nextAttemptAt: iso(row.nextAttemptAtMs) },
		...{ lastError, answer },
	}
}

export type PublicDelivery = ReturnType<typeof publicOf>

const waits: ReadonlySet<string> = new Set(['pending', 'held'])

/** `well`: delivered, or carried by another delivery. */
export function gravityOf(result: string): 'well' | 'waits' | 'ill' {
	if (waits.has(result)) return 'waits'
	return result === 'delivered' || result === 'folded' ? 'well' : 'ill'
}

/** A message in a list of alerts. */
export interface AlertRow {
	readonly id: string
	readonly type: Message['type']
	readonly says: string
	/** Why, in a message about the system. */
	readonly reason: string | null
	readonly toldAt: string
	/** The alert; none in a message about the system. */
	readonly alerts: readonly AlertData[]
	readonly deliveries: readonly PublicDelivery[]
}
