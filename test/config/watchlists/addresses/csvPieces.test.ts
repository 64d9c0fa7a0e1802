import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CsvRecord, readRecords } from '../../../../src/config/watchlists/addresses/csv.js'

/** As a file is read: what is not whole yet comes again before the next piece. */
function inPieces(pieces: readonly string[]): readonly CsvRecord[] {
	const found: CsvRecord[] = []
	let [text, line] = ['', 1]
	for (const [index, piece] of [...pieces, ''].entries()) {
		text += piece
		const records = readRecords(text, line, index === pieces.length)
		let next = records.next()
		for (; next.done !== true; next = records.next()) found.push(next.value)
		;[text, line] = [text.slice(next.value.offset), next.value.line]
	}
	return found
}

test('a text that comes in pieces has the records of the whole, each in its place', () => {
	const piece = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r\n', '#', ' ', '""'), maxLength: 8 })
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
			expect(inPieces(pieces)).toEqual([...readRecords(pieces.join(''))])
		}),
		{ numRuns: 2_000 },
	)
})
