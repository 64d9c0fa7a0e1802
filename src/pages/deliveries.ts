import { alertOf } from '../core/outbox/historyEntries.js'
import { watchLink, wholeAddress } from './addresses.js'
import { deliveryInWords, isMovement, itemOf, sentence, watchOf } from './alertTable.js'
import { gather } from './collectDeliveries.js'
import { listPage } from './listPage.js'
import { ago } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { type Column, mark, table, whole } from './look/layout.js'
import type { PageFacts } from './pageData.js'
import { gravityOf, publicOf } from './rows.js'

export async function deliveryPage(facts: PageFacts, params: URLSearchParams) {
	const { rows, ...found } = await gather(facts, params, { rows: 100 })
	const deliveries = rows.map((row) => {
		const { type, data } = row.message
		const says = facts.says(row.message)
		const alert = alertOf(row.message)
		const moved = alert !== null && !facts.isAlarming(says) && isMovement(type, alert) ? alert : null
		const movement = moved && { direction: moved.direction, value: moved.value ?? '', item: itemOf(moved) }
		return { ...publicOf(row), id: data.id, type, says, movement, watches: alert === null ? [] : [watchOf(alert)] }
	})
	return { deliveries, ...found }
}

type Found = Awaited<ReturnType<typeof deliveryPage>>
type Row = Found['deliveries'][number]

const results = ['pending', 'held', 'parked', 'dead', 'delivered', 'dropped', 'folded']

export function deliveriesBody(found: Found, facts: PageFacts, params: URLSearchParams): Html {
	return listPage({
		...{ path: '/deliveries', params, found, label: 'Deliveries, unsent ones first, then newest first' },
		fields: [
			{ name: 'status', label: 'State', among: results },
			{ name: 'receiver', label: 'Receiver', among: facts.receivers.map(({ name }) => name) },
			{ name: 'q', label: 'Label, tag, address, transaction' },
		],
		body: deliveryTable(found.deliveries, facts),
	})
}

/** One line each; its ids and what the receiver answered are folded below it. */
function deliveryTable(rows: readonly Row[], facts: PageFacts): Html {
	const nowMs = facts.clock()
	const columns: readonly Column<Row>[] = [
		['When', ({ toldAt }) => ago(toldAt, nowMs)],
		['Receiver', ({ receiver }) => whole(receiver)],
		['What', ({ says, watches: [watch] }) => sentence(says, watch, facts)],
		['State', ({ result }) => mark(result, gravityOf(result))],
		['Tries', ({ attempts }) => String(attempts), 'number'],
		['Next try', ({ nextAttemptAt }) => nextTry(nextAttemptAt, nowMs)],
	]
	const failure: Column<Row> = ['Last failure', failureOf]
	return table('Deliveries', rows, rows.some(failureOf) ? [...columns, failure] : columns, {
		more: (row) =>
			html`<p>${deliveryInWords(row)}</p><p>${row.watches.map(
				({ network, ...watch }) => html`${watchLink(network, watch)} ${wholeAddress(watch.address)} `,
			)}</p><p class="quiet">Delivery <code>${row.deliveryId}</code> of <code>${row.id}</code></p>`,
	})
}

/** One that is due waits for its turn only. */
function nextTry(at: string | null, nowMs: number): Html | string | null {
	if (at === null) return null
	return Date.parse(at) <= nowMs ? 'now' : ago(at, nowMs)
}

/** Why it has not arrived yet; null: it has, or nothing failed. */
function failureOf({ result, lastError }: Row): string | null {
	return gravityOf(result) === 'well' ? null : lastError
}
