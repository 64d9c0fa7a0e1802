import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { JsonFault } from '../../../src/chain/stream/jsonFault.js'
import { createJsonStream } from '../../../src/chain/stream/jsonStream.js'
import { everything, shapeOfAnswer } from '../../../src/chain/stream/shapes.js'
import { codePoint } from '../../support/codePoint.js'
import { soaked, testInSoak } from '../../support/soak.js'
import { isObject } from '../recorded.js'
import { limits, projected, streamed, unpacked } from './streamed.js'

const traces = shapeOfAnswer(['trace_block'])

/**
 * A key that is one escaped character: JSON.parse of Node 24.21 reads it as a backslash where the text has characters
 * beyond latin1 (`{"\"": 1, "😀": 2}`), so that it is no witness there. No node sends such keys.
 */
const oneEscapedKey = /"\\(?:u[0-9a-fA-F]{4}|[^u])"\s*:/

function outcome(run: () => unknown): { value: unknown } | 'refused' {
	try {
		return { value: run() }
	} catch {
		return 'refused'
	}
}

const names = [
	'result',
	'error',
	'action',
	'calls',
	'from',
	'input',
	'output',
	'code',
	'message',
	'data',
	'__proto__',
	'id',
	'traceAddress',
	'subtraces',
]
/** Names and texts that matter, escapes, surrogates, half ones, and texts longer than is kept. */
const text = fc.oneof(
	fc.constantFrom(...names),
	fc.string({ unit: codePoint, maxLength: 12 }),
	fc.string({ unit: 'grapheme', maxLength: 12 }),
	fc.constantFrom('"', '\\', '\\"', '\u0000', '\ud83d', '\u{1f600}', '\u2028', `${'\u{1f600}x'.repeat(1_500)}`),
	fc.nat(3).map((shift) => `${'y'.repeat(4_093 + shift)}\u{1f600}"\\é`),
)
const value = fc.letrec<{ any: unknown }>((tie) => ({
	any: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		text,
		fc.oneof(fc.integer(), fc.double({ noDefaultInfinity: true, noNaN: true }), fc.constantFrom(0, -0, 1e21, 5e-324)),
		fc.constantFrom(null, true, false),
		fc.array(tie('any'), { maxLength: 6 }),
		fc.dictionary(fc.oneof(fc.constantFrom(...names), text), tie('any'), { maxKeys: 6, noNullPrototype: true }),
	),
})).any

/** JSON of a value with the freedoms that JSON leaves: spaces, escapes that need not be, members told twice. */
function written(made: unknown, choice: () => number): string {
	const space = () => ['', '', '', ' ', '\n', '\t \r'][choice() % 6] ?? ''
	const quoted = (one: string) => {
		const plain = JSON.stringify(one)
		if (choice() % 4 > 0) return plain
		const units = Array.from({ length: Math.min(one.length, 50) }, (_, at) =>
			one.charCodeAt(at).toString(16).padStart(4, '0'),
		)
		return `"${units.map((unit) => `\\u${unit}`).join('')}${JSON.stringify(one.slice(50)).slice(1)}`
	}
	const write = (one: unknown): string => {
		if (typeof one === 'string') return quoted(one)
		if (Array.isArray(one)) return `[${space()}${one.map((member) => space() + write(member) + space()).join(',')}]`
		if (!isObject(one)) return JSON.stringify(one)
		const members = Object.entries(one).map(
			([key, member]) => `${space()}${quoted(key)}${space()}:${space()}${write(member)}`,
		)
		if (members.length > 1 && choice() % 5 === 0) members.push(members[0] ?? '')
		return `{${members.join(`${space()},`)}${space()}}`
	}
	return space() + write(made) + space()
}

describe('the result of reading JSON as a stream', () => {
	const borders = fc.array(fc.nat(), { maxLength: 20 })
	const choices = fc.infiniteStream(fc.nat(1_000))

	test.each([
		['everything', everything],
		['the shape of traces', traces],
	])('behavior: is what JSON.parse gives, less what the shape leaves out: %s', (_name, shape) => {
		fc.assert(
			fc.property(value, borders, choices, (made, cuts, choice) => {
				const bytes = Buffer.from(written({ result: made, error: made, id: 1 }, () => choice.next().value))
				fc.pre(!oneEscapedKey.test(bytes.toString('utf8')))
				const expected = projected(JSON.parse(bytes.toString('utf8')), shape)
				expect(streamed(bytes, shape, cuts)).toEqual(expected)
			}),
			{ numRuns: soaked(100, 1_500) },
		)
	})

	test('behavior: every border in the middle of escapes, characters, numbers and words', () => {
		const json =
			'{"result":[{"from":"\\ud83d\\ude00é\\"\\\\\u{1f600}","to":-1.5e+10,"x\\"":[{}, []],' +
			'"value":true},null,false,0,10]}'
		const bytes = Buffer.from(json)
		for (const shape of [everything, traces]) {
			const expected = projected(JSON.parse(json), shape)
			for (let cut = 0; cut <= bytes.length; cut += 1) expect(streamed(bytes, shape, [cut])).toEqual(expected)
			expect(streamed(bytes, shape, Array.from(bytes.keys()))).toEqual(expected)
		}
	})

	test('behavior: a text that JSON.parse refuses is refused, where everything is wanted', () => {
		fc.assert(
			fc.property(
				value,
				fc.nat(),
				fc.nat(255),
				fc.constantFrom('cut', 'put', 'take'),
				borders,
				(made, at, byte, way, cuts) => {
					const good = Buffer.from(JSON.stringify([made]))
					const place = at % good.length
					const bad = {
						cut: good.subarray(0, place),
						put: Buffer.concat([good.subarray(0, place), Buffer.from([byte & 0x7f]), good.subarray(place)]),
						take: Buffer.concat([good.subarray(0, place), good.subarray(place + 1)]),
					}[way]
					fc.pre(!oneEscapedKey.test(bad.toString('utf8')))
					const expected = outcome(() => JSON.parse(bad.toString('utf8')))
					expect(outcome(() => streamed(bad, everything, cuts))).toEqual(expected)
				},
			),
			{ numRuns: soaked(200, 3_000) },
		)
	})

	test.each([
		'',
		' ',
		'{',
		'[1,]',
		'{"a":1,}',
		'{"a"}',
		'{"a":}',
		'[1}',
		'{1:2}',
		'[1 2]',
		'1 2',
		'nul',
		'nulll',
		'01',
		'-',
		'1.',
		'{,}',
		'[,1]',
		']',
		'"a',
		'{"a":1]',
		'{"a" 1}',
		'+1',
		'.5',
		"'a'",
		'[-]',
		'{"a":1 "b":2}',
		'true false',
		'[1:2]',
		':',
	])('error: %s', (json) => {
		expect(() => JSON.parse(json)).toThrow()
		for (const shape of [everything, traces]) {
			expect(() => streamed(Buffer.from(json), shape, [])).toThrow()
			expect(() => streamed(Buffer.from(`{"input":${json}}`), shape, [])).toThrow()
		}
	})
})

test('behavior: of traces, headers and receipts together what a stranger can make long is left out', () => {
	const lean = shapeOfAnswer(['eth_getBlockByNumber', 'trace_filter', 'eth_getTransactionReceipt'])
	const answers = [
		{ id: 1, result: { number: '0x1', transactions: ['0xab'] } },
		{ id: 2, result: [{ action: { input: '0x00', to: '0xcd' }, result: { output: '0x' }, traceAddress: [] }] },
		{ id: 3, error: { code: -32000, message: 'no' } },
		{ id: 4, result: { status: '0x1', logs: [{ data: '0x01' }] } },
	]
	const read = streamed(Buffer.from(JSON.stringify(answers)), lean, [])
	const less = JSON.stringify(answers).replace('"input":"0x00",', '').replace('"output":"0x"', '')
	expect(read).toEqual(JSON.parse(less))
	// By themselves, or with what is not known, all of it is wanted.
	expect(shapeOfAnswer(['eth_getBlockByNumber'])).toBe(everything)
	expect(shapeOfAnswer(['trace_filter', 'eth_getBlockReceipts'])).toBe(everything)
})

describe('limits', () => {
	const kindOf = (run: () => unknown) => {
		try {
			run()
			return null
		} catch (error) {
			return (error as JsonFault).kind
		}
	}

	test('error: nested too deep, wanted or not', () => {
		const deep = (open: string, close: string, levels: number) =>
			Buffer.from(open.repeat(levels) + close.repeat(levels))
		expect(kindOf(() => streamed(deep('[', ']', 2_000), everything, []))).toBeNull()
		expect(kindOf(() => streamed(deep('[', ']', 2_001), everything, []))).toBe('malformed')
		expect(kindOf(() => streamed(Buffer.from(`{"input":${'['.repeat(1_000_000)}`), traces, []))).toBe('malformed')
	})

	test('error: more than may be kept', () => {
		const many = Buffer.from(`[${'0,'.repeat(3_000_000)}0]`)
		const small = { depth: 10, keptBytes: 1_000_000 }
		const read = (bytes: Buffer) => {
			const stream = createJsonStream(everything, small)
			stream.write(bytes)
			return stream.end()
		}
		expect(kindOf(() => read(many))).toBe('too-large')
		expect(kindOf(() => read(Buffer.from(`"${'x'.repeat(2_000_000)}"`)))).toBe('too-large')
		expect(kindOf(() => read(Buffer.from(`${'1'.repeat(2_000_000)}`)))).toBe('malformed')
	})

	test('behavior: an answer of nothing but small numbers and words makes no text of each', () => {
		const made = vi.spyOn(Buffer.prototype, 'toString')
		onTestFinished(() => made.mockRestore())
		const stream = createJsonStream(everything, limits)
		const atoms = [0, 7, 123_456, true, false, null]
		stream.write(Buffer.from(JSON.stringify(atoms)))
		const found = stream.end()
		expect(made).not.toHaveBeenCalled()
		expect(found).toEqual(atoms)
	})

	testInSoak('behavior: a value that is passed over takes no memory', () => {
		const stream = createJsonStream(traces, limits)
		const chunk = Buffer.from('x'.repeat(65_536))
		stream.write(Buffer.from('{"result":[{"input":"'))
		const before = process.memoryUsage()
		for (let megabytes = 0; megabytes < 512; megabytes += 1) for (let n = 0; n < 16; n += 1) stream.write(chunk)
		const after = process.memoryUsage()
		stream.write(Buffer.from('","value":"0x1"}]}'))
		expect(unpacked(stream.end())).toEqual({ result: [{ value: '0x1' }] })
		expect(after.rss - before.rss).toBeLessThan(64 * 1024 * 1024)
	})
})
