import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CsvFault, type CsvRecord, createCsvReader } from '../../../../src/config/watchlists/addresses/csv.js'

/** Reads pieces of a file one after the other. `fault`: why the rest cannot be read. */
async function read(...pieces: readonly Uint8Array[]) {
	const records: CsvRecord[] = []
	const csv = createCsvReader((record) => records.push(record))
	try {
		for (const piece of [...pieces, null]) await csv.read(piece)
		return { records, fault: null }
	} catch (error) {
		if (!(error instanceof CsvFault)) throw error
		return { records, fault: `${error.place.line}:${error.place.column}: ${error.message}` }
	}
}

const fieldsOf = ({ records }: { readonly records: readonly CsvRecord[] }) => records.map(({ fields }) => fields)

describe('createCsvReader', () => {
	test('a file as RFC 4180 says, in any pieces: each field is read, and its place known', async () => {
		const text = fc.string({ unit: fc.constantFrom('a', 'ß', ',', '"', '\n', '\r\n', ';', '#', ' '), maxLength: 6 })
		const field = fc.record({ text: text.map((one) => one.trim()), quotes: fc.boolean() })
		const record = fc
			.array(field, { minLength: 1, maxLength: 4 })
			// A record of nothing is an empty line, and one that begins with # a comment.
			.filter(([first]) => first !== undefined && first.text !== '' && !first.text.startsWith('#'))
			.map((fields) =>
				fields.map((one) => ({
					...one,
					written: one.quotes || /[",\r\n#]/.test(one.text) ? `"${one.text.replaceAll('"', '""')}"` : one.text,
				})),
			)
		const ending = fc.constantFrom('\n', '\r\n')
		const between = fc.constantFrom('', '  ', '# a, "comment')
		const piece = fc.integer({ min: 1, max: 40 })
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(between, record)),
				ending,
				fc.boolean(),
				piece,
				async (rows, newline, ended, size) => {
					const lines: string[] = []
					const places: { line: number; column: number }[][] = []
					let line = 1
					for (const [gap, fields] of rows) {
						if (gap !== '') line += 1
						if (gap !== '') lines.push(gap)
						let column = 1
						places.push([])
						for (const { written } of fields) {
							places.at(-1)?.push({ line, column })
							const parts = written.split('\n')
							if (parts.length > 1) column = 1
							line += parts.length - 1
							column += (parts.at(-1)?.length ?? 0) + 1
						}
						lines.push(fields.map(({ written }) => written).join(','))
						line += 1
					}
					const bytes = Buffer.from(lines.join(newline) + (ended ? newline : ''))
					const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
						bytes.subarray(index * size, (index + 1) * size),
					)
					const found = await read(...pieces)
					expect(found.fault).toBeNull()
					expect(fieldsOf(found)).toEqual(rows.map(([, fields]) => fields.map((one) => one.text)))
					expect(found.records.map(({ fields, placeOf }) => fields.map((_, index) => placeOf(index)))).toEqual(places)
				},
			),
			{ numRuns: 500 },
		)
	})

	test.each([
		['empty lines and comments are left out', 'a\n\n  \n# b,"c\nd', [['a'], ['d']]],
		['blanks around a field are dropped', ' a , b\t,"  c d " , ', [['a', 'b', 'c d', '']]],
		[
			'an empty field is one',
			'a,,\n,b',
			[
				['a', '', ''],
				['', 'b'],
			],
		],
		['a # in quotes is no comment', '"#a",b', [['#a', 'b']]],
		['a # in a text is no comment', 'a#b,c #d', [['a#b', 'c #d']]],
		['nothing', '', []],
	])('%s', async (_, text, records) => {
		expect(fieldsOf(await read(Buffer.from(text)))).toEqual(records)
	})

	test.each([
		['a quote that is never closed, and nothing after it', 'a\nb,"c\nd\n', '2:3: this quote is never closed'],
		['text after a closing quote', 'a,"b"c\nd', '1:3: after a closing quote comes a comma or the end of the line'],
		['a blank and text after it', 'a,"b" c\nd', '1:3: after a closing quote comes a comma or the end of the line'],
		[
			'text after a closing quote two lines further',
			'a\na,"b\nc\nd"e',
			'2:3: after a closing quote comes a comma or the end of the line',
		],
		['a quote inside a text', 'a,6" pipe,b', '1:3: a text with quotes in it stands in quotes, each of its own doubled'],
		['a quote that is closed much later', `a\nb,"${'x\n'.repeat(40_000)}"\n`, '2:3: this quote is never closed'],
	])('error: %s', async (_, text, fault) => {
		const found = await read(Buffer.from(text))
		expect(found.fault).toBe(fault)
	})
})
