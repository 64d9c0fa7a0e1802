/** The alerts of a digest as one table, as text and as HTML, with the same content. */

import { escapeHtml } from '../../base/text/escapeHtml.js'
import type { Fact } from '../../kinds/fact.js'
import type { DigestedAlert } from '../../model/alert.js'
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
	readonly alert: DigestedAlert
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
		...rows.flatMap(({ number, time, amount, says, isAlarming, facts, alert }) => [
			'',
			line([`${isAlarming ? '!' : ''}${number}`, time, amount, says]),
			...(facts.length === 0 ? [alert.data.links?.tx ?? alert.data.txHash] : foldedLines(facts)).map((text) =>
				`${indent}${text}`.trimEnd(),
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
		...rows.flatMap(({ number, time, amount, says, isAlarming, facts, alert }) => [
			`<tr valign="top" style="border-top:1px solid #808080"><td${side(isAlarming)}>${number}</td>`,
			`<td>${escapeHtml(time).replace(' ', '<br>')}</td><td><strong>${escapeHtml(amount)}</strong></td></tr>`,
			`<tr><td colspan="3"${side(isAlarming)}><strong>${titleOf(says, facts, alert)}</strong></td></tr>`,
			...(facts.length === 0 ? [] : [`<tr><td colspan="3"${side(isAlarming)}>`, foldedList(facts, 13), '</td></tr>']),
		]),
		'</tbody></table>',
	].join('\n')
}

function titleOf(says: string, facts: readonly Fact[], { data }: DigestedAlert): string {
	const link = facts.length === 0 ? data.links?.tx : undefined
	return link === undefined
		? escapeHtml(says)
		: `<a style="color:inherit" href="${escapeHtml(link)}">${escapeHtml(says)}</a>`
}
