/** Facts as text lines and as an HTML list. */

import { escapeHtml } from '../../base/text/escapeHtml.js'
import type { Fact } from '../../kinds/fact.js'

/** `2026-11-20 18:04:11 UTC` */
export function utcInWords(iso: string): string {
	return iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
}

/** Facts that a reader rarely needs: they stand last, folded where the mail program can do that. */
const rare = new Set(['In wei', 'Raw amount', 'Depth', 'Block', 'Finality', 'Seen', 'Network', 'Alert id'])
const rareTitle = 'Ids and exact values'

/** Few rare facts stay with the others. */
function split(facts: readonly Fact[]): { readonly main: readonly Fact[]; readonly last: readonly Fact[] } {
	const last = facts.filter(({ name }) => rare.has(name))
	return last.length < 3 ? { main: facts, last: [] } : { main: facts.filter(({ name }) => !rare.has(name)), last }
}

/** The rare facts last, under a title. */
export function foldedLines(facts: readonly Fact[]): readonly string[] {
	const { main, last } = split(facts)
	return [...textLines(main), ...(last.length === 0 ? [] : ['', rareTitle, '', ...textLines(last)])]
}

/** Names, with values beside them and links below. */
function textLines(facts: readonly Fact[]): readonly string[] {
	const width = Math.max(...facts.map(({ name }) => name.length)) + 2
	return facts.flatMap(({ name, value, link }) => [
		`${`${name}:`.padEnd(width)}${value}`,
		...(link === undefined ? [] : [`${' '.repeat(width)}${link}`]),
	])
}

/**
 * A list in HTML: values stand beside their names where the screen is wide enough, else below. A link is the value
 * itself. Addresses fit a phone in one line.
 */
function factList(facts: readonly Fact[], fontSize: number): string {
	const name = 'display:inline-block;min-width:124px;opacity:.8'
	const value = 'display:inline-block;margin:0;max-width:100%;vertical-align:top;overflow-wrap:anywhere'
	return [
		`<dl style="margin:0;font-size:${fontSize}px">`,
		...facts.map(({ name: title, value: words, link }) => {
			const shown = `<code style="font-size:12px">${escapeHtml(words)}</code>`
			const linked = link === undefined ? shown : `<a style="color:inherit" href="${escapeHtml(link)}">${shown}</a>`
			return `<div><dt style="${name}">${escapeHtml(title)}:</dt> <dd style="${value}">${linked}</dd></div>`
		}),
		'</dl>',
	].join('\n')
}

/** The rare facts last, folded. */
export function foldedList(facts: readonly Fact[], fontSize: number): string {
	const { main, last } = split(facts)
	if (last.length === 0) return factList(main, fontSize)
	const summary = `<summary style="font-size:13px">${rareTitle}</summary>`
	const folded = `<details style="margin:${fontSize}px 0 0">${summary}\n${factList(last, 12)}\n</details>`
	return `${factList(main, fontSize)}\n${folded}`
}
