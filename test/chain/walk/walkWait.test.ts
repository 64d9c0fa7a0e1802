import { expect, test } from 'vitest'
import { moreOf } from '../../../src/chain/walk/walkWait.js'

const wait = { oneMs: 4_000, firstMs: 1, severalMs: 1, eachMs: 1, longestMs: 25_000 }
const one = { from: 7n, to: 7n }

/** How long ago the answer went on coming, how long was waited, and how much longer it is waited for. */
const cases: Readonly<Record<string, readonly [sinceMs: number, waitedMs: number, moreMs: number]>> = {
	'default: nothing large is coming': [Number.POSITIVE_INFINITY, 4_000, 0],
	'default: it continues coming': [1_000, 4_000, 3_000],
	'behavior: it has stopped to come': [4_000, 4_000, 0],
	'behavior: it comes for very long': [0, 25_000, 0],
}

test.each(Object.entries(cases))('%s', (_, [sinceMs, waitedMs, moreMs]) => {
	expect(moreOf({ ...wait, sinceProgressMs: () => sinceMs })(one, waitedMs)).toBe(moreMs)
})

test('behavior: where another endpoint could be asked, and of several blocks, no longer', () => {
	expect(moreOf(wait)(one, 4_000)).toBe(0)
	expect(moreOf({ ...wait, sinceProgressMs: () => 0 })({ from: 7n, to: 8n }, 4_000)).toBe(0)
})
