/** The page of alerts. */

import { csvText } from '../base/text/csvLine.js'
import { alertsOf } from '../core/outbox/historyEntries.js'
import { allKinds } from '../kinds/all.js'
import type { Message } from '../model/alert.js'
import type { DeliveryRow } from '../model/history.js'
import { alertTable } from './alertTable.js'
import { type Gathered, gather, queryOf } from './collectDeliveries.js'
import { type Html, html } from './look/html.js'
import { filters, pager } from './look/layout.js'
import type { PageFacts } from './pageData.js'
import { type AlertRow, holesIn, holesOf, iso, publicOf } from './rows.js'

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
		alerts: alertsOf(message),
		deliveries: rows.map(publicOf),
	}))
	return {
		alerts: inOrder(listed, params.get('sort') ?? ''),
		holes: holesOf(found.rows),
		next: found.next,
		cut: found.isCut,
	}
}

/** The reason in a message about the system, such as a stall. */
function reasonOf({ data }: Message): string | null {
	return 'reason' in data && typeof data.reason === 'string' ? data.reason : null
}

const others = ['removed', 'digest', 'stalled', 'gap', 'undelivered', 'refused', 'recovered']

export function alertsBody(found: Awaited<ReturnType<typeof alerts>>, facts: PageFacts, params: URLSearchParams): Html {
	const sorting = { path: '/alerts', params }
	const isSorted = (params.get('sort') ?? '') !== ''
	// Unsent ones come first in the history; on the page the newest is first, sent or not.
	const rows = isSorted ? found.alerts : inOrder(found.alerts, '-time')
	return html`${filters('/alerts', params, [
		{ name: 'q', label: 'Label, tag, address or hash' },
		{ name: 'kind', label: 'Kind', among: [...allKinds, ...others] },
		{ name: 'address', label: 'Watched address' },
		{ name: 'network', label: 'Network', among: facts.networks.map(({ name }) => name) },
		{ name: 'receiver', label: 'Receiver', among: facts.receivers.map(({ name }) => name) },
	])}
<section id="list" data-live aria-label="Alerts, newest first">
${holesIn(found.holes)}
${rows.length === 0 ? html`<p class="none">No alert.</p>` : alertTable(rows, facts, { sorting })}
${isSorted && found.next !== null ? html`<p class="quiet">Only the ${rows.length} alerts here are sorted.</p>` : null}
${pager('/alerts', params, found.next, found.cut ? 'Look further back' : 'Older')}</section>`
}

const csvColumns = [
	...['told_at', 'type', 'kind', 'direction', 'value', 'asset', 'network', 'address', 'label', 'from', 'to'],
	...['tx_hash', 'block_number', 'block_timestamp', 'says', 'sent', 'id'],
]

/** One line for each alert; one for a message about the system. */
export function alertsCsv(found: readonly AlertRow[]): string {
	const lines = found.flatMap(({ toldAt, type, says, id, alerts: inside, deliveries }) => {
		const sent = deliveries.map(({ receiver, result }) => `${receiver} ${result}`).join('; ')
		if (inside.length === 0)
			return [[toldAt, type, '', '', '', '', '', '', '', '', '', '', '', '', says, sent, id].map(String)]
		return inside.map((data) => [
			...[toldAt, type, data.kind, data.direction ?? '', data.value ?? '', data.asset ?? '', data.network],
			...[data.watch.address, data.watch.label ?? '', data.from ?? '', data.to ?? '', data.txHash ?? ''],
			...[String(data.blockNumber), data.blockTimestamp, says, sent, data.id],
		])
	})
	return csvText([csvColumns, ...lines])
}

type Order = (one: AlertRow, other: AlertRow) => number

const orders: Readonly<Record<string, Order>> = {
	time: (one, other) => one.toldAt.localeCompare(other.toldAt),
	amount: (one, other) => amountOf(one) - amountOf(other),
	...byWord('direction', ({ direction }) => direction),
	...byWord('asset', ({ asset }) => asset),
	...byWord('watch', ({ watch }) => watch.label ?? watch.address),
	...byWord('kind', ({ kind }) => kind),
	...byWord('network', ({ network }) => network),
}

function byWord(name: string, word: (data: AlertRow['alerts'][number]) => string | null | undefined) {
	const of = ({ alerts: [first], says }: AlertRow) => (first === undefined ? says : (word(first) ?? ''))
	return { [name]: (one: AlertRow, other: AlertRow) => of(one).localeCompare(of(other)) }
}

/** Alerts without an amount come before all others. */
function amountOf({ alerts: [first] }: AlertRow): number {
	return first?.value == null ? -1 : Number(first.value)
}

/** `sort` names an order, `-` before it turns it round; any other text leaves the rows as they are. */
function inOrder(rows: readonly AlertRow[], sort: string): readonly AlertRow[] {
	const name = sort.replace(/^-/, '')
	const order = Object.hasOwn(orders, name) ? orders[name] : undefined
	if (order === undefined) return rows
	return rows.toSorted((one, other) => (sort.startsWith('-') ? order(other, one) : order(one, other)))
}
