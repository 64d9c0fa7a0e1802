import {
	Composer,
	type CST,
	type Document,
	type LineCounter,
	Parser,
	type Tags,
	YAMLParseError,
	YAMLWarning,
} from 'yaml'
import { mostProblems } from './words.js'

/**
 * The first document of a text, within bounds that no person meets. The parser takes the square of the number of
 * errors, of keys in one map and of aliases, and a text that nests thousands deep ends the whole process: so it is
 * looked at before.
 */

/** Levels that maps and lists stand within each other. */
const mostLevels = 100
/** Keys, values and entries; a parsed one takes some 300 bytes of memory. */
const mostNodes = 2_000_000
/** To find what an alias stands for, all nodes before it are passed. */
const mostAliasSteps = 20_000_000

export type Composed =
	| {
			/** Null: there is none, or it has too many errors. */
			readonly document: Document | null
			/** Where a second document begins; null: there is none. */
			readonly second: number | null
			/** The first of them, and whatever the parser only warns of. */
			readonly errors: readonly (YAMLParseError | YAMLWarning)[]
	  }
	| { readonly offset: number; readonly message: string }

/** `lines` is filled with the line breaks of the text. */
export function composeBounded(text: string, lines: LineCounter, customTags: (tags: Tags) => Tags): Composed {
	const options = { schema: 'failsafe', customTags, stringKeys: true, prettyErrors: false, uniqueKeys: false } as const
	const composer = new Composer({ ...options, lineCounter: lines })
	const errors: (YAMLParseError | YAMLWarning)[] = []
	// A member that the types keep to themselves.
	composer['onError'] = (source: Where, code: YAMLParseError['code'], message: string, isWarning = false) => {
		if (errors.length >= mostProblems) throw new TooManyErrors()
		const at = typeof source === 'number' ? source : 'offset' in source ? source.offset : source[0]
		errors.push(new (isWarning ? YAMLWarning : YAMLParseError)([at, at + 1], code, message))
	}
	const budget = { nodes: 0, aliases: 0 }
	let stumbles = 0
	const all = () => [...errors, ...(document?.errors ?? [])]
	let document: Document | null = null
	try {
		for (const token of tokens(text, lines)) {
			const fault = boundsFault(token, budget)
			if (fault !== null) return fault
			if (token.type === 'error' && ++stumbles > mostProblems) break
			for (const found of composer.next(token)) {
				if (document !== null) return { document, second: found.range[0], errors: all() }
				document = found
			}
		}
		for (const found of composer.end()) {
			if (document !== null) return { document, second: found.range[0], errors: all() }
			document = found
		}
	} catch (error) {
		if (!(error instanceof TooManyErrors)) throw error
	}
	return { document, second: null, errors: all() }
}

type Where = number | readonly [number, number] | { readonly offset: number }

class TooManyErrors extends Error {}

function* tokens(text: string, lines: LineCounter): Generator<CST.Token> {
	yield* new Parser(lines.addNewLine).parse(text)
}

/** Walks a syntax tree without recursion. */
function boundsFault(
	root: CST.Token,
	budget: { nodes: number; aliases: number },
): { readonly offset: number; readonly message: string } | null {
	const open: { readonly token: CST.Token; readonly level: number }[] = [{ token: root, level: 0 }]
	for (let next = open.pop(); next !== undefined; next = open.pop()) {
		const { token, level } = next
		const { offset } = token
		budget.nodes++
		if (token.type === 'alias') budget.aliases++
		if (level > mostLevels) return { offset, message: `this nests deeper than ${mostLevels} levels` }
		if (budget.nodes > mostNodes || budget.aliases * budget.nodes > mostAliasSteps) {
			const what = budget.nodes > mostNodes ? `more than ${mostNodes} keys and values` : 'too many aliases (*name)'
			return {
				offset,
				message: `the file has ${what}; many addresses stand better in a file of their own: addresses_from`,
			}
		}
		if (token.type === 'document' && token.value !== undefined) open.push({ token: token.value, level })
		if (!('items' in token)) continue
		for (const { key, value } of token.items) {
			if (key != null) open.push({ token: key, level: level + 1 })
			if (value !== undefined) open.push({ token: value, level: level + 1 })
		}
	}
	return null
}
