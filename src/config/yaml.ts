import {
	type Document,
	isAlias,
	isMap,
	isPair,
	isScalar,
	isSeq,
	LineCounter,
	type Node,
	parseAllDocuments,
	type Tags,
	visit,
} from 'yaml'
import type { Problem } from '../errors.js'
import { yamlFault } from './yamlFault.js'

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
 * Reads one YAML document. No scalar is read as a number, so an unquoted 0x address, `0.50`, `1e18` and `017` stay what was
 * written. Duplicate keys, unknown tags and second documents are problems; whatever the parser only warns of is one too.
 */
export function parseYaml(text: string, file: string): YamlFile | { readonly problems: readonly Problem[] } {
	const lines = new LineCounter()
	const place = (offset: number): Place => {
		const { line, col } = lines.linePos(offset)
		return { line: Math.max(line, 1), column: Math.max(col, 1) }
	}
	const problemAt = (offset: number, message: string): Problem => ({ file, ...place(offset), message })

	const documents = parseAllDocuments(text, {
		schema: 'failsafe',
		customTags: withNull,
		stringKeys: true,
		prettyErrors: false,
		lineCounter: lines,
	})
	const [document, second] = 'empty' in documents ? [] : documents
	if (document === undefined || (document.contents === null && document.errors.length === 0)) {
		return { problems: [problemAt(0, 'the file is empty')] }
	}
	const faults = [...document.errors, ...document.warnings].map((error) => yamlFault(error, text, document))
	// One slip of the pen makes the parser stumble several times: what it says first is what is meant.
	const slips = faults.filter(({ isSlip }) => isSlip).slice(0, 1)
	const problems = [...slips, ...faults.filter(({ isSlip }) => !isSlip)].map(({ offset, message }) =>
		problemAt(offset, message),
	)
	if (second !== undefined) {
		problems.push(problemAt(second.range[0], 'a second document begins here; one file holds one: drop the line `---`'))
	}
	if (problems.length > 0) return { problems }
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

function offsetOf(document: Document, path: readonly PropertyKey[], at: 'key' | 'value'): number {
	let node: unknown = document.contents
	let offset = start(node) ?? 0
	for (const [depth, step] of path.entries()) {
		if (isAlias(node)) node = node.resolve(document)
		let next: unknown
		if (isMap(node)) {
			const pair = node.items.find(
				(item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step),
			)
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
