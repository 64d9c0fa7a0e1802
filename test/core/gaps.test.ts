// When a block that fails may be left out as a gap.
import { expect, test } from 'vitest'
import { lackingGap, mayOpen } from '../../src/core/gaps.js'
import type { ClientOutcome } from '../../src/model/chain.js'
import type { Gap } from '../../src/model/state.js'
import { blockRef } from './build.js'

const fails: ClientOutcome = { client: 'node', result: 'fails', why: 'a bad block', afterGood: true }
const unanswered: ClientOutcome = { client: 'other', result: 'unanswered', why: 'no answer' }

function suspect(part: Partial<Gap>): Gap {
	const usual = { addresses: null, tries: 3, sinceMs: 0, isAfterGood: true, openedAtMs: null, reason: '' }
	return { block: blockRef(100), ...usual, ...part }
}

test.each<readonly [string, Partial<Gap>, readonly ClientOutcome[], number, boolean]>([
	['3 tries in 10 s', {}, [fails], 10_000, true],
	['2 tries in 10 s', { tries: 2 }, [fails], 10_000, false],
	['3 tries in less than 10 s', {}, [fails], 9_999, false],
	['an endpoint without an answer for less than 25 s', {}, [fails, unanswered], 24_999, false],
	['an endpoint without an answer for 25 s', {}, [fails, unanswered], 25_000, true],
	['no source that gave a block around it, for 25 s', { isAfterGood: false }, [fails], 25_000, false],
])('args: %s', (_, part, round, nowMs, may) => {
	expect(mayOpen(suspect(part), round, new Set(), nowMs)).toBe(may)
})

test.each([
	[36n, true, true],
	[35n, true, false],
	[36n, false, false],
])('args: a first failure after a gap at block %s, a good block around it: %s -> %s', (gap, isAfterGood, may) => {
	expect(mayOpen(suspect({ tries: 1, isAfterGood }), [fails], new Set([gap]), 0)).toBe(may)
})

test('behavior: a long reason ends with a sign that it was cut', () => {
	const unread = { txHash: `0x${'1'.repeat(64)}`, block: blockRef(100), why: 'x'.repeat(600) } as const
	const { reason } = lackingGap(null, suspect({}), [unread], 0)
	expect(reason).toMatch(/^transaction 0x1{64}: x{419}…$/)
})
