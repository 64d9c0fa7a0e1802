import {
	type Document,
	isAlias,
	isMap,
	isPair,
	isScalar,
	isSeq,
	LineCounter,
	type Node,
	parseDocument,
	type Tags,
	visit,
	type YAMLMap,
} from 'yaml'
import type { Problem } from '../../errors.js'
import { mostProblems, shownKey } from '../words.js'
import { blankSlip, type Slip, yamlFault } from './yamlFault.js'

/** A YAML file as plain data: every scalar is a string, an empty one is null. */
export interface YamlFile {
	readonly value: unknown
	/** The place of a value, or of its key with `at: 'key'`. Slow; call it for problems only. */
	locate(path: readonly PropertyKey[], at?: 'key' | 'value'): Place
}

/** Line and column start at 1. */
export interface Place {
	readonly line: number
	readonly column: number
}

/** An alias makes the parser visit all nodes before it. */
const mostAliases = 1_000
/** Aliases that expand to more nodes are an attack or a mistake. */
const maxAliasCount = 1_000

/**
 * Reads one YAML document. Scalars are never read as numbers, so an unquoted 0x address, `0.50`, `1e18` and `017` stay
 * as they were written. Duplicate keys, unknown tags, second documents and all warnings of the parser are problems. The
 * parser needs up to 2 s for each MiB; the caller bounds the size.
 */
export function parseYaml(text: string, file: string): YamlFile | { readonly problems: readonly Problem[] } {
	const lines = new LineCounter()
	const place = (offset: number): Place => {
		const { line, col } = lines.linePos(offset)
		return { line: Math.max(line, 1), column: Math.max(col, 1) }
	}
	const problemAt = ({ offset, message }: Slip): Problem => ({ file, ...place(offset), message })

	const form = { schema: 'failsafe', customTags: withNull, stringKeys: true, lineCounter: lines } as const
	// The parser's own search for duplicate keys takes quadratic time.
	const document = parseDocument(text, { ...form, prettyErrors: false, uniqueKeys: false })
	const errors = [...document.errors, ...document.warnings].slice(0, mostProblems)
	const blank = blankSlip(text)
	if (blank !== null) return { problems: [problemAt(blank)] }
	if (errors.length === 0 && document.contents === null) {
		return { problems: [problemAt({ offset: 0, message: 'the file is empty' })] }
	}
	const faults = errors.map((error) => yamlFault(error, text, document))
	// One typing mistake can cause several parser errors; only the first one is reported.
	const slips = faults.filter(({ isSlip }) => isSlip).slice(0, 1)
	const problems = [...slips, ...faults.filter(({ isSlip }) => !isSlip), ...refusedIn(document)].map(problemAt)
	if (problems.length > 0) return { problems }
	try {
		const value: unknown = document.toJS({ maxAliasCount })
		return { value, locate: (path, at = 'value') => place(offsetOf(document, path, at)) }
	} catch (error) {
		if (!(error instanceof ReferenceError)) throw error
		return { problems: [problemAt({ offset: 0, message: 'the aliases (*name) of this file unfold into too much' })] }
	}
}

/** Reads an empty scalar, `~` and `null` as null. No other word has a special meaning. */
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

/** The first pair of each key. Cached, because a file with many problems calls this once for each. */
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

/** Duplicate keys, aliases of nothing, or too many aliases. */
function refusedIn(document: Document): readonly Slip[] {
	const found: Slip[] = []
	const anchors = new Set<string | undefined>()
	let aliases = 0
	visit(document, {
		Alias(_, alias) {
			const fault = (message: string) => found.push({ offset: start(alias) ?? 0, message })
			if (document.errors.length === 0 && !anchors.has(alias.source))
				fault('this repeats a part that nothing before it marks with &; a text that begins with * is quoted')
			if (++aliases <= mostAliases && found.length < mostProblems) return undefined
			if (aliases > mostAliases) fault(`the file has more than ${mostAliases} aliases (*name)`)
			return visit.BREAK
		},
		Value(_, node) {
			anchors.add(node.anchor)
		},
		Map(_, map) {
			anchors.add(map.anchor)
			const first = pairsOf(map)
			for (const pair of map.items) {
				if (found.length >= mostProblems) return visit.BREAK
				if (!isPair(pair) || !isScalar(pair.key)) continue
				const key = String(pair.key.value)
				if (first.get(key) === pair) continue
				const name = pair.key.value === null ? 'an empty key' : shownKey(key)
				found.push({ offset: start(pair.key) ?? 0, message: `${name} is written twice here` })
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
