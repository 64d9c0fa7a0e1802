/** Alerts as a table with one line each; the overview, the page of alerts and the page of a watch share it. */

import { recordOf } from '../kinds/all.js'
import type { AlertData } from '../model/alert.js'
import { counterparty, explorerLink, party, watchLink, wholeAddress } from './addresses.js'
import { ago, amount, time } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { type Column, heading, mark, whole } from './look/layout.js'
import type { PageFacts } from './pageData.js'
import { type AlertRow, gravityOf, type PublicDelivery } from './rows.js'

export interface AlertTableOptions {
	/** Without deliveries and details, for a first look. */
	readonly isShort?: true
	/** Without the column of the watch, on the watch's own page. */
	readonly isOfOneWatch?: true
}

/** Marks of deliveries in a line; more are counted. */
const mostMarks = 3
/** Alerts of a digest that are shown with all their facts. */
const mostInside = 50

export function alertTable(rows: readonly AlertRow[], facts: PageFacts, options: AlertTableOptions = {}): Html {
	const { isShort, isOfOneWatch } = options
	const hasNetworks = facts.networks.length > 1 && isOfOneWatch !== true
	const columns: readonly Column[] = [
		{ name: 'When' },
		{ name: 'Direction' },
		{ name: 'Amount', isNumber: true },
		{ name: 'Asset' },
		...(isOfOneWatch === true ? [] : [{ name: 'Watch' }]),
		{ name: 'Other side' },
		{ name: 'Kind' },
		...(hasNetworks ? [{ name: 'Network' }] : []),
		...(isShort === true ? [] : [{ name: 'Sent' }]),
	]
	// From the direction to the last column before the network.
	const wide = isOfOneWatch === true ? 5 : 6
	const nowMs = facts.clock()
	return html`<table class="alerts"><caption>Alerts</caption><thead><tr>${columns.map((column) =>
		heading(column),
	)}</tr></thead><tbody>${rows.map((row) => {
		const when = ago(Date.parse(row.toldAt), nowMs)
		const alarm = facts.isAlarming(row.says)
		const data = alarm ? null : movementIn(row)
		const network = row.alerts[0]?.network ?? /^\[([^\]]*)\]/.exec(row.says)?.[1] ?? ''
		const words = hasNetworks ? row.says.replace(`[${network}] `, '') : row.says
		return html`<tr${alarm ? html` class="loud"` : null}><th scope="row">${
			isShort === true ? when : html`<details><summary>${when}<span class="hidden">: details</span></summary></details>`
		}</th>${
			data === null
				? html`<td colspan="${wide}" class="sentence">${sentence(row, words, { alarm, isOfOneWatch })}</td>`
				: movement(data, facts, isOfOneWatch === true)
		}${hasNetworks ? html`<td class="network">${whole(network)}</td>` : null}${
			isShort === true ? null : html`<td class="sent">${marksOf(row.deliveries)}</td>`
		}</tr>${
			isShort === true
				? null
				: html`<tr class="more"><td colspan="${columns.length}">${detailsOf(row, facts)}</td></tr>`
		}`
	})}</tbody></table>`
}

/** The only alert of a row, if it moved an amount between two parties; null: the row is shown as a sentence. */
export function movementIn({ type, alerts }: Pick<AlertRow, 'type' | 'alerts'>): AlertData | null {
	const [data, ...rest] = alerts
	if (data === undefined || rest.length > 0 || type === 'alert.removed' || type === 'test') return null
	return data.folded === undefined && data.more === undefined && hasParties(data) && data.value != null ? data : null
}

function movement(data: AlertData, facts: PageFacts, isOfOneWatch: boolean): Html {
	const { direction, value, watch, network, from, to, contractAddress, counterpartyLabel } = data
	const other = direction === 'in' ? from : (contractAddress ?? to)
	const named = other === null ? 'new coins' : counterparty(facts, network, other, counterpartyLabel ?? null)
	const side = direction === 'self' ? 'itself' : named
	return html`<td class="direction ${direction}">${directions[direction]}</td><td
class="number">${amount(value ?? '')}</td><td
class="asset">${whole(itemOf(data))}</td>${
		isOfOneWatch ? null : html`<td class="watch">${watchLink(network, watch)}</td>`
	}<td
class="other">${side}</td><td
class="kind">${data.kind}${data.late ? html` <span class="quiet">late</span>` : null}</td>`
}

/** What moved: the symbol, with the number of a token that is one of a kind. */
export function itemOf({ asset, token }: AlertData): string {
	const symbol = token === undefined || token.known ? (asset ?? '') : `unknown ${asset ?? 'token'}`
	return token?.tokenId == null ? symbol : `${symbol} #${token.tokenId.slice(0, 12)}`
}

export const directions = { in: '↓ in', out: '↑ out', self: '⟲ self' } as const

interface SentenceOptions {
	readonly alarm: boolean
	readonly isOfOneWatch: boolean | undefined
}

/** The sentence, in which the label of the watch is a link; else the link comes after it. */
function sentence({ alerts }: AlertRow, words: string, { alarm, isOfOneWatch }: SentenceOptions): Html {
	const kind = alarm ? html` class="alarm"` : null
	const [first, ...rest] = alerts
	if (first === undefined || isOfOneWatch === true) return html`<span${kind}>${words}</span>`
	const { label } = first.watch
	const at = label === null || label.trim() === '' ? -1 : words.indexOf(label)
	const link = watchLink(first.network, first.watch)
	if (label === null || at < 0 || rest.length > 0) return html`<span${kind}>${words}</span> ${link}`
	return html`<span${kind}>${words.slice(0, at)}${link}${words.slice(at + label.length)}</span>`
}

/** Whether the alert has a sender and a recipient: of others, `to` is the watch itself. */
function hasParties({ kind }: AlertData): boolean {
	return ['frames', 'calls', 'logs', 'header'].includes(recordOf(kind).seenIn)
}

const signs = { well: '✓', waits: '…', ill: '✗' } as const

function marksOf(deliveries: readonly PublicDelivery[]): Html {
	const gravest = { ill: 0, waits: 1, well: 2 }
	const sorted = deliveries.toSorted((one, other) => gravest[gravityOf(one.result)] - gravest[gravityOf(other.result)])
	const rest = sorted.length - mostMarks
	return html`${sorted.slice(0, mostMarks).map(({ receiver, result }) => {
		const kind = gravityOf(result)
		return html`<span class="mark ${kind}" title="${result}"><span aria-hidden="true">${signs[kind]}</span><span
class="hidden">${result} </span> ${receiver}</span> `
	})}${rest > 0 ? html`<span class="quiet">+${rest}</span>` : null}`
}

function detailsOf({ says, reason, alerts: inside, deliveries, id }: AlertRow, facts: PageFacts): Html {
	return html`<p><b>${says}</b></p>${reason === null ? null : html`<p>${reason}</p>`}
${inside.slice(0, mostInside).map((data) => alertFacts(data, facts))}
${inside.length > mostInside ? html`<p>and ${inside.length - mostInside} more, in the JSON of this page</p>` : null}
<ul class="sent">${deliveries.map((one) => html`<li>${deliveryInWords(one)}</li>`)}</ul>
<p class="quiet">Id <code>${id}</code></p>`
}

/** Shows the fields that the alert has, whatever its kind. Addresses and amounts are shown in full, to be copied. */
function alertFacts(data: AlertData, facts: PageFacts): Html {
	const { from, to, value, asset, valueWei, token, lookalike, watch, links, txHash, blockNumber, blockTimestamp } = data
	const parties = hasParties(data)
	const side = (address: string, link: string | undefined) =>
		html`${party(facts, data.network, address)}${explorerLink(link)}`
	const lists = [watch.watchlist, ...watch.tags].join(', ')
	const shown: readonly (readonly [string, Html | string | null])[] = [
		['Watch', html`${watchLink(data.network, watch)} ${wholeAddress(watch.address)} (${lists})`],
		['Kind', `${data.kind}${data.direction === undefined ? '' : `, ${data.direction}`}`],
		['From', from == null || !parties ? null : side(from, links?.from)],
		['To', to == null || !parties ? null : side(to, links?.to)],
		['Imitates', lookalike === undefined ? null : html`${lookalike.label ?? ''} ${wholeAddress(lookalike.of)}`],
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
		['Transaction', txHash === undefined ? null : html`<code>${txHash}</code>${explorerLink(links?.tx)}`],
		['Block', html`${blockNumber}, ${time(Date.parse(blockTimestamp))}${explorerLink(links?.block)}`],
		['Late', data.late ? (data.lateReason ?? 'yes') : null],
	]
	return html`<dl>${shown.flatMap(([name, words]) =>
		words === null ? [] : [html`<dt>${name}</dt><dd>${words}</dd>`],
	)}</dl>`
}

function tokenInWords({ symbol, address, standard, known, tokenId }: NonNullable<AlertData['token']>): Html {
	const standing = known ? standard : `${standard}, UNKNOWN: not named in the settings`
	return html`${symbol ?? ''}${tokenId === null ? '' : ` #${tokenId}`} ${wholeAddress(address)} (${standing})`
}

export function deliveryInWords(one: PublicDelivery): Html {
	const to = one.recipient === null ? one.receiver : `${one.receiver} (${one.recipient})`
	const ended = one.endedAt === null ? null : html` ${time(Date.parse(one.endedAt))}`
	const many = `, ${one.attempts} ${one.attempts === 1 ? 'attempt' : 'attempts'}`
	const tries = one.attempts > 1 || one.result !== 'delivered' ? many : ''
	return html`${mark(one.result, gravityOf(one.result))} ${to}${tries}${ended}${
		one.nextAttemptAt === null ? null : html`, next ${time(Date.parse(one.nextAttemptAt))}`
	}${one.lastError === null ? null : html`; last failure: ${one.lastError}`}${
		one.answer === null ? null : html`; ${one.answer}`
	}`
}
