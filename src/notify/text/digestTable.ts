/** The alerts of a digest as one table, as text and as HTML, with the same content. */

import { escapeHtml } from '../../base/text/escapeHtml.js'
import type { Fact } from '../../kinds/fact.js'
import { foldedLines, foldedList } from './factLines.js'

export interface Row {
	/** Starts at 1. */
	readonly number: number
	/** `2026-11-20 18:04:11` (UTC). */
	readonly time: string
	/** Signed from the watch's point of view; `—` without an amount. */
	readonly amount: string
	readonly says: string
	readonly isAlarming: boolean
	/** Empty where a digest is too large to show them. */
	readonly facts: readonly Fact[]
	/** Of its transaction. Absent: no explorer, or the facts show it. */
	readonly link?: string
}

const heads = ['#', 'Time (UTC)', 'Amount'] as const
/** A longer amount shifts only its own line. */
const widestAmount = 28

export function rowsAsText(rows: readonly Row[]): string {
	const numbers = String(rows.length).length + 1
	const amounts = Math.min(widestAmount, Math.max(heads[2].length, ...rows.map(({ amount }) => amount.length)))
	const line = ([number, time, amount, says]: readonly [string, string, string, string]) =>
		`${number.padStart(numbers)}  ${time.padEnd(19)}  ${amount.padStart(amounts)}  ${says}`
	const indent = ' '.repeat(numbers + 2)
	return [
		line([...heads, '']).trimEnd(),
		...rows.flatMap(({ number, time, amount, says, isAlarming, facts, link }) => [
			'',
			line([`${isAlarming ? '!' : ''}${number}`, time, amount, says]),
			...[...(link === undefined ? [] : [link]), ...foldedLines(facts)].map((text) =>
				text === '' ? '' : `${indent}${text}`,
			),
		]),
	].join('\n')
}

/**
 * Number, time and amount in one row; the sentence and its facts below, each in full width and without a head, because
 * a column would be too narrow on a phone.
 */
export function rowsAsHtml(rows: readonly Row[]): string {
	const side = (isAlarming: boolean) => (isAlarming ? ' style="border-left:6px solid #d32f2f"' : '')
	const [number, time, amount] = heads
	const head = (name: string, rest: string) => `<th scope="col" align="left" ${rest}>${name}</th>`
	return [
		'<table cellspacing="0" cellpadding="5" width="100%" ' +
			'style="table-layout:fixed;border-collapse:collapse;overflow-wrap:anywhere">',
		`<thead><tr>${head(number, 'width="30"')}${head(time, 'width="110"')}${head(amount, '')}</tr></thead><tbody>`,
		...rows.flatMap(({ number, time, amount, says, isAlarming, facts, link }) => [
			`<tr valign="top" style="border-top:1px solid #808080"><td${side(isAlarming)}>${number}</td>`,
			`<td>${escapeHtml(time).replace(' ', '<br>')}</td><td><strong>${escapeHtml(amount)}</strong></td></tr>`,
			`<tr><td colspan="3"${side(isAlarming)}><strong>${linked(escapeHtml(says), link)}</strong></td></tr>`,
			...(facts.length === 0 ? [] : [`<tr><td colspan="3"${side(isAlarming)}>`, foldedList(facts, 13), '</td></tr>']),
		]),
		'</tbody></table>',
	].join('\n')
}

function linked(words: string, link: string | undefined): string {
	return link === undefined ? words : `<a style="color:inherit" href="${escapeHtml(link)}">${words}</a>`
}

/** What a mail holds of a digest: fewer facts, and in the end fewer alerts, the larger the digest is. */
export interface Cut {
	readonly rows: readonly Row[]
	/** What is not shown, and where it is; null: everything is shown. */
	readonly note: string | null
}

/** The ways to show a digest, the largest first. Alarms are shown before all others. */
export function* cutsOf(rows: readonly Row[]): Generator<Cut, Cut> {
	yield { rows, note: null }
	const short = rows.map(({ facts, ...row }): Row => {
		const link = facts.find((one) => one.name === 'Transaction')?.link
		return { ...row, facts: [], ...(link !== undefined && { link }) }
	})
	yield { rows: short, note: `Addresses and ids are not shown: ${whereElse}` }
	for (let most = Math.floor(rows.length * 0.9); most > 0; most = Math.floor(most * 0.9)) {
		const first = new Set([...short.filter(({ isAlarming }) => isAlarming), ...short].slice(0, most))
		const left = rows.length - most
		const note = `${left} of ${rows.length} alerts, and all addresses and ids, are not shown: ${whereElse}`
		yield { rows: short.filter((row) => first.has(row)), note }
	}
	return { rows: [], note: `None of ${rows.length} alerts is shown: ${whereElse}` }
}

const whereElse = 'this mail would be too long. "tracewatch deliveries --sent" lists them all.'
