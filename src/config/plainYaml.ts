/**
 * A reader for the plain form of a watchlist, line by line, as lists of many thousand watches are written: keys with values
 * at the left edge, and under the last of them a list of entries with keys and values. Whatever is not certainly that is
 * left to the YAML parser, which takes thirty times as long; what is read here is read the same (a test compares them).
 */

type Value = string | readonly string[]
type Entry = Record<string, Value>

/** The file's data with every scalar as text, or null: the YAML parser must look at it. */
export function readPlainYaml(text: string): Record<string, Value | readonly Entry[]> | null {
	const data: Record<string, Value | Entry[]> = {}
	let entries: Entry[] | null = null
	let entry: Entry | null = null
	/** How far the dashes and the keys under them are indented; -1: no entry yet. */
	let [dashes, keys] = [-1, -1]
	for (const line of text.split('\n')) {
		if (blank.test(line)) continue
		const [, spaces = '', dash = '', key, rest] = keyLine.exec(line) ?? []
		if (key === undefined || rest === undefined) return null
		let target: Record<string, unknown>
		if (dash !== '') {
			if (entries === null || (dashes >= 0 && dashes !== spaces.length)) return null
			;[dashes, keys] = [spaces.length, spaces.length + dash.length]
			entry = {}
			entries.push(entry)
			target = entry
		} else if (entry !== null && spaces.length === keys) target = entry
		else if (spaces === '' && entries === null) target = data
		else return null
		if (Object.hasOwn(target, key)) return null
		if (bare.test(rest)) {
			if (target !== data) return null
			entries = []
			data[key] = entries
			continue
		}
		const value = readValue(rest)
		if (value === null) return null
		target[key] = value
	}
	return entries === null || entries.length === 0 ? null : data
}

const blank = /^ *(?:#[\x20-\x7e]*)?$/
const keyLine = /^( *)(- +)?([a-z][a-z_]*):( .*|)$/
const bare = /^ *(?: #[\x20-\x7e]*)?$/
/** Begins with a letter or digit and holds nothing that YAML could read as anything but text. */
const word = '[A-Za-z0-9](?:[A-Za-z0-9_./()+ -]*[A-Za-z0-9_./()+-])?'
const quotes = `"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"|'[\\x20-\\x26\\x28-\\x7e]*'`
const item = new RegExp(`${quotes}|${word}`, 'g')
const single = new RegExp(`^ +(${quotes}|${word}) *(?: #[\\x20-\\x7e]*)?$`)
const list = new RegExp(
	`^ +\\[( *(?:(?:${quotes}|${word}) *(?:, *(?:${quotes}|${word}) *)*)?)\\] *(?: #[\\x20-\\x7e]*)?$`,
)

function readValue(rest: string): Value | null {
	const text = single.exec(rest)?.[1]
	if (text !== undefined) return unquoted(text)
	const items = list.exec(rest)?.[1]
	if (items === undefined) return null
	const values: string[] = []
	for (const [text] of items.matchAll(item)) {
		const value = unquoted(text)
		if (value === null) return null
		values.push(value)
	}
	return values
}

/** Null for what YAML reads as no value. */
function unquoted(text: string): string | null {
	if (text.startsWith('"') || text.startsWith("'")) return text.slice(1, -1)
	return text === 'null' ? null : text
}
