import { type Document, visit, type YAMLError } from 'yaml'
import { quoted } from '../../base/text/quoted.js'
import { deeperKey, missingSpace } from './yamlSlips.js'

export interface YamlFault {
	readonly offset: number
	readonly message: string
	/** A typing mistake, which may cause further parser errors below it. */
	readonly isSlip: boolean
}

/**
 * Explains a parser error in plain words. It repeats at most a key or a tag of the file, since a value may be a secret.
 */
export function yamlFault({ code, message, pos }: YAMLError, text: string, document: Document): YamlFault {
	const [offset] = pos
	const rest = text.slice(offset, offset + 200)
	const fault = (words: string, at = offset): YamlFault => ({ offset: at, message: words, isSlip: true })
	if (code === 'TAG_RESOLVE_FAILED') {
		const tag = /^!{1,2}[a-z]{1,12}(?=\s|$)/.exec(rest)?.[0]
		const drop = tag === undefined ? 'a text that begins with ! is quoted' : `drop ${quoted(tag)}`
		return { offset, message: `tags are not understood here: ${drop}`, isSlip: false }
	}
	if (code === 'TAB_AS_INDENT') return fault('a tab stands here; YAML is indented with spaces only')
	if (/^Missing closing ["']/.test(message)) return fault('this quote is never closed', startOfText(document, offset))
	if (text[offset - 1] === '$' && rest.startsWith('{'))
		return fault(`inside brackets a variable is quoted: ["\${NAME}"]`)
	// `schedule: */12 * * * * *` without quotes.
	if (lineBefore(text, offset).match(/:\s+\*\S*\s*$/) || rest.startsWith('*'))
		return fault('a text that begins with * is quoted: "*/12 * * * * *"')
	const spaceless = missingSpace(text, offset)
	if (spaceless !== null) return fault(spaceless.message, spaceless.offset)
	const misfit = 'the indentation of this line does not fit the lines before it'
	if (message.startsWith('Sequence item without')) return fault(misfit)
	switch (code) {
		case 'RESOURCE_EXHAUSTION':
			return fault('maps and lists are nested too deep here')
		case 'MULTIPLE_DOCS':
			return {
				offset,
				message: 'a second document begins here; one file holds one: drop the line `---`',
				isSlip: false,
			}
		case 'BLOCK_AS_IMPLICIT_KEY': {
			const deeper = deeperKey(text, offset)
			if (deeper !== null) return fault(deeper.message, deeper.offset)
			return fault('a colon and a space stand in this text: quote it, or correct the indentation of this line')
		}
		case 'BAD_INDENT':
		case 'MULTILINE_IMPLICIT_KEY':
			if (/flow/i.test(message)) return fault('a [ or { before this is not closed')
			return fault(misfit)
		case 'BAD_SCALAR_START':
			return fault(`a text that begins with ${rest[0]} is quoted`)
		case 'BAD_DQ_ESCAPE':
			return fault('what follows this \\ is not understood; between " a backslash is written twice')
		case 'BAD_DIRECTIVE':
			return fault('a line that begins with % is not understood here; a text that begins with % is quoted')
		default:
			return fault(`this is not YAML: ${plain(message)}`)
	}
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

function lineBefore(text: string, offset: number): string {
	return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
}

/** The parser's message up to its first colon; the text after the colon quotes the file. */
function plain(message: string): string {
	return message.replace(/(?<=\S): .*$/s, '')
}
