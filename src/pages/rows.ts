/** Rows of the history as the pages and their JSON show them. */

import { iso } from '../base/utc.js'
import { alertOf } from '../core/outbox/historyEntries.js'
import type { DeliveryRow } from '../model/history.js'
import { gather, messageOf } from './collectDeliveries.js'
import type { PageFacts } from './pageData.js'

export function publicOf(row: DeliveryRow) {
	const { id, receiver, recipient, result, attempts, lastError, answer } = row
	return {
		...{ deliveryId: id, receiver, recipient, result, attempts },
		...{ toldAt: iso(row.createdAtMs), endedAt: iso(row.endedAtMs), nextAttemptAt: iso(row.nextAttemptAtMs ?? null) },
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

/** Groups deliveries by message, so that an alert is one entry whatever the number of its receivers. */
export async function alerts(facts: PageFacts, params: URLSearchParams, room = { messages: 50, rows: 400 }) {
	const { rows, ...found } = await gather(facts, params, room)
	const groups = new Map<string, DeliveryRow[]>()
	for (const row of rows) {
		const group = groups.get(messageOf(row))
		if (group === undefined) groups.set(messageOf(row), [row])
		else group.push(row)
	}
	const listed = [...groups.values()].flatMap((group) =>
		group.slice(0, 1).map(({ message }) => ({
			id: message.data.id,
			type: message.type,
			says: facts.says(message),
			reason: 'reason' in message.data ? (message.data.reason ?? null) : null,
			toldAt: iso(Math.min(...group.map(({ createdAtMs }) => createdAtMs))),
			alerts: [alertOf(message) ?? []].flat(),
			deliveries: group.map(publicOf),
		})),
	)
	return { alerts: listed, ...found }
}

/** A message in a list of alerts; `alerts`: the alert, none in a message about the system. */
export type AlertRow = Awaited<ReturnType<typeof alerts>>['alerts'][number]

/** The events that the state still keeps, in the order of the networks, each with its first alert. */
export function announced({ networks, state }: PageFacts) {
	return networks
		.flatMap(({ name }) => [...(state(name)?.announcements.values() ?? [])])
		.flatMap(({ status, block, alerts: [first] }) => (first === undefined ? [] : [{ ...first, status, block }]))
}
