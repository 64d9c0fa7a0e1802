import { describe, expect, test } from 'vitest'
import { finalityOf, overdueMs, settleTargetOf, targetOf } from '../../src/core/target.js'
import type { Head } from '../../src/model/chain.js'
import { header } from './build.js'

const head = (part: Partial<Head> = {}): Head => ({ latest: header(100), safe: 90n, finalized: 60n, ...part })
const at = (number: number) => header(number, 1_700_000_000 + 12 * number)

describe('targetOf', () => {
	test.each([
		[0, 100n],
		[12, 88n],
		[200, 0n],
		['safe', 90n],
		['finalized', 60n],
	] as const)('args: confirmations %s -> %s', (confirmations, target) => {
		expect(targetOf(head(), confirmations)).toBe(target)
	})

	test('error: a tag that the node does not know', () => {
		expect(targetOf(head({ finalized: null }), 'finalized')).toBeNull()
	})
})

test("settleTargetOf: the node's word, else 64 blocks, else the depth that is set", () => {
	expect(settleTargetOf(head(), { settle: 'finalized' })).toBe(60n)
	expect(settleTargetOf(head({ finalized: null }), { settle: 'finalized' })).toBe(36n)
	expect(settleTargetOf(head(), { settle: 12 })).toBe(88n)
})

test('finalityOf', () => {
	expect([60n, 61n, 90n, 91n].map((number) => finalityOf(number, head()))).toEqual([
		'finalized',
		'safe',
		'safe',
		'latest',
	])
})

describe('overdueMs', () => {
	test('the newest block at its depth is not overdue, whatever the depth', () => {
		expect(overdueMs(at(100), 100n, at(100))).toBe(0)
		expect(overdueMs(at(88), 88n, at(100))).toBe(0)
	})

	test('behavior: each block below the target is overdue by the time between them', () => {
		expect(overdueMs(at(90), 100n, at(100))).toBe(120_000)
		expect(overdueMs(at(78), 88n, at(100))).toBe(120_000)
	})
})
