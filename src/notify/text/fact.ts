/** One line of a message: a name and what it says. */

import { escapeHtml } from '../../base/escapeHtml.js'

export interface Fact {
	readonly name: string
	readonly value: string
	/** Where the value can be looked at. */
	readonly link?: string
}

export function fact(name: string, value: string, link?: string): Fact {
	return link === undefined ? { name, value } : { name, value, link }
}

/** `7`, or `7 to 9`. */
export function blocksOf({ fromBlock, toBlock }: { readonly fromBlock?: number; readonly toBlock?: number }): string {
	return fromBlock === toBlock ? `${toBlock}` : `${fromBlock} to ${toBlock}`
}

/** `2026-11-20 18:04:11 UTC` */
export function utcInWords(iso: string): string {
	return iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
}

/** Names beside values, and links below them. */
export function textLines(facts: readonly Fact[]): readonly string[] {
	const width = Math.max(...facts.map(({ name }) => name.length)) + 2
	return facts.flatMap(({ name, value, link }) => [
		`${`${name}:`.padEnd(width)}${value}`,
		...(link === undefined ? [] : [`${' '.repeat(width)}${link}`]),
	])
}

/** A row of an HTML table; addresses and hashes are broken where the screen ends, and copied whole all the same. */
export function tableRow({ name, value, link }: Fact, width: number): string {
	const shown = `<code style="overflow-wrap:anywhere">${escapeHtml(value)}</code>`
	const url = link === undefined ? null : escapeHtml(link)
	const style = 'color:inherit;overflow-wrap:anywhere'
	const linked = url === null ? shown : `${shown}<br><a style="${style}" href="${url}">${url}</a>`
	const head = `<th scope="row" align="left" valign="top" width="${width}">${escapeHtml(name)}:</th>`
	return `<tr>${head}<td valign="top">${linked}</td></tr>`
}
