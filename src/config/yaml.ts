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
} from 'yaml'
import type { Problem } from '../errors.js'

/** A YAML file as plain data: every scalar is its text, an empty one is null. */
export interface YamlFile {
	readonly value: unknown
	/** Where a value (or, with `at: 'key'`, its key) stands. Slow: for problems only. */
	locate(path: readonly PropertyKey[], at?: 'key' | 'value'): { readonly line: number; readonly column: number }
}

/** A list of YAML aliases that unfolds into more than this is an attack or a mistake. */
const maxAliasCount = 1000

/**
 * Reads one YAML document. No scalar is read as a number, so an unquoted 0x address, `0.50`, `1e18` and `017` stay what was
 * written. Duplicate keys, unknown tags and second documents are problems; whatever the parser only warns of is one too.
 */
export function parseYaml(text: string, file: string): YamlFile | { readonly problems: readonly Problem[] } {
	const lines = new LineCounter()
	const position = (offset: number) => {
		const { line, col } = lines.linePos(offset)
		return { line: Math.max(line, 1), column: Math.max(col, 1) }
	}
	const documents = parseAllDocuments(text, {
		schema: 'failsafe',
		customTags: withNull,
		stringKeys: true,
		prettyErrors: false,
		lineCounter: lines,
	})
	const document = 'empty' in documents ? undefined : documents[0]
	if (document === undefined) return { problems: [{ file, line: 1, column: 1, message: 'the file is empty' }] }
	const faults = [...document.errors, ...document.warnings]
	const second = 'empty' in documents ? undefined : documents[1]
	const problems = faults.map(({ code, message, pos }) => ({
		file,
		...position(pos[0]),
		message: inWords(code, message, text.slice(pos[0])),
	}))
	if (second !== undefined) {
		const message = 'a second document begins here; one file holds one document: drop the line `---`'
		problems.push({ file, ...position(second.range[0]), message })
	}
	if (problems.length > 0) return { problems }
	const locate: YamlFile['locate'] = (path, at = 'value') => position(offsetOf(document, path, at))
	try {
		return { value: document.toJS({ maxAliasCount }), locate }
	} catch (error) {
		const message = `the aliases (*name) of this file cannot be followed: ${error instanceof Error ? error.message : error}`
		return { problems: [{ file, line: 1, column: 1, message }] }
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

function inWords(code: string, message: string, rest: string): string {
	switch (code) {
		case 'DUPLICATE_KEY':
			return `\`${/^[^\s:]*/.exec(rest)?.[0] ?? ''}\` stands twice here`
		case 'TAB_AS_INDENT':
			return 'a tab stands here; YAML is indented with spaces only'
		case 'TAG_RESOLVE_FAILED':
			return `tags are not understood here: drop \`${/^\S*/.exec(rest)?.[0] ?? ''}\``
		default:
			return `this is not YAML: ${message}`
	}
}
