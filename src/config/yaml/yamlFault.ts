import { type Document, type ErrorCode, visit, type YAMLError } from 'yaml'
import { quoted } from '../../base/text/quoted.js'

export interface Slip {
	readonly offset: number
	readonly message: string
}

export interface YamlFault extends Slip {
	/** A typing mistake, which may cause further parser errors below it. */
	readonly isSlip: boolean
}

/** Errors that have one cause. */
const causes: Partial<Record<ErrorCode, string>> = {
	TAB_AS_INDENT: 'indent with spaces, not tabs',
	RESOURCE_EXHAUSTION: 'maps and lists are nested too deep here',
	MULTIPLE_DOCS: 'a second document begins here; one file holds one: drop the line `---`',
	BAD_DQ_ESCAPE: 'what follows this \\ is not understood; between " a backslash is written twice',
	NON_STRING_KEY: 'a key is one word, and a text that begins with { or [ is quoted',
	BAD_DIRECTIVE: 'a line that begins with % is not understood here; a text that begins with % is quoted',
}

/**
 * Explains a parser error in plain words. It repeats at most a key or a tag of the file, since a value may be a secret.
 */
export function yamlFault({ code, message, pos: [offset] }: YAMLError, text: string, document: Document): YamlFault {
	const isSlip = code !== 'TAG_RESOLVE_FAILED' && code !== 'MULTIPLE_DOCS'
	const fault = (words: string, at = offset): YamlFault => ({ offset: at, message: words, isSlip })
	const cause = causes[code]
	if (cause !== undefined) return fault(cause)
	const rest = text.slice(offset, offset + 200)
	if (code === 'TAG_RESOLVE_FAILED') {
		const tag = /^!{1,2}[a-z]{1,12}(?=\s|$)/.exec(rest)?.[0]
		const drop = tag === undefined ? 'a text that begins with ! is quoted' : `drop ${quoted(tag)}`
		return fault(`tags are not understood here: ${drop}`)
	}
	if (/^Missing closing ["']/.test(message)) return fault('this quote is never closed', startOfText(document, offset))
	if (text[offset - 1] === '$' && rest.startsWith('{'))
		return fault(`inside brackets a variable is quoted: ["\${NAME}"]`)
	// `schedule: */12 * * * * *` without quotes.
	const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
	if (/:\s+\*\S*\s*$/.test(line) || rest.startsWith('*'))
		return fault('a text that begins with * is quoted: "*/12 * * * * *"')
	if (code === 'BLOCK_AS_IMPLICIT_KEY')
		return fault(
			'this text contains a colon and a space: quote it, or correct the indentation of this line or the next',
		)
	if (code === 'BAD_SCALAR_START') return fault(`a text that begins with ${rest[0]} is quoted`)
	const isKey = code === 'MULTILINE_IMPLICIT_KEY'
	if ((isKey || code === 'BAD_INDENT') && /flow/i.test(message)) return fault('a [ or { before this is not closed')
	if (isKey || message.startsWith('Implicit map keys'))
		return fault('this is not a key with a value: write a colon and a space after the key')
	if (code === 'BAD_INDENT' || message.startsWith('Sequence item without'))
		return fault('the indentation of this line does not fit the lines before it')
	// The text after the parser's first colon quotes the file.
	return fault(`this is not YAML: ${message.replace(/(?<=\S): .*$/s, '')}`)
}

/** Offset at which the scalar begins that ends at `end`; `end` when there is none. */
function startOfText(document: Document, end: number): number {
	let found = end
	visit(document, {
		Scalar(_, { range }) {
			if (range?.[1] === end) found = range[0]
		},
	})
	return found
}

/** Unicode blanks that look like a space and are not whitespace in YAML. */
const foreignBlank = /^[ \t]*(?:- +)*(?:[a-z_]{2,30}:[ \t]*)?([\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff])/gmu

/** The first such blank in an indentation, or between a key and its value; null when there is none. */
export function blankSlip(text: string): Slip | null {
	// A byte order mark at the beginning of the file is allowed.
	for (const { index, 0: found } of text.matchAll(foreignBlank)) {
		const offset = index + found.length - 1
		if (offset === 0) continue
		return { offset, message: 'this is not a plain space (text copied from web pages has such blanks): type a space' }
	}
	return null
}
