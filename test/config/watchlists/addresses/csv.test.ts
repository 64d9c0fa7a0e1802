import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRecords } from '../../../../src/config/watchlists/addresses/csv.js'

const fieldsOf = (text: string) => [...readRecords(text)].map(({ fields }) => fields.map((field) => field.text))
const faultsOf = (text: string) =>
	[...readRecords(text)].flatMap(({ fault }) =>
		fault === null ? [] : `${fault.line}:${fault.column}: ${fault.message}`,
	)

describe('readRecords', () => {
	test('reads whatever is written as RFC 4180 says, and knows where each field stands', () => {
		const text = fc.string({ unit: fc.constantFrom('a', 'ß', ',', '"', '\n', '\r\n', ';', '#', ' '), maxLength: 6 })
		const field = fc.record({ text: text.map((one) => one.trim()), quotes: fc.boolean() })
		const record = fc
			.array(field, { minLength: 1, maxLength: 4 })
			// A record of nothing is an empty line, and one that begins with # a comment.
			.filter(([first]) => first !== undefined && first.text !== '' && !first.text.startsWith('#'))
		const ending = fc.constantFrom('\n', '\r\n')
		fc.assert(
			fc.property(fc.array(record), ending, fc.boolean(), (records, newline, ended) => {
				const write = ({ text, quotes }: { text: string; quotes: boolean }) =>
					quotes || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
				const lines = records.map((one) => one.map(write).join(','))
				const file = lines.join(newline) + (ended ? newline : '')
				expect(faultsOf(file)).toEqual([])
				expect(fieldsOf(file)).toEqual(records.map((one) => one.map(({ text }) => text)))
				const all = file.split('\n')
				for (const { fields } of readRecords(file)) {
					for (const { text, line, column } of fields) {
						const rest = [all[line - 1]?.slice(column - 1), ...all.slice(line)].join('\n')
						const quoted = rest.startsWith('"')
						expect(quoted ? rest.slice(1).replaceAll('""', '"') : rest).toSatisfy((found: string) =>
							found.trimStart().startsWith(text),
						)
					}
				}
			}),
			{ numRuns: 1_000 },
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
		['nothing', '', []],
	])('%s', (_, text, records) => {
		expect(fieldsOf(text)).toEqual(records)
	})

	test.each([
		['a quote that is never closed, and nothing after it', 'a\nb,"c\nd\n', ['2:3: this quote is never closed']],
		['text after a closing quote', 'a,"b"c\nd', ['1:6: after a closing quote comes a comma or the end of the line']],
		[
			'text after a closing quote two lines further',
			'a,"b\nc\nd"e',
			['3:3: after a closing quote comes a comma or the end of the line'],
		],
		[
			'a quote inside a text',
			'a,6" pipe,b',
			['1:3: a text with quotes in it stands in quotes, each of its own doubled'],
		],
	])('error: %s', (_, text, faults) => {
		expect(faultsOf(text)).toEqual(faults)
	})

	test('behavior: continues after a fault', () => {
		expect(fieldsOf('"a"b,c\nd').at(-1)).toEqual(['d'])
	})
})
