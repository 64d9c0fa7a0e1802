import { describe, expect, test } from 'vitest'
import { type EnrolmentBasis, enrolmentSteps, isCovered, isInBackfill } from '../../../src/core/matching/coverage.js'
import type { Coverage, WatchIndex } from '../../../src/model/watch.js'
import { address, indexOf, watch } from '../build.js'

const a = address(1)
const b = address(2)
const roll = (part: Partial<EnrolmentBasis> = {}): EnrolmentBasis => ({
	covered: new Map(),
	backfills: [],
	checkpoint: 100n,
	head: 105n,
	...part,
})
const coverage = (part: Partial<Coverage> = {}): Coverage => ({
	since: 50n,
	from: 50n,
	leftAt: null,
	missed: [],
	...part,
})
function enrolment(basis: EnrolmentBasis, watches: WatchIndex) {
	const steps = enrolmentSteps(basis, watches)
	for (;;) {
		const step = steps.next()
		if (step.done === true) return step.value
	}
}
const spans = (change: ReturnType<typeof enrolment>) =>
	change?.backfills?.map(({ span, addresses }) => [Number(span.from), Number(span.to), ...addresses]) ?? null

describe('enrolment', () => {
	test('a new watch is covered after the head at which it is first seen', () => {
		const change = enrolment(roll(), indexOf(watch()))
		expect(change?.covered.get(a)).toEqual(coverage({ since: 106n, from: 106n }))
		expect(change?.backfills).toBeNull()
	})

	test('args: from_block before the checkpoint makes a backfill, for that address alone', () => {
		const change = enrolment(roll(), indexOf(watch({ fromBlock: 20n }), watch({ address: b })))
		expect(spans(change)).toEqual([[20, 100, a]])
		expect(change?.covered.get(b)?.from).toBe(106n)
	})

	test('args: from_block 0 begins at block 1, since no node traces the genesis', () => {
		expect(spans(enrolment(roll(), indexOf(watch({ fromBlock: 0n }))))).toEqual([[1, 100, a]])
	})

	test('args: from_block after the head, lowered later, makes a backfill of the blocks that it left out', () => {
		const covered = enrolment(roll(), indexOf(watch({ fromBlock: 900n })))?.covered ?? new Map()
		const later = roll({ covered, checkpoint: 300n, head: 300n })
		expect(spans(enrolment(later, indexOf(watch({ fromBlock: 200n }))))).toEqual([[200, 300, a]])
		expect(spans(enrolment(later, indexOf(watch())))).toEqual([[106, 300, a]])
	})

	test('args: from_block after the head on one of two watches: the address is covered at once', () => {
		const change = enrolment(roll(), indexOf(watch({ fromBlock: 900n }), watch()))
		expect(change?.covered.get(a)).toEqual(coverage({ since: 106n, from: 106n }))
	})

	test('args: from_block between checkpoint and head needs no backfill', () => {
		const change = enrolment(roll(), indexOf(watch({ fromBlock: 103n })))
		expect(change?.covered.get(a)).toEqual(coverage({ since: 106n, from: 103n }))
		expect(change?.backfills).toBeNull()
	})

	test('behavior: addresses with the same span share a backfill', () => {
		const watches = indexOf(watch({ fromBlock: 20n }), watch({ address: b, fromBlock: 20n }))
		expect(spans(enrolment(roll(), watches))).toEqual([[20, 100, a, b]])
	})

	test('behavior: first blocks that are about as far back share a backfill from the earliest', () => {
		const watches = indexOf(
			watch({ fromBlock: 40n }),
			watch({ address: b, fromBlock: 50n }),
			watch({ address: address(3), fromBlock: 99n }),
		)
		expect(spans(enrolment(roll(), watches))).toEqual([
			[40, 100, a, b],
			[99, 100, address(3)],
		])
	})

	test('behavior: a thousand different first blocks make a few backfills', () => {
		const watches = indexOf(
			...Array.from({ length: 1000 }, (_, n) => watch({ address: address(n + 1), fromBlock: BigInt(n + 1) })),
		)
		const change = enrolment(roll({ checkpoint: 1_000_000n, head: 1_000_000n }), watches)
		expect(change?.backfills?.length).toBeLessThan(25)
	})

	test('behavior: the same watch again changes nothing', () => {
		expect(enrolment(roll({ covered: new Map([[a, coverage()]]) }), indexOf(watch()))).toBeNull()
	})

	test('behavior: a renamed file, a moved watch or a new label changes nothing', () => {
		const moved = watch({ watchlist: 'other.yaml', label: 'new', fromBlock: 50n })
		expect(enrolment(roll({ covered: new Map([[a, coverage()]]) }), indexOf(moved))).toBeNull()
	})

	test('behavior: an earlier from_block adds only the blocks before', () => {
		const change = enrolment(roll({ covered: new Map([[a, coverage()]]) }), indexOf(watch({ fromBlock: 30n })))
		expect(spans(change)).toEqual([[30, 49, a]])
		expect(change?.covered.get(a)?.from).toBe(30n)
	})

	test('behavior: a watch that left and comes back is given what it missed', () => {
		const gone = enrolment(roll({ covered: new Map([[a, coverage()]]) }), indexOf())
		expect(gone?.covered.get(a)?.leftAt).toBe(100n)
		const back = enrolment(roll({ covered: new Map(gone?.covered), checkpoint: 120n, head: 121n }), indexOf(watch()))
		expect(spans(back)).toEqual([[101, 120, a]])
		expect(back?.covered.get(a)).toEqual(coverage())
	})

	test('behavior: a watch that leaves amid its backfill is owed the rest, and the others continue', () => {
		const backfills = [{ id: 'j', span: { from: 40n, to: 90n }, addresses: [a, b] }]
		const covered = new Map([
			[a, coverage({ from: 20n })],
			[b, coverage({ from: 20n })],
		])
		const gone = enrolment(roll({ covered, backfills }), indexOf(watch({ address: b, fromBlock: 20n })))
		expect(spans(gone)).toEqual([[40, 90, b]])
		expect(gone?.covered.get(a)?.missed).toEqual([{ from: 40n, to: 90n }])
		const back = enrolment(
			roll({ covered: new Map([...covered, ...(gone?.covered ?? [])]), backfills: gone?.backfills ?? [] }),
			indexOf(watch({ fromBlock: 20n }), watch({ address: b, fromBlock: 20n })),
		)
		expect(spans(back)).toEqual([
			[40, 90, b],
			[40, 90, a],
		])
	})
})

describe('isCovered', () => {
	test.each([
		[null, 49n, false],
		[null, 50n, true],
		[30n, 30n, true],
		[30n, 29n, false],
		[70n, 60n, false],
	] as const)('args: from_block %s, block %s -> %s', (fromBlock, number, expected) => {
		expect(isCovered(watch({ fromBlock }), coverage(), number)).toBe(expected)
	})

	test('behavior: without a cover nothing is reported', () => {
		expect(isCovered(watch({ fromBlock: 1n }), undefined, 60n)).toBe(false)
	})
})

test('isOwed: blocks of a running backfill are left to it', () => {
	const backfills = [{ span: { from: 10n, to: 20n }, addresses: new Set([a]) }]
	expect([9n, 10n, 20n, 21n].map((n) => isInBackfill(a, n, backfills))).toEqual([false, true, true, false])
	expect(isInBackfill(b, 15n, backfills)).toBe(false)
})
