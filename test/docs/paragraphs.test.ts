// Documents are read in a hurry: what is longer than a screen of a phone becomes a list, a table or two paragraphs.
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { read, root, withoutFences } from './markdown.js'

const longestWords = 100
const documents = [
	...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'],
	...readdirSync(`${root}docs`)
		.filter((name) => name.endsWith('.md'))
		.map((name) => `docs/${name}`),
]

/** Paragraphs, items of lists and rows of tables. */
function piecesOf(text: string): readonly string[] {
	return withoutFences(text).split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |\||#)/)
}

test.each(documents)('default: no paragraph of %s has more than 100 words', (path) => {
	const long = piecesOf(read(path)).flatMap((piece) => {
		const words = piece.split(/\s+/).filter((word) => /\w/.test(word)).length
		return words > longestWords ? [`${words} words: ${piece.trim().slice(0, 60)}`] : []
	})
	expect(long).toEqual([])
})
