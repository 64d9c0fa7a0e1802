import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextColumn } from '../../../src/core/packed/columns.js'

const text = fc.oneof(
	{ weight: 4, arbitrary: fc.string({ maxLength: 80 }) },
	fc.string({ unit: 'grapheme', maxLength: 40 }),
	// Some fill a run of bytes to its end, or are longer than one.
	fc.integer({ min: 0, max: 70_000 }).map((length) => 'x'.repeat(length)),
	fc.integer({ min: 0, max: 30_000 }).map((length) => 'é'.repeat(length)),
	fc.constantFrom(null, '', '\u0000', '€'),
)

test('property: what a column of texts gives is what was pushed, whatever their lengths', () => {
	fc.assert(
		fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
			const column = createTextColumn()
			for (const one of texts) column.push(one)
			expect(texts.map((_, index) => column.at(index))).toEqual(texts)
		}),
		{ numRuns: 150 },
	)
})

test('behavior: texts that end where a run of bytes ends', () => {
	const texts = [
		'a'.repeat(65_535 / 3),
		'b'.repeat(65_535 / 3),
		'c'.repeat(65_535 / 3),
		'd',
		'',
		null,
		'e',
		'f'.repeat(9),
	]
	const column = createTextColumn()
	for (const one of texts) column.push(one)
	expect(texts.map((_, index) => column.at(index))).toEqual(texts)
})
