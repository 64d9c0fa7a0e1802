import {
	type Document,
	isAlias,
	isMap,
	isPair,
	isScalar,
	isSeq,
	LineCounter,
	type Node,
	type Tags,
	visit,
	type YAMLMap,
} from 'yaml'
import type { Problem } from '../errors.js'
import { mostProblems, shownKey } from './words.js'
import { composeBounded } from './yamlBounds.js'
import { yamlFault } from './yamlFault.js'
import { blankSlip } from './yamlSlips.js'

/** A YAML file as plain data: every scalar is its text, an empty one is null. */
export interface YamlFile {
	readonly value: unknown
	/** Where a value (or, with `at: 'key'`, its key) stands. Slow: for problems only. */
	locate(path: readonly PropertyKey[], at?: 'key' | 'value'): Place
}

/** Both start at 1. */
export interface Place {
	readonly line: number
	readonly column: number
}

/** Aliases that unfold into more than this are an attack or a mistake. */
const maxAliasCount = 1000

/**
 * Reads one YAML document. No scalar is read as a number, so an unquoted 0x address, `0.50`, `1e18` and `017` stay what
 * was written. Duplicate keys, unknown tags and second documents are problems; whatever the parser only warns of is one
 * too.
 */
export function parseYaml(text: string, file: string): YamlFile | { readonly problems: readonly Problem[] } {
	const lines = new LineCounter()
	const place = (offset: number): Place => {
		const { line, col } = lines.linePos(offset)
		return { line: Math.max(line, 1), column: Math.max(col, 1) }
	}
	const problemAt = (offset: number, message: string): Problem => ({ file, ...place(offset), message })

	const composed = composeBounded(text, lines, withNull)
	if ('message' in composed) return { problems: [problemAt(composed.offset, composed.message)] }
	const blank = blankSlip(text)
	if (blank !== null) return { problems: [problemAt(blank.offset, blank.message)] }
	const { document, second, errors } = composed
	if (errors.length === 0 && (document === null || document.contents === null)) {
		return { problems: [problemAt(0, 'the file is empty')] }
	}
	const faults = errors.map((error) => yamlFault(error, text, document))
	// One slip of the pen makes the parser stumble several times: what it says first is what is meant.
	const slips = faults.filter(({ isSlip }) => isSlip).slice(0, 1)
	const problems = [...slips, ...faults.filter(({ isSlip }) => !isSlip)].map(({ offset, message }) =>
		problemAt(offset, message),
	)
	if (second !== null) {
		problems.push(problemAt(second, 'a second document begins here; one file holds one: drop the line `---`'))
	}
	if (document !== null) problems.push(...twiceIn(document).map(({ offset, message }) => problemAt(offset, message)))
	if (problems.length > 0 || document === null) return { problems }
	try {
		const value: unknown = document.toJS({ maxAliasCount })
		return { value, locate: (path, at = 'value') => place(offsetOf(document, path, at)) }
	} catch (error) {
		if (!(error instanceof ReferenceError)) throw error
		return { problems: [problemAt(...aliasFault(document))] }
	}
}

/** Empty, `~` and `null` are null; that is the one word besides text which YAML and people agree on. */
const withNull = (tags: Tags): Tags => [
	...tags,
	{
		tag: 'tag:yaml.org,2002:null',
		default: true,
		test: /^(?:~|null)?$/,
		resolve: () => null,
		identify: (value: unknown) => value === null,
	},
]

const pairs = new WeakMap<YAMLMap, ReadonlyMap<string, YAMLMap['items'][number]>>()

/** The first pair of each key. Kept, for a file with many problems asks once for each. */
function pairsOf(map: YAMLMap): ReadonlyMap<string, YAMLMap['items'][number]> {
	const before = pairs.get(map)
	if (before !== undefined) return before
	const found = new Map<string, YAMLMap['items'][number]>()
	for (const pair of map.items) {
		if (!isPair(pair) || !isScalar(pair.key) || found.has(String(pair.key.value))) continue
		found.set(String(pair.key.value), pair)
	}
	pairs.set(map, found)
	return found
}

/** Keys that stand twice in one map; the parser's own way of finding them takes the square of their number. */
function twiceIn(document: Document): readonly { readonly offset: number; readonly message: string }[] {
	const found: { offset: number; message: string }[] = []
	visit(document, {
		Map(_, map) {
			const first = pairsOf(map)
			for (const pair of map.items) {
				if (found.length >= mostProblems) return visit.BREAK
				if (!isPair(pair) || !isScalar(pair.key)) continue
				const key = String(pair.key.value)
				if (first.get(key) === pair) continue
				const name = pair.key.value === null ? 'an empty key' : shownKey(key)
				found.push({ offset: start(pair.key) ?? 0, message: `${name} stands twice here` })
			}
			return undefined
		},
	})
	return found
}

function offsetOf(document: Document, path: readonly PropertyKey[], at: 'key' | 'value'): number {
	let node: unknown = document.contents
	let offset = start(node) ?? 0
	for (const [depth, step] of path.entries()) {
		if (isAlias(node)) node = node.resolve(document)
		let next: unknown
		if (isMap(node)) {
			const pair = pairsOf(node).get(String(step))
			if (pair === undefined) return offset
			const onKey = at === 'key' && depth === path.length - 1
			next = pair.value
			offset = (onKey ? start(pair.key) : (start(next) ?? start(pair.key))) ?? offset
		} else if (isSeq(node)) {
			next = node.items[Number(step)]
			offset = start(next) ?? offset
		} else return offset
		node = next
	}
	return offset
}

function start(node: unknown): number | undefined {
	return (node as Node | null | undefined)?.range?.[0]
}

/** Which alias cannot be followed, and why. */
function aliasFault(document: Document): [offset: number, message: string] {
	let fault: [number, string] = [0, 'the aliases (*name) of this file unfold into too much']
	visit(document, {
		Alias(_, alias) {
			if (alias.resolve(document) !== undefined) return
			const message = 'this repeats a part that nothing before it marks with &; a text that begins with * is quoted'
			fault = [start(alias) ?? 0, message]
			return visit.BREAK
		},
	})
	return fault
}
