import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effective, hasBlankEnd, judge, NO_ADDRESS } from '../../../src/core/events/effective.js'
import type { Frame } from '../../../src/model/chain.js'
import { address, frame, tx } from '../build.js'

const reasons = (frames: readonly Frame[], succeeded: boolean | null = true) =>
	judge(tx(frames, { succeeded })).map((verdict) => verdict.reason)

describe('judge', () => {
	test('a call with value moved it', () => {
		expect(reasons([frame({})])).toEqual(['moved'])
	})

	test.each(['delegatecall', 'callcode', 'staticcall'] as const)(
		'behavior: a %s moves nothing, whatever its value',
		(callType) => {
			expect(reasons([frame({ callType, valueWei: 5n })])).toEqual(['moves-nothing'])
		},
	)

	test('behavior: a creation counts with and without an endowment', () => {
		expect(
			reasons([frame({ type: 'create', valueWei: 0n }), frame({ type: 'create2', valueWei: 3n, traceAddress: [0] })]),
		).toEqual(['created', 'created'])
	})

	test('behavior: a creation that left no contract counts for nothing', () => {
		expect(reasons([frame({ type: 'create', to: null, valueWei: 3n })])).toEqual(['created-nothing'])
	})

	test('behavior: a self-destruct pays its heir; to itself it pays no one', () => {
		expect(
			reasons([
				frame({ from: address(9), to: address(1) }),
				frame({ type: 'suicide', traceAddress: [0] }),
				frame({ type: 'suicide', to: address(1), traceAddress: [1] }),
			]),
		).toEqual(['moved', 'moved', 'to-itself'])
	})

	test.each([
		['call', frame({ to: address(5) }), 'moved'],
		['staticcall', frame({ callType: 'staticcall', to: address(5) }), 'moved'],
		['delegatecall', frame({ callType: 'delegatecall', from: address(5), to: address(6) }), 'moved'],
		['callcode', frame({ callType: 'callcode', from: address(5), to: address(6) }), 'moved'],
		['create', frame({ type: 'create', to: address(5) }), 'moved'],
		['another call', frame({ to: address(6) }), 'not-its-own'],
		['delegatecall', frame({ callType: 'delegatecall', from: address(6), to: address(5) }), 'not-its-own'],
	] as const)('behavior: a self-destruct of 5 under a %s is %s', (_, parent, reason) => {
		const end = frame({ type: 'suicide', from: address(5), to: address(7), traceAddress: [0] })
		expect(reasons([parent, end])[1]).toBe(reason)
	})

	test('behavior: a call to itself still counts', () => {
		expect(reasons([frame({ to: address(1) })])).toEqual(['moved'])
	})

	test('behavior: a child of a failed frame counts for nothing, although it shows no error itself', () => {
		expect(
			reasons([
				frame({ valueWei: 0n }),
				frame({ traceAddress: [0], error: 'Reverted' }),
				frame({ traceAddress: [0, 0] }),
				frame({ traceAddress: [0, 0, 4], type: 'suicide' }),
				frame({ traceAddress: [1] }),
			]),
		).toEqual(['no-value', 'failed', 'failed-above', 'failed-above', 'moved'])
	})

	test('behavior: [1, 0] does not stand under a failed [0]', () => {
		expect(reasons([frame({}), frame({ traceAddress: [0], error: 'x' }), frame({ traceAddress: [1, 0] })])).toEqual([
			'moved',
			'failed',
			'moved',
		])
	})

	test('behavior: a receipt that says failed overrules a trace without errors', () => {
		expect(reasons([frame({})], false)).toEqual(['failed-transaction'])
		expect([...effective(tx([frame({})], { succeeded: false }))]).toEqual([])
	})

	test('behavior: a receipt that says nothing leaves it to the trace', () => {
		expect(reasons([frame({})], null)).toEqual(['moved'])
	})

	test('behavior: a reward counts when it is worth something', () => {
		const reward = { type: 'reward', from: null, rewardType: 'block' } as const
		expect(reasons([frame({ ...reward }), frame({ ...reward, valueWei: 0n })])).toEqual(['moved', 'no-value'])
	})

	test('property: failing a frame removes exactly its subtree', () => {
		const path = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 4 })
		fc.assert(
			fc.property(fc.uniqueArray(path, { selector: (p) => p.join('_'), maxLength: 12 }), fc.nat(), (paths, pick) => {
				const all = [[], ...paths.filter((p) => p.length > 0)]
				const failing = all[pick % all.length] ?? []
				const frames = all.map((traceAddress) =>
					frame({ traceAddress, error: traceAddress === failing ? 'Reverted' : null }),
				)
				const kept = [...effective(tx(frames))].map((one) => one.traceAddress)
				const isBelow = (p: readonly number[]) => failing.every((step, depth) => p[depth] === step)
				expect(kept).toEqual(all.filter((p) => !isBelow(p)))
			}),
		)
	})
})

test.each<readonly [string, Partial<Frame>, boolean]>([
	['without heir and amount', { to: null }, true],
	['whose heir is the zero address, of nothing', { to: NO_ADDRESS }, true],
	['that names an heir', { to: address(2) }, false],
	['that names an amount', { to: null, valueWei: 1n }, false],
	['that failed', { to: null, error: 'out of gas' }, false],
])('args: hasBlankEnd of a self-destruct %s', (_, part, isBlank) => {
	const end = frame({ type: 'suicide', valueWei: 0n, traceAddress: [0], ...part })
	expect(hasBlankEnd(tx([frame({}), end]))).toBe(isBlank)
	expect(hasBlankEnd(tx([frame({ error: 'reverted' }), end]))).toBe(false)
})
