/** The pages of messages: by alert, and by delivery. */

import { alertsOf } from '../core/history.js'
import type { AlertData, Message } from '../model/alert.js'
import type { DeliveryRow, HistoryHole } from '../model/history.js'
import type { TokenData } from '../model/token.js'
import type { PageFacts } from './facts.js'
import { type Gathered, gather, queryOf } from './gather.js'
import { type Html, html } from './html.js'
import { filters, mark, pager, said, table, time, whole } from './layout.js'

const alertsAPage = 50
const deliveriesAPage = 100
/** One alert may go to many. */
const rowsAPage = 400

const waits: ReadonlySet<string> = new Set(['pending', 'held'])

function publicOf(row: DeliveryRow) {
	const { id, receiver, recipient, result, attempts, lastError, answer } = row
	return {
		...{ deliveryId: id, receiver, recipient, result, attempts },
		...{ toldAt: iso(row.toldAtMs), endedAt: iso(row.endedAtMs), nextAttemptAt: iso(row.nextAttemptAtMs) },
		...{ lastError, answer },
	}
}

type PublicDelivery = ReturnType<typeof publicOf>

function holesOf(rows: Gathered['rows']) {
	const holes = rows.filter((row): row is HistoryHole => 'hole' in row)
	return holes.map(({ hole, endedAtMs }) => ({ rows: hole.rows, from: iso(hole.fromMs), to: iso(endedAtMs) }))
}

/** By the message, not by the delivery: an alert is one line, whoever was sent it. */
export async function alerts(facts: PageFacts, params: URLSearchParams) {
	const keyOf = ({ message }: DeliveryRow) => `${message.data.id} ${message.type}`
	const seen = new Set<string>()
	let rowsSeen = 0
	const fits = (row: Gathered['rows'][number]) => {
		const key = 'hole' in row ? null : keyOf(row)
		if (rowsSeen === rowsAPage || (key !== null && !seen.has(key) && seen.size === alertsAPage)) return false
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
	return {
		alerts: [...groups.values()].map(({ message, rows }) => ({
			id: message.data.id,
			type: message.type,
			says: facts.says(message),
			reason: reasonOf(message),
			toldAt: iso(Math.min(...rows.map(({ toldAtMs }) => toldAtMs))),
			alerts: alertsOf(message),
			deliveries: rows.map(publicOf),
		})),
		holes: holesOf(found.rows),
		next: found.next,
		cut: found.isCut,
	}
}

export function alertsBody(found: Awaited<ReturnType<typeof alerts>>, facts: PageFacts, params: URLSearchParams): Html {
	return html`${filters('/alerts', params, [
		{ name: 'q', label: 'Label, tag, address, transaction' },
		{ name: 'address', label: 'Watched address' },
		{ name: 'network', label: 'Network', among: facts.networks.map(({ name }) => name) },
		{ name: 'kind', label: 'Kind, such as token' },
		{ name: 'receiver', label: 'Receiver', among: facts.receivers.map(({ name }) => name) },
	])}
<section id="list" data-live aria-label="Alerts, newest first">
${holesIn(found.holes)}
${found.alerts.length === 0 ? noneBody(found.cut) : null}
<ol class="alerts">${found.alerts.map(
		({ says, toldAt, id, reason, alerts: inside, deliveries }) => html`<li><article>
<h2>${said(says, facts.isAlarming(says))}</h2>
<p>${time(Date.parse(toldAt))}</p>
${reason === null ? null : html`<p>${reason}</p>`}
<ul class="sent">${deliveries.map((one) => html`<li>${deliveryInWords(one)}</li>`)}</ul>
<details><summary>Details</summary>${inside.slice(0, 50).map(alertFacts)}
${inside.length > 50 ? html`<p>and ${inside.length - 50} more, in the JSON of this page</p>` : null}
<dl><dt>Id</dt><dd><code>${id}</code></dd></dl></details>
</article></li>`,
	)}</ol>
${pager('/alerts', params, found.next, found.cut ? 'Look further back' : 'Older')}</section>`
}

/** What a word of the system says besides its headline: what stands still, and why. */
function reasonOf({ data }: Message): string | null {
	return 'reason' in data && typeof data.reason === 'string' ? data.reason : null
}

function noneBody(isCut: boolean): Html {
	return html`<p class="none">${isCut ? 'Nothing yet: older ones were not looked at' : 'No alert'}.</p>`
}

/** Whatever its kind: the fields that it has. Addresses and amounts whole, to be copied. */
function alertFacts(data: AlertData): Html {
	const { from, to, value, asset, valueWei, token, lookalike, watch, links, txHash, blockNumber, blockTimestamp } = data
	const shown: readonly (readonly [string, Html | string | null])[] = [
		[
			'Watch',
			html`${watch.label ?? ''} <code>${watch.address}</code> (${[watch.watchlist, ...watch.tags].join(', ')})`,
		],
		['Kind', `${data.kind}${data.direction === undefined ? '' : `, ${data.direction}`}`],
		['From', from == null ? null : html`<code>${from}</code>`],
		['To', to == null ? null : html`<code>${to}</code>`],
		['Imitates', lookalike === undefined ? null : html`${lookalike.label ?? ''} <code>${lookalike.of}</code>`],
		[
			'Called like',
			token?.imitates === undefined ? null : `${token.imitates.symbol}, ${token.imitates.address ?? 'the coin'}`,
		],
		[
			'Amount',
			value == null ? null : html`<code>${value}</code> ${token?.known === false ? 'of an unknown token' : asset}`,
		],
		['Raw amount', token === undefined ? null : html`<code>${token.amountRaw}</code>`],
		['Token', token === undefined ? null : tokenInWords(token)],
		['In wei', valueWei === undefined ? null : html`<code>${valueWei}</code>`],
		['Transaction', txHash === undefined ? null : html`<code>${txHash}</code>${link(links?.tx)}`],
		['Block', html`${blockNumber}, ${time(Date.parse(blockTimestamp))}${link(links?.block)}`],
		['Late', data.late ? (data.lateReason ?? 'yes') : null],
	]
	return html`<dl>${shown.flatMap(([name, value]) =>
		value === null ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`],
	)}</dl>`
}

function tokenInWords({ symbol, address, standard, known, tokenId }: TokenData): Html {
	const standing = known ? standard : `${standard}, UNKNOWN: nobody vouches for it`
	return html`${symbol ?? ''}${tokenId === null ? '' : ` #${tokenId}`} <code>${address}</code> (${standing})`
}

function link(url: string | undefined): Html | null {
	if (url === undefined || !/^https?:\/\//.test(url)) return null
	return html` <a href="${url}" rel="noopener noreferrer">look it up</a>`
}

function deliveryInWords(one: PublicDelivery): Html {
	const to = one.recipient === null ? one.receiver : `${one.receiver} (${one.recipient})`
	const kind = one.result === 'delivered' ? 'well' : waits.has(one.result) ? 'waits' : 'ill'
	const ended = one.endedAt === null ? null : html` ${time(Date.parse(one.endedAt))}`
	const many = `, ${one.attempts} ${one.attempts === 1 ? 'attempt' : 'attempts'}`
	const tries = one.attempts > 1 || one.result !== 'delivered' ? many : ''
	return html`${mark(one.result, kind)} ${to}${tries}${ended}${
		one.nextAttemptAt === null ? null : html`, next ${time(Date.parse(one.nextAttemptAt))}`
	}${one.lastError === null ? null : html`; last failure: ${one.lastError}`}${
		one.answer === null ? null : html`; ${one.answer}`
	}`
}

export async function deliveryPage(facts: PageFacts, params: URLSearchParams) {
	const status = params.get('status') ?? ''
	let rowsSeen = 0
	const found = await gather(facts, {
		query: queryOf(params),
		below: params.get('before'),
		status: status === '' ? undefined : status,
		fits: () => rowsSeen++ < deliveriesAPage,
	})
	return {
		deliveries: found.rows.flatMap((row) =>
			'hole' in row
				? []
				: [{ ...publicOf(row), id: row.message.data.id, type: row.message.type, says: facts.says(row.message) }],
		),
		holes: holesOf(found.rows),
		next: found.next,
		cut: found.isCut,
	}
}

const results = ['pending', 'held', 'parked', 'dead', 'delivered', 'dropped', 'split']

export function deliveriesBody(
	found: Awaited<ReturnType<typeof deliveryPage>>,
	facts: PageFacts,
	params: URLSearchParams,
): Html {
	return html`${filters('/deliveries', params, [
		{ name: 'status', label: 'Result', among: results },
		{ name: 'receiver', label: 'Receiver', among: facts.receivers.map(({ name }) => name) },
		{ name: 'q', label: 'Label, tag, address, transaction' },
	])}
<section id="list" data-live aria-label="Deliveries, what waits first, then newest first">
${holesIn(found.holes)}
${table(
	'Deliveries',
	['Message', 'Receiver', 'Result', 'Attempts', 'Since', 'Ended or next', 'Last answer'],
	found.deliveries.map((one) => [
		html`${said(one.says, facts.isAlarming(one.says))} <small><code>${one.deliveryId}</code></small>`,
		html`${whole(one.receiver)}${one.recipient === null ? null : html` <small>${whole(one.recipient, 32)}</small>`}`,
		mark(one.result, one.result === 'delivered' ? 'well' : waits.has(one.result) ? 'waits' : 'ill'),
		String(one.attempts),
		time(Date.parse(one.toldAt)),
		endedOrNext(one),
		one.answer ?? one.lastError ?? '',
	]),
)}
${pager('/deliveries', params, found.next, found.cut ? 'Look further back' : 'Older')}</section>`
}

function endedOrNext({ endedAt, nextAttemptAt }: PublicDelivery): Html | string {
	if (endedAt !== null) return time(Date.parse(endedAt))
	return nextAttemptAt === null ? '' : html`next ${time(Date.parse(nextAttemptAt))}`
}

function holesIn(holes: ReturnType<typeof holesOf>): readonly Html[] {
	return holes.map(
		({ rows, from, to }) => html`<p class="hole">${mark('hole', 'ill')} ${rows} rows of the history could not be kept,
from ${time(Date.parse(from))} to ${time(Date.parse(to))}. Everything was told all the same.</p>`,
	)
}

function iso(ms: number): string
function iso(ms: number | null): string | null
function iso(ms: number | null): string | null {
	return ms === null ? null : new Date(ms).toISOString()
}
