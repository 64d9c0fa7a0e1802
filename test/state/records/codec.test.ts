import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromJson, toJson } from '../../../src/state/records/codec.js'

const through = (value: unknown) => fromJson(toJson(value))

describe('a value', () => {
	test.each<[string, unknown, unknown]>([
		['a bigint', { block: 5n, moved: -(2n ** 90n) }, { block: '5n', moved: `-${2n ** 90n}n` }],
		['text like one', ['5n', "'5n", "''-7n", 'n', 'token', "'"], ["'5n", "''5n", "'''-7n", 'n', 'token', "'"]],
		[
			'a map in its order',
			new Map<unknown, unknown>([
				['2', 1n],
				['1', null],
			]),
			{
				$map: [
					['2', '1n'],
					['1', null],
				],
			},
		],
		['a map by number', new Map([[7n, new Map()]]), { $map: [['7n', { $map: [] }]] }],
		[
			'books without the names of their fields, and a removed one',
			new Map([
				['0xa', { block: 5n, balanceWei: 2n ** 70n, movedWei: -1n, code: null, compared: { limits: '5n', at: 4n } }],
				['0xb', { block: 5n, balanceWei: 0n, movedWei: 0n, movedAt: 3n }],
				['0xc', { block: 5n, balanceWei: 0n, movedWei: 0n, movedAt: 6n, code: '00ff' }],
				['0xd', { block: 5n, balanceWei: 0n, movedWei: 0n }],
				['0xe', null],
			]),
			{
				$books: [
					['0xa', 5, `${2n ** 70n}`, -1, null, 0, "'5n", 4],
					['0xb', 5, 0, 0, -2],
					['0xc', 5, 0, 0, 1, '00ff'],
					['0xd', 5, 0, 0],
					['0xe'],
				],
			},
		],
		['a set', new Set([1n, 'a']), { $set: ['1n', 'a'] }],
		[
			'undefined beside absent',
			{ a: undefined, list: [undefined] },
			{ a: { $undefined: true }, list: [{ $undefined: true }] },
		],
	])('is JSON, and comes back: %s', (_, value, json) => {
		expect(JSON.parse(toJson(value))).toEqual(json)
		expect(through(value)).toStrictEqual(value)
	})

	test('comes back as it was, however it is nested', () => {
		const text = fc.oneof(fc.string(), fc.stringMatching(/^'{0,2}-?\d{1,3}n$/))
		const key = fc
			.oneof(fc.string(), fc.constant('1'))
			.filter((name) => !['__proto__', '$books', '$map', '$set', '$undefined'].includes(name))
		const { value } = fc.letrec((tie) => ({
			value: fc.oneof(
				{ depthSize: 'small' },
				fc.bigInt(),
				text,
				fc.integer(),
				fc.constantFrom(null, undefined, true),
				fc.array(tie('value'), { maxLength: 3 }),
				fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
				fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
				fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
			),
		}))
		fc.assert(
			fc.property(value, (one) => {
				expect(through(one)).toStrictEqual(one)
			}),
			{ numRuns: 500 },
		)
	})
})
