// Documents are read in a hurry: they are short, and what is longer than a screen of a phone becomes a list or a table.
import { describe, expect, test } from 'vitest'
import { documents, read, tablesOf, withoutFences } from './markdown.js'

const mostWords = 80
const mostInCell = 200
/** Lines of single documents; all of them together have at most 1,700. */
const mostLines: Readonly<Record<string, number>> = {
	'docs/delivery.md': 330,
	'README.md': 120,
	'ARCHITECTURE.md': 120,
}

/** Paragraphs, items of lists and rows of tables. */
function piecesOf(text: string): readonly string[] {
	return withoutFences(text).split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |\||#)/)
}

const lines = (text: string) => text.trimEnd().split('\n').length

test('default: all documents together have at most 1,700 lines', () => {
	expect(documents.reduce((sum, path) => sum + lines(read(path)), 0)).toBeLessThanOrEqual(1_700)
})

describe.each(documents)('%s', (path) => {
	const text = read(path)

	test('default: is short', () => {
		expect(lines(read(path))).toBeLessThanOrEqual(mostLines[path] ?? 310)
	})

	test('default: no paragraph has more than 80 words', () => {
		const long = piecesOf(text).flatMap((piece) => {
			const words = piece.split(/\s+/).filter((word) => /\w/.test(word)).length
			return words > mostWords ? [`${words} words: ${piece.trim().slice(0, 60)}`] : []
		})
		expect(long).toEqual([])
	})

	test('default: no cell of a table has more than 200 characters', () => {
		const cells = tablesOf(text).flatMap(({ rows }) => rows.flat())
		expect(cells.filter((cell) => cell.length > mostInCell)).toEqual([])
	})
})
