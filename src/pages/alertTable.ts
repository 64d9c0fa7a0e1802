/** Messages as a table with one line each; the overview and the pages of alerts and of a watch share it. */

import { counted } from '../base/text/counted.js'
import { recordOf } from '../kinds/all.js'
import type { AlertData, Message } from '../model/alert.js'
import { explorerLink, isAddress, party, watchLink, wholeAddress } from './addresses.js'
import { ago, time } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { type Column, factList, mark, table } from './look/layout.js'
import type { PageFacts } from './pageData.js'
import { type AlertRow, gravityOf, type PublicDelivery } from './rows.js'

/** Marks of deliveries in a line; more are counted. */
const MOST_MARKS = 3

/** `isShort`: without deliveries and details. */
export function alertTable(rows: readonly AlertRow[], facts: PageFacts, { isShort = false } = {}): Html {
	const nowMs = facts.clock()
	const columns: readonly Column<AlertRow>[] = [
		['When', ({ toldAt }) => ago(toldAt, nowMs)],
		['What', ({ says, alerts }) => sentence(says, alerts.map(watchOf)[0], facts)],
		['Kind', ({ type }) => html`<span class="quiet">${type.replace('alert.', '')}</span>`],
	]
	const isAlarm = ({ says }: AlertRow) => facts.isAlarming(says)
	if (isShort) return table('Alerts', rows, columns, { isAlarm })
	const sent: Column<AlertRow> = ['Sent', ({ deliveries }) => marksOf(deliveries)]
	return table('Alerts', rows, [...columns, sent], { isAlarm, more: (row) => detailsOf(row, facts) })
}

/** Whether a message reports an amount that moved between two parties. */
export function isMovement(type: Message['type'], data: AlertData): boolean {
	if (type === 'alert.removed' || type === 'test') return false
	return data.folded === undefined && data.more === undefined && hasParties(data) && data.value != null
}

/** What moved: the symbol, with the number of a token that is one of a kind. */
export function itemOf({ asset, token }: AlertData): string {
	const symbol = token === undefined || token.known ? (asset ?? '') : `unknown ${asset ?? 'token'}`
	return token?.tokenId == null ? symbol : `${symbol} #${token.tokenId.slice(0, 12)}`
}

interface NamedWatch {
	readonly network: string
	readonly address: string
	readonly label: string | null
}

export function watchOf({ network, watch: { address, label } }: AlertData): NamedWatch {
	return { network, address, label }
}

/** A sentence in which the label of its watch is a link; else a link comes after it, if it is about a watch. */
export function sentence(says: string, watch: NamedWatch | undefined, facts: PageFacts): Html {
	const kind = facts.isAlarming(says) ? html` class="alarm"` : null
	if (watch === undefined) return html`<span${kind}>${says}</span>`
	const label = watch.label ?? ''
	const at = label.trim() === '' ? -1 : says.indexOf(label)
	const link = watchLink(watch.network, watch)
	if (at < 0) return html`<span${kind}>${says}</span> ${link}`
	return html`<span${kind}>${says.slice(0, at)}${link}${says.slice(at + label.length)}</span>`
}

/** Whether the alert has a sender and a recipient: of others, `to` is the watch itself. */
function hasParties({ kind }: AlertData): boolean {
	return ['frames', 'calls', 'logs', 'header'].includes(recordOf(kind).seenIn)
}

const signs = { well: '✓', waits: '…', ill: '✗' } as const

function marksOf(deliveries: readonly PublicDelivery[]): Html {
	const gravest = { ill: 0, waits: 1, well: 2 }
	const sorted = deliveries.toSorted((one, other) => gravest[gravityOf(one.result)] - gravest[gravityOf(other.result)])
	const rest = sorted.length - MOST_MARKS
	return html`${sorted.slice(0, MOST_MARKS).map(({ receiver, result }) => {
		const kind = gravityOf(result)
		return html`<span class="mark ${kind}" title="${result}"><span aria-hidden="true">${signs[kind]}</span><span
class="hidden">${result} </span> ${receiver}</span> `
	})}${rest > 0 ? html`<span class="quiet">+${rest}</span>` : null}`
}

function detailsOf({ says, reason, alerts: [data], deliveries, id }: AlertRow, facts: PageFacts): Html {
	return html`<p><b>${says}</b></p>${reason === null ? null : html`<p>${reason}</p>`}
${data === undefined ? null : alertFacts(data, facts)}
<ul class="sent">${deliveries.map((one) => html`<li>${deliveryInWords(one)}</li>`)}</ul>
<p class="quiet">Id <code>${id}</code></p>`
}

/** The facts that a mail has too; a link follows where a value has one. */
function alertFacts(data: AlertData, facts: PageFacts): Html {
	const { network, watch, links, blockNumber, blockTimestamp, late, lateReason = 'yes' } = data
	const lists = [watch.watchlist, ...watch.tags].join(', ')
	return factList([
		['Watch', html`${watchLink(network, watch)} ${wholeAddress(watch.address)} (${lists})`],
		...recordOf(data.kind)
			.facts(data)
			.map(({ name, value, link }): [string, Html] => [
				name,
				html`${isAddress(value) ? party(facts, network, value) : value}${explorerLink(link)}`,
			]),
		['Block', html`${blockNumber}, ${time(blockTimestamp)}${explorerLink(links?.block)}`],
		['Late', late ? lateReason : null],
	])
}

export function deliveryInWords(one: PublicDelivery): Html {
	const { recipient, endedAt, nextAttemptAt, lastError, answer } = one
	return html`${mark(one.result, gravityOf(one.result))} ${one.receiver}${recipient && ` (${recipient})`}, ${counted(
		one.attempts,
		'attempt',
	)}${endedAt && html` ${time(endedAt)}`}${nextAttemptAt && html`, next ${time(nextAttemptAt)}`}${
		lastError && `; last failure: ${lastError}`
	}${answer && `; ${answer}`}`
}
