/**
 * A reader for the plain form of a watchlist, line by line, as lists of many thousand watches are written: keys with values
 * at the left edge, and under some of them a list of entries with keys and values. Whatever is not certainly that is
 * left to the YAML parser, which takes thirty times as long; what is read here is read the same (a test compares them).
 */

import type { Turns } from '../base/timeSlices.js'
import { bare, blank, keyLine, readValue, type Value } from './plainLine.js'
import { type Line, locate } from './plainPlaces.js'
import type { YamlFile } from './yaml.js'

type Entry = Record<string, Value>

/** A key at the left edge: its own line, and the first line of each of its entries. */
interface Section extends Line {
	readonly entries: Line[]
}

/** The file's data with every scalar as text, or null: the YAML parser must look at it. */
export async function readPlainYaml(text: string, turns: Turns): Promise<YamlFile | null> {
	const data: Record<string, Value | Entry[]> = {}
	const sections = new Map<string, Section>()
	let section: Section | null = null
	let entries: Entry[] | null = null
	let entry: Entry | null = null
	/** How far the dashes and the keys under them are indented; -1: no entry yet. */
	let [dashes, keys] = [-1, -1]
	for (let [offset, number, end] = [0, 1, 0]; offset <= text.length; offset = end + 1, number++) {
		if (turns.isOver()) await turns.next()
		end = text.indexOf('\n', offset)
		if (end === -1) end = text.length
		const line = text.slice(offset, end)
		if (blank.test(line)) continue
		const [, spaces = '', dash = '', key, rest] = keyLine.exec(line) ?? []
		if (key === undefined || rest === undefined) return null
		let target: Record<string, unknown>
		if (dash !== '') {
			if (section === null || entries === null || (dashes >= 0 && dashes !== spaces.length)) return null
			;[dashes, keys] = [spaces.length, spaces.length + dash.length]
			entry = {}
			entries.push(entry)
			section.entries.push({ number, offset })
			target = entry
		} else if (entry !== null && spaces.length === keys) target = entry
		else if (spaces === '') {
			if (entries?.length === 0) return null
			section = { number, offset, entries: [] }
			sections.set(key, section)
			;[entries, entry, dashes, keys] = [null, null, -1, -1]
			target = data
		} else return null
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
	if (entries?.length === 0 || ![...sections.values()].some((one) => one.entries.length > 0)) return null
	return { value: data, locate: (path, at = 'value') => locate(text, sections, path, at) }
}
