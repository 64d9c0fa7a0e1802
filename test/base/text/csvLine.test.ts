import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine } from '../../../src/base/text/csvLine.js'

test.each([
	['=1+1', "'=1+1"],
	['-5', '-5'],
	['-5+1', "'-5+1"],
	['Treasury;=HYPERLINK("x")', `"Treasury;'=HYPERLINK(""x"")"`],
	['a; @SUM(1)', "a;' @SUM(1)"],
	['Treasury; cold', 'Treasury; cold'],
	['＝1+1', "'＝1+1"],
])('default: the cell %j is written as %j', (cell, written) => {
	expect(csvLine([cell])).toBe(written)
})

test('behavior: whatever separator a spreadsheet takes, no cell of a text begins a formula', () => {
	const text = fc.string({ unit: fc.constantFrom('=', '+', '-', '@', ';', ',', '\t', '\n', '"', ' ', 'a', '1') })
	fc.assert(
		fc.property(text, (cell) => {
			const line = csvLine(['x', cell])
			for (const piece of line.slice(2).split(/[;\t\n]/)) {
				// As in the file, and without the quotes around it.
				const number = /^"?-?\d+(\.\d+)?"?$/.test(line.slice(2))
				if (!number) expect(piece.replace(/^"/, '').trimStart()).not.toMatch(/^[=+\-@]/)
			}
		}),
		{ numRuns: 2_000 },
	)
})
