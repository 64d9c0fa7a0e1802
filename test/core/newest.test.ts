import { expect, test } from 'vitest'
import { newestOf } from '../../src/core/newest.js'

test.each([
	[0n, 1n, 0n],
	[0n, 1_000n, 0n],
	[5n, 1_005n, 5n],
	[5n, 1_005n, 1_004n],
	[5n, 10n ** 12n, 77n],
	[100n, 103n, 101n],
])('default: from %i to %i, the newest is %i', async (from, to, newest) => {
	const asked: bigint[] = []
	const found = await newestOf({ from, to }, async (number) => {
		asked.push(number)
		return number <= newest
	})
	expect(found).toBe(newest)
	expect(asked.every((number) => number > from && number < to)).toBe(true)
	// The steps double, then the distance halves.
	expect(asked.length).toBeLessThanOrEqual(2 * (newest - from + 1n).toString(2).length)
})
