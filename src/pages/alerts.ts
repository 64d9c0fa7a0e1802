/** The page of alerts. */

import { iso } from '../base/utc.js'
import { alertOf } from '../core/outbox/historyEntries.js'
import { allKinds } from '../kinds/all.js'
import type { DeliveryRow } from '../model/history.js'
import { alertTable } from './alertTable.js'
import { gather, messageOf } from './collectDeliveries.js'
import { listPage } from './listPage.js'
import type { Html } from './look/html.js'
import type { PageFacts } from './pageData.js'
import { publicOf } from './rows.js'

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
			toldAt: iso(Math.min(...group.map(({ toldAtMs }) => toldAtMs))),
			alerts: [alertOf(message) ?? []].flat(),
			deliveries: group.map(publicOf),
		})),
	)
	return { alerts: listed, ...found }
}

const others = ['removed', 'stalled', 'gap', 'undelivered', 'refused', 'recovered']

export function alertsBody(found: Awaited<ReturnType<typeof alerts>>, facts: PageFacts, params: URLSearchParams): Html {
	// Unsent ones come first in the history; on the page the newest is first, sent or not.
	const rows = found.alerts.toSorted((one, other) => other.toldAt.localeCompare(one.toldAt))
	return listPage({
		...{ path: '/alerts', params, found, label: 'Alerts, newest first', body: alertTable(rows, facts) },
		fields: [
			{ name: 'q', label: 'Label, tag, address or hash' },
			{ name: 'kind', label: 'Kind', among: [...allKinds, ...others] },
			{ name: 'address', label: 'Watched address' },
			{ name: 'network', label: 'Network', among: facts.networks.map(({ name }) => name) },
			{ name: 'receiver', label: 'Receiver', among: facts.receivers.map(({ name }) => name) },
		],
	})
}
