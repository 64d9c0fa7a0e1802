/** An entry more in a list of a YAML file that a person wrote: every other character of it stays. */

import { isDeepStrictEqual } from 'node:util'
import { isSeq, parseDocument } from 'yaml'

/**
 * The text with the entry at the end of the list at `path`. `lines` are those of an entry of a list that is written
 * below its key, without indentation; of a list in brackets the first of them is put before the bracket. Null where it
 * cannot be done so that nothing else changes: no such list, aliases, brackets over what needs lines.
 */
export function withEntry(text: string, path: readonly (string | number)[], lines: readonly string[]): string | null {
	const document = parseDocument(text, { schema: 'failsafe', logLevel: 'silent' })
	if (document.errors.length > 0) return null
	const list = document.getIn(path, true)
	if (!isSeq(list) || list.range == null || list.items.length === 0) return null
	const [first = ''] = lines
	if (list.flow === true && lines.length !== 1) return null
	const after = list.flow === true ? inBrackets(text, list, first) : belowKey(text, list, lines)
	return after !== null && saysOneMore(document.toJS(), after, path) ? after : null
}

interface List {
	readonly range?: readonly [number, number, number] | null | undefined
	readonly items: readonly unknown[]
}

function endOf({ items }: List): number | null {
	const last = items.at(-1) as { range?: readonly [number, number, number] | null } | null | undefined
	return last?.range?.[1] ?? null
}

function inBrackets(text: string, list: List, entry: string): string | null {
	const end = endOf(list)
	return end === null ? null : `${text.slice(0, end)}, ${entry}${text.slice(end)}`
}

function belowKey(text: string, list: List, lines: readonly string[]): string | null {
	const [end, start] = [endOf(list), list.range?.[0]]
	if (end === null || start === undefined) return null
	const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start)
	if (!/^ *$/.test(indent)) return null
	const newline = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end)
	const block = lines.map((line, at) => `${indent}${at === 0 ? '- ' : '  '}${line}\n`).join('')
	if (newline === -1) return `${text}\n${block}`
	return `${text.slice(0, newline + 1)}${block}${text.slice(newline + 1)}`
}

/** Held against what it said before: one entry more at that place, and nothing else. */
function saysOneMore(before: unknown, after: string, path: readonly (string | number)[]): boolean {
	const document = parseDocument(after, { schema: 'failsafe', logLevel: 'silent' })
	if (document.errors.length > 0) return false
	// What stands under an alias is written out, so that a change there shows.
	const said = JSON.parse(JSON.stringify(document.toJS()))
	let list: unknown = said
	for (const key of path) list = (list as Record<string | number, unknown> | undefined)?.[key]
	if (!Array.isArray(list)) return false
	list.pop()
	return isDeepStrictEqual(said, JSON.parse(JSON.stringify(before)))
}
