import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterAnswer, afterRefusal, type SpanSize, startSpanSize } from '../../../src/chain/limits/spanSize.js'

const bounds = { first: 100, most: 10_000 }

function answered(size: SpanSize, times: number): SpanSize {
	let now = size
	for (let turn = 0; turn < times; turn++) now = afterAnswer(now, now.blocks, 10, bounds)
	return now
}

describe('size', () => {
	test('grows slowly with full answers, up to where growth ends', () => {
		expect(answered(startSpanSize(bounds), 3).blocks).toBe(100)
		expect(answered(startSpanSize(bounds), 4).blocks).toBe(150)
		expect(answered(startSpanSize(bounds), 1_000).blocks).toBe(10_000)
	})

	test('behavior: a number that the node named is kept to', () => {
		const size = afterRefusal(startSpanSize(bounds), 100, 30)
		expect(size.blocks).toBe(30)
		expect(answered(size, 90).blocks).toBe(30)
	})

	test('behavior: a number that was named for crowded blocks does not hold for ever', () => {
		// "Try with this block range [0x3e8, 0x3ea]": what fits there, not what the endpoint allows.
		const size = afterRefusal(startSpanSize(bounds), 100, 3)
		expect(answered(size, 90).blocks).toBe(3)
		expect(answered(size, 1_000).blocks).toBe(10_000)
	})

	test('behavior: without a number it is halved, and grows again only later', () => {
		const size = afterRefusal(startSpanSize(bounds), 100, undefined)
		expect(size.blocks).toBe(50)
		expect(answered(size, 15).blocks).toBe(50)
		expect(answered(size, 16).blocks).toBe(75)
	})

	test('behavior: an answer of too many rows makes the next question smaller', () => {
		expect(afterAnswer(startSpanSize(bounds), 100, 40_000, bounds).blocks).toBe(10)
		expect(afterAnswer(startSpanSize(bounds), 100, 6_000_000, bounds).blocks).toBe(1)
	})

	test('behavior: the last, shorter piece of a span says nothing about the limit of the endpoint', () => {
		expect(afterAnswer(startSpanSize(bounds), 3, 1, bounds)).toEqual(startSpanSize(bounds))
	})

	test('a span that is refused is followed by a smaller one, of at least one block, whatever the limit', () => {
		fc.assert(
			fc.property(
				fc.integer({ min: 1, max: 10_000 }),
				fc.option(fc.integer({ min: -5, max: 20_000 })),
				(asked, limit) => {
					const { blocks } = afterRefusal({ blocks: asked, limit: null, streak: 0 }, asked, limit ?? undefined)
					expect(blocks).toBeGreaterThanOrEqual(1)
					if (asked > 1) expect(blocks).toBeLessThan(asked)
				},
			),
		)
	})
})
