/** Rows of the history as the pages and their JSON show them. */

import { counted } from '../base/text/counted.js'
import { iso } from '../base/utc.js'
import type { AlertData, Message } from '../model/alert.js'
import type { DeliveryRow, HistoryHole } from '../model/history.js'
import type { Gathered } from './collectDeliveries.js'
import { amount, time } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { mark } from './look/layout.js'

export function publicOf(row: DeliveryRow) {
	const { id, receiver, recipient, result, attempts, lastError, answer } = row
	return {
		...{ deliveryId: id, receiver, recipient, result, attempts },
		...{ toldAt: iso(row.toldAtMs), endedAt: iso(row.endedAtMs), nextAttemptAt: iso(row.nextAttemptAtMs) },
		...{ lastError, answer },
	}
}

export type PublicDelivery = ReturnType<typeof publicOf>

export function holesOf(rows: Gathered['rows']) {
	const holes = rows.filter((row): row is HistoryHole => 'hole' in row)
	return holes.map(({ hole, endedAtMs }) => ({ rows: hole.rows, from: iso(hole.fromMs), to: iso(endedAtMs) }))
}

export function holesIn(holes: ReturnType<typeof holesOf>): readonly Html[] {
	return holes.map(({ rows, from, to }) => {
		const many = amount(counted(rows, 'row'))
		return html`<p class="hole">${mark('hole', 'ill')} ${many} of the history could not be written,
from ${time(from)} to ${time(to)}. The messages themselves were sent.</p>`
	})
}

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
