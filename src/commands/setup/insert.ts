/** Inserts an entry into a list of a YAML file that a person wrote, without changing any other character. */

import { isDeepStrictEqual } from 'node:util'
import { isMap, isSeq, parseDocument } from 'yaml'

/**
 * Returns the text with the entry at the end of the list at `path`. `lines` are the lines of an entry of a block list,
 * without indentation; into a list in brackets, a single line is inserted before the closing bracket. Null when this is
 * impossible without other changes: there is no such list, it contains aliases, or it is in brackets and the entry has
 * several lines.
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

/** Whether the new text differs from the old data in exactly one more entry at `path`. */
function saysOneMore(before: unknown, after: string, path: readonly (string | number)[]): boolean {
	const document = parseDocument(after, { schema: 'failsafe', logLevel: 'silent' })
	if (document.errors.length > 0) return false
	// Aliases are expanded, so that a change under one of them shows.
	const said = JSON.parse(JSON.stringify(document.toJS()))
	let list: unknown = said
	for (const key of path) list = (list as Record<string | number, unknown> | undefined)?.[key]
	if (!Array.isArray(list)) return false
	list.pop()
	return isDeepStrictEqual(said, JSON.parse(JSON.stringify(before)))
}

/**
 * Returns the text with one more key at the end of the map at `path`. Null when that is impossible without other
 * changes: there is no such map in block form, or it contains the key.
 */
export function withKey(text: string, path: readonly (string | number)[], key: string, value: string): string | null {
	const document = parseDocument(text, { schema: 'failsafe', logLevel: 'silent' })
	const map = document.getIn(path, true)
	if (document.errors.length > 0 || !isMap(map) || map.flow === true || map.has(key) || map.range == null) return null
	const start = map.range[0]
	const column = start - (text.lastIndexOf('\n', start - 1) + 1)
	// Just below the first key, whose value is one line where it is a scalar.
	const newline = text.indexOf('\n', start)
	if (newline === -1) return null
	const after = `${text.slice(0, newline + 1)}${' '.repeat(column)}${key}: ${value}\n${text.slice(newline + 1)}`
	const changed = parseDocument(after, { schema: 'failsafe', logLevel: 'silent' })
	if (changed.errors.length > 0) return null
	document.setIn([...path, key], value)
	const same = isDeepStrictEqual(
		JSON.parse(JSON.stringify(changed.toJS())),
		JSON.parse(JSON.stringify(document.toJS())),
	)
	return same ? after : null
}
