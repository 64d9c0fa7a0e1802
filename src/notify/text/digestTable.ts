/** The alerts of a digest as one table, twice: as text and as HTML. Both say the same. */

import { escapeHtml } from '../../base/escapeHtml.js'
import { type Fact, tableRow, textLines } from './fact.js'

/** One alert of a digest. */
export interface Row {
	/** From 1 on. */
	readonly number: number
	/** `2026-11-20 18:04:11` (UTC). */
	readonly time: string
	/** With its sign as the watch sees it; `—` where nothing moves. */
	readonly amount: string
	readonly says: string
	/** Not to be overlooked. */
	readonly isAlarming: boolean
	readonly facts: readonly Fact[]
}

const heads = ['#', 'Time (UTC)', 'Amount', 'What happened'] as const
/** Longer amounts push the rest of their own line alone. */
const widestAmount = 28

export function rowsAsText(rows: readonly Row[]): string {
	const numbers = String(rows.length).length + 1
	const amounts = Math.min(widestAmount, Math.max(heads[2].length, ...rows.map(({ amount }) => amount.length)))
	const line = ([number, time, amount, says]: readonly [string, string, string, string]) =>
		`${number.padStart(numbers)}  ${time.padEnd(19)}  ${amount.padStart(amounts)}  ${says}`
	const indent = ' '.repeat(numbers + 2)
	return [
		line(heads),
		...rows.flatMap(({ number, time, amount, says, isAlarming, facts }) => [
			'',
			line([`${isAlarming ? '!' : ''}${number}`, time, amount, says]),
			...textLines(facts).map((text) => `${indent}${text}`),
		]),
	].join('\n')
}

/**
 * Number, time and amount in a line, what happened below it and then its particulars, each as wide as the screen: in a
 * column the words would have a few letters' room on a phone.
 */
export function rowsAsHtml(rows: readonly Row[]): string {
	const side = (isAlarming: boolean) => (isAlarming ? ';border-left:6px solid #d32f2f' : '')
	const cell = 'padding:8px 8px 0 0;overflow-wrap:anywhere;border-top:1px solid #808080'
	const [number, time, amount, says] = heads
	const head = (name: string, rest: string) => `<th scope="col" align="left" ${rest}>${name}</th>`
	return [
		'<table cellspacing="0" width="100%" style="table-layout:fixed;border-collapse:collapse">',
		`<thead><tr>${head(number, 'width="30"')}${head(time, 'width="110"')}${head(amount, '')}</tr>`,
		`<tr>${head(says, 'colspan="3" style="padding:0 0 6px 0"')}</tr></thead><tbody>`,
		...rows.flatMap(({ number, time, amount, says, isAlarming, facts }) => [
			`<tr><td valign="top" style="${cell};padding-left:4px${side(isAlarming)}">${number}</td>`,
			`<td valign="top" style="${cell}">${escapeHtml(time).replace(' ', '<br>')}</td>`,
			`<td valign="top" style="${cell}"><strong>${escapeHtml(amount)}</strong></td></tr>`,
			`<tr><td colspan="3" style="padding:4px 0 4px 4px;overflow-wrap:anywhere${side(isAlarming)}">`,
			`<strong>${escapeHtml(says)}</strong></td></tr>`,
			`<tr><td colspan="3" style="padding:0 0 10px 12px;font-size:13px${side(isAlarming)}">`,
			'<table cellpadding="1" width="100%" style="table-layout:fixed">',
			...facts.map((one) => tableRow(one, 92)),
			'</table></td></tr>',
		]),
		'</tbody></table>',
	].join('\n')
}
