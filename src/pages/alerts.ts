/** The page of alerts. */

import { iso } from '../base/utc.js'
import { alertOf } from '../core/outbox/historyEntries.js'
import { allKinds } from '../kinds/all.js'
import type { Message } from '../model/alert.js'
import type { DeliveryRow } from '../model/history.js'
import { alertTable } from './alertTable.js'
import { type Gathered, gather, queryOf } from './collectDeliveries.js'
import { type Html, html } from './look/html.js'
import { filters, pager } from './look/layout.js'
import type { PageFacts } from './pageData.js'
import { holesIn, holesOf, publicOf } from './rows.js'

const alertsAPage = 50
/** An alert may have many deliveries. */
const rowsAPage = 400

export interface Limits {
	/** Alerts, and messages about the system. */
	readonly most: number
	/** Deliveries. */
	readonly rows: number
}

/** Groups deliveries by message, so that an alert is one entry whatever the number of its receivers. */
export async function alerts(
	facts: PageFacts,
	params: URLSearchParams,
	{ most, rows: mostRows }: Limits = { most: alertsAPage, rows: rowsAPage },
) {
	const keyOf = ({ message }: DeliveryRow) => `${message.data.id} ${message.type}`
	const seen = new Set<string>()
	let rowsSeen = 0
	const fits = (row: Gathered['rows'][number]) => {
		const key = 'hole' in row ? null : keyOf(row)
		if (rowsSeen === mostRows || (key !== null && !seen.has(key) && seen.size === most)) return false
		if (key !== null) seen.add(key)
		rowsSeen += 1
		return true
	}
	const found = await gather(facts, { query: queryOf(params), below: params.get('before'), fits })
	const groups = new Map<string, { readonly message: Message; readonly rows: DeliveryRow[] }>()
	for (const row of found.rows) {
		if ('hole' in row) continue
		const key = keyOf(row)
		const group = groups.get(key) ?? { message: row.message, rows: [] }
		groups.set(key, group)
		group.rows.push(row)
	}
	const listed = [...groups.values()].map(({ message, rows }) => ({
		id: message.data.id,
		type: message.type,
		says: facts.says(message),
		reason: reasonOf(message),
		toldAt: iso(Math.min(...rows.map(({ toldAtMs }) => toldAtMs))),
		alerts: [alertOf(message) ?? []].flat(),
		deliveries: rows.map(publicOf),
	}))
	return {
		alerts: listed,
		holes: holesOf(found.rows),
		next: found.next,
		cut: found.isCut,
	}
}

/** The reason in a message about the system, such as a stall. */
function reasonOf({ data }: Message): string | null {
	return 'reason' in data && typeof data.reason === 'string' ? data.reason : null
}

const others = ['removed', 'stalled', 'gap', 'undelivered', 'refused', 'recovered']

export function alertsBody(found: Awaited<ReturnType<typeof alerts>>, facts: PageFacts, params: URLSearchParams): Html {
	// Unsent ones come first in the history; on the page the newest is first, sent or not.
	const rows = found.alerts.toSorted((one, other) => other.toldAt.localeCompare(one.toldAt))
	return html`${filters('/alerts', params, [
		{ name: 'q', label: 'Label, tag, address or hash' },
		{ name: 'kind', label: 'Kind', among: [...allKinds, ...others] },
		{ name: 'address', label: 'Watched address' },
		{ name: 'network', label: 'Network', among: facts.networks.map(({ name }) => name) },
		{ name: 'receiver', label: 'Receiver', among: facts.receivers.map(({ name }) => name) },
	])}
<section id="list" aria-label="Alerts, newest first">
${holesIn(found.holes)}
${alertTable(rows, facts)}
${pager('/alerts', params, found.next, found.cut ? 'Look further back' : 'Older')}</section>`
}
