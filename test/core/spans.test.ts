import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cut, firstOf, lengthOf, numbersOf, restOf } from '../../src/core/spans.js'
import type { Span } from '../../src/model/chain.js'

const span = fc
	.tuple(fc.bigInt({ min: 0n, max: 2n ** 40n }), fc.bigInt({ min: 0n, max: 300n }))
	.map(([from, more]): Span => ({ from, to: from + more }))
const blocks = fc.integer({ min: 1, max: 400 })

describe('spans', () => {
	test('the pieces of a cut hold every block exactly once, in order', () => {
		fc.assert(
			fc.property(span, blocks, (whole, size) => {
				const numbers = cut(whole, size).flatMap((piece) => [...numbersOf(piece)])
				const all = Array.from({ length: Number(whole.to - whole.from) + 1 }, (_, index) => whole.from + BigInt(index))
				expect(numbers).toEqual(all)
			}),
		)
	})

	test('no piece is longer than asked for, and only the last is shorter', () => {
		fc.assert(
			fc.property(span, blocks, (whole, size) => {
				const lengths = cut(whole, size).map(lengthOf)
				expect(lengths.slice(0, -1).every((length) => length === BigInt(size))).toBe(true)
				expect(lengths.every((length) => length >= 1n && length <= BigInt(size))).toBe(true)
			}),
		)
	})

	test('pieces of changing sizes hold every block exactly once', () => {
		fc.assert(
			fc.property(span, fc.array(blocks, { minLength: 1 }), (whole, sizes) => {
				const numbers: bigint[] = []
				let turn = 0
				for (let rest: Span | null = whole; rest !== null; turn++) {
					const piece: Span = firstOf(rest, sizes[turn % sizes.length] ?? 1)
					numbers.push(...numbersOf(piece))
					rest = restOf(rest, piece.to)
				}
				expect(numbers).toEqual([...numbersOf(whole)])
			}),
		)
	})

	test('behavior: a size below 1 is 1, and what is not done yet is all of it', () => {
		expect(firstOf({ from: 5n, to: 9n }, 0)).toEqual({ from: 5n, to: 5n })
		expect(restOf({ from: 5n, to: 9n }, 4n)).toEqual({ from: 5n, to: 9n })
		expect(restOf({ from: 5n, to: 9n }, 9n)).toBeNull()
	})
})
