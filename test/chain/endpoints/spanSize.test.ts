import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterAnswer, afterRefusal, type Pace, startPace } from '../../../src/chain/endpoints/spanSize.js'

const bounds = { first: 100, most: 10_000 }

function answered(pace: Pace, times: number): Pace {
	let now = pace
	for (let turn = 0; turn < times; turn++) now = afterAnswer(now, now.blocks, 10, bounds)
	return now
}

describe('pace', () => {
	test('grows slowly with full answers, up to where growth ends', () => {
		expect(answered(startPace(bounds), 3).blocks).toBe(100)
		expect(answered(startPace(bounds), 4).blocks).toBe(150)
		expect(answered(startPace(bounds), 1_000).blocks).toBe(10_000)
	})

	test('behavior: a number that the node named is kept to', () => {
		const pace = afterRefusal(startPace(bounds), 100, 30)
		expect(pace.blocks).toBe(30)
		expect(answered(pace, 1_000).blocks).toBe(30)
	})

	test('behavior: without a number it is halved, and grows again only later', () => {
		const pace = afterRefusal(startPace(bounds), 100, undefined)
		expect(pace.blocks).toBe(50)
		expect(answered(pace, 15).blocks).toBe(50)
		expect(answered(pace, 16).blocks).toBe(75)
	})

	test('behavior: an answer of too many rows makes the next question smaller', () => {
		expect(afterAnswer(startPace(bounds), 100, 40_000, bounds).blocks).toBe(10)
		expect(afterAnswer(startPace(bounds), 100, 6_000_000, bounds).blocks).toBe(1)
	})

	test('behavior: the last, shorter piece of a span says nothing of what the endpoint bears', () => {
		expect(afterAnswer(startPace(bounds), 3, 1, bounds)).toEqual(startPace(bounds))
	})

	test('whatever is refused, less is asked for next, and at least one block', () => {
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
