import { bare, item, keyLine, list } from './plainLine.js'
import type { Place } from './yaml.js'

/** A line of the text: its number, from 1, and where it begins. */
export interface Line {
	readonly number: number
	readonly offset: number
}

interface Section extends Line {
	readonly entries: readonly Line[]
}

/**
 * Where the YAML parser would see the value of a path (or its key) in the plain form of a watchlist. An entry is found by
 * its first line, so that a place in a long list takes no longer than one in a short list.
 */
export function locate(
	text: string,
	sections: ReadonlyMap<string, Section>,
	path: readonly PropertyKey[],
	at: 'key' | 'value',
): Place {
	const [first] = sections.values()
	const [key, ...steps] = path
	const section = sections.get(String(key))
	if (section === undefined) return first === undefined ? { line: 1, column: 1 } : placesIn(text, first).key
	const own = placesIn(text, section)
	if (steps.length === 0 && at === 'key') return own.key
	if (section.entries.length === 0) return own.items[Number(steps[0])] ?? own.value
	const start = section.entries[Number(steps[0])]
	if (start === undefined) {
		const [top] = section.entries
		return top === undefined ? own.key : { line: top.number, column: 1 + indentOf(text, top) }
	}
	let [line, found] = [start, placesIn(text, start)]
	const entry = found.key
	if (steps.length === 1) return entry
	while (found.name !== steps[1]) {
		const next = lineAfter(text, line)
		if (next === null || /^ *- /.test(lineAt(text, next)) || /^[^ #]/.test(lineAt(text, next))) return entry
		;[line, found] = [next, placesIn(text, next)]
	}
	if (steps.length === 2 && at === 'key') return found.key
	return found.items[Number(steps[2])] ?? found.value
}

interface Places {
	readonly name: string
	readonly key: Place
	readonly value: Place
	/** Of the items when the value is a list. */
	readonly items: readonly Place[]
}

/** What stands in a line with a key. */
function placesIn(text: string, line: Line): Places {
	const [, spaces = '', dash = '', name = '', rest = ''] = keyLine.exec(lineAt(text, line)) ?? []
	const place = (column: number): Place => ({ line: line.number, column })
	const keyColumn = spaces.length + dash.length + 1
	const restColumn = keyColumn + name.length + 1
	const gap = /^ */.exec(rest)?.[0].length ?? 0
	const items = list.exec(rest)?.[1] ?? ''
	return {
		name,
		key: place(keyColumn),
		value: place(bare.test(rest) ? keyColumn : restColumn + gap),
		items: [...items.matchAll(item)].map(({ index }) => place(restColumn + gap + 1 + index)),
	}
}

function lineAt(text: string, { offset }: Line): string {
	const end = text.indexOf('\n', offset)
	return text.slice(offset, end === -1 ? text.length : end)
}

function lineAfter(text: string, { number, offset }: Line): Line | null {
	const end = text.indexOf('\n', offset)
	return end === -1 ? null : { number: number + 1, offset: end + 1 }
}

function indentOf(text: string, line: Line): number {
	return /^ */.exec(lineAt(text, line))?.[0].length ?? 0
}
