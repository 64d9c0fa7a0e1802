import { describe, expect, test } from 'vitest'
import { type Anchors, imitations, type Payees, withPayee } from '../../../src/core/matching/lookalike.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Payee } from '../../../src/model/state.js'
import { createChance } from '../../support/chance.js'
import { describeOnce, sized, testOnce } from '../../support/longRun.js'
import { address } from '../build.js'

const paid: Address = `0x1234567${'0'.repeat(26)}abcdef9`
/** As `paid`, with so many digits at the front and at the end, and others between. */
const like = (prefix: number, suffix: number): Address =>
	`${paid.slice(0, 2 + prefix)}${'e'.repeat(40 - prefix - suffix)}${paid.slice(42 - suffix)}` as Address
const anchors = (amount = '100', part: Partial<Anchors> = {}): Anchors => ({
	payees: [{ address: paid, amount }],
	watched: [],
	...part,
})

describe('addresses that are marked as look-alikes of a payee, and addresses that are not', () => {
	test.each([
		['the same digits, four and four', like(4, 4), '5', { prefix: 4, suffix: 4 }],
		['more of them', like(6, 7), '5', { prefix: 6, suffix: 7 }],
		['three and four, another amount', like(3, 4), '5', null],
		['three and four, nothing moved', like(3, 4), '0', { prefix: 3, suffix: 4 }],
		['three and four, the amount that was paid', like(3, 4), '100', { prefix: 3, suffix: 4 }],
		['three and four, an amount that nobody knows', like(3, 4), null, null],
		['four and three', like(4, 3), '0', null],
		['two and four', like(2, 4), '0', null],
		['the end alone', like(0, 12), '0', null],
		['the payee itself', paid, '0', null],
	])('%s', (_, candidate, amount, expected) => {
		const [found] = imitations(candidate, amount, anchors())
		expect(found === undefined ? null : { prefix: found.prefix, suffix: found.suffix }).toEqual(expected)
	})

	testOnce('behavior: another watch, by the stronger rule alone', () => {
		const watched = { payees: [], watched: [paid] }
		expect(imitations(like(4, 5), '0', watched)).toEqual([{ of: paid, isPaid: false, prefix: 4, suffix: 5 }])
		expect(imitations(like(3, 4), '0', watched)).toEqual([])
		expect(imitations(paid, '0', { payees: [{ address: like(5, 5), amount: '1' }], watched: [paid] })).toEqual([])
	})

	testOnce('behavior: the nearest comes first', () => {
		const near = like(5, 9)
		const found = imitations(like(5, 6), '1', { payees: [{ address: paid, amount: '1' }], watched: [near] })
		expect(found.map(({ of }) => of)).toEqual([near, paid])
	})
})

test('behavior: random addresses are marked less than once in a million, with 1,000 payees and nothing moved', () => {
	const chance = createChance(20_261_121)
	const digits = () =>
		Array.from({ length: 5 }, () =>
			chance
				.number(2 ** 32)
				.toString(16)
				.padStart(8, '0'),
		).join('')
	const payees: Payee[] = Array.from({ length: 1_000 }, () => ({ address: `0x${digits()}`, amount: '1' }))
	// Worked out: seven digits must agree with one of 100 payees, eight with one of 900, or of 1,000 watches. The sum
	// is a bound; that two agree at once is rarer than rounding.
	const chanceOfOne = 100 / 16 ** 7 + (900 + 1_000) / 16 ** 8
	expect(chanceOfOne).toBeCloseTo(8.15e-7, 9)
	expect(chanceOfOne).toBeLessThan(1e-6)
	// And as it behaves: 3 digits at the front and 2 at the end are given away, so that two more at the end decide.
	let marked = 0
	const tries = sized(5_000, 40_000)
	for (let at = 0; at < tries; at++) {
		const { address: base } = payees[999 - (at % 200)] as Payee
		const own = digits()
		const candidate = `${base.slice(0, 5)}${own.slice(3, 38)}${base.slice(40)}` as Address
		if (imitations(candidate, '0', { payees, watched: [] }).length > 0) marked++
	}
	// Weak for the latest 100 (1 in 256), strong for the 100 before them (1 in 4,096).
	const expected = (tries / 2) * (1 / 256 + 1 / 4_096)
	expect(marked).toBeGreaterThan(expected * 0.5)
	expect(marked).toBeLessThan(expected * 1.5)
})

describeOnce('payees that are remembered', () => {
	const payee = (n: number, amount = '1'): Payee => ({ address: address(n), amount })

	test('default: the latest last, each once, with the last amount', () => {
		const watch = address(1)
		let all: Payees = new Map()
		for (const one of [payee(10), payee(11), payee(10, '2')]) {
			const list = withPayee(all, watch, one)
			if (list !== null) all = new Map([...all, [watch, list]])
		}
		expect(all.get(watch)).toEqual([payee(11), payee(10, '2')])
		expect(withPayee(all, watch, payee(10, '2'))).toBeNull()
	})

	test('behavior: bounded, for a watch and for all of them', () => {
		const all = new Map<Address, readonly Payee[]>()
		const add = (watch: Address, one: Payee) => {
			const list = withPayee(all, watch, one)
			if (list !== null) all.set(watch, list)
		}
		for (let n = 0; n < 1_500; n++) add(address(1), payee(10_000 + n))
		expect(all.get(address(1))).toHaveLength(1_000)
		expect(all.get(address(1))?.at(-1)).toEqual(payee(11_499))
		// As many as 750 watches come to have; then the room of all is used up, and each has its least.
		const dozen = Array.from({ length: 12 }, (_, n) => payee(10_000 + n))
		for (let watch = 2; watch < 752; watch++) all.set(address(watch), dozen)
		for (let watch = 752; watch < 1_050; watch++) for (const one of dozen) add(address(watch), one)
		expect(all.get(address(800))).toHaveLength(10)
		expect(all.size).toBe(1_000)
		const total = [...all.values()].reduce((sum, list) => sum + list.length, 0)
		expect(all.get(address(1_049))).toBeUndefined()
		expect(total).toBeLessThanOrEqual(20_000)
	})
})

describeOnce('payees by the sender that started the payment', () => {
	const startedBy = (who: Payee['startedBy'], n: number, amount = '1'): Payee => ({
		address: address(n),
		amount,
		...(who && { startedBy: who }),
	})
	const numbers = (list: readonly Payee[] | null | undefined) => list?.map((one) => Number(BigInt(one.address)))
	const filled = (lists: Iterable<readonly [Address, readonly Payee[]]>): Payees => new Map(lists)
	/** Adds one after the other, as the ledger does. */
	const after = (all: Payees, watch: Address, payees: readonly Payee[]): Payees => {
		const now = new Map(all)
		for (const one of payees) {
			const list = withPayee(now, watch, one)
			if (list !== null) now.set(watch, list)
		}
		return now
	}
	const range = (from: number, length: number) => Array.from({ length }, (_, at) => from + at)

	test('behavior: strangers push out no one whom the watch paid itself, however many they are', () => {
		const [watch, contract] = [address(1), address(2)]
		const mine = range(100, 30).map((n) => startedBy('watch', n))
		let all = after(new Map(), watch, mine)
		all = after(
			all,
			watch,
			range(1_000, 1_200).map((n) => startedBy('other', n)),
		)
		expect(all.get(watch)).toHaveLength(1_000)
		expect(all.get(watch)?.slice(-30)).toEqual(mine)
		// Nor by filling what a network has room for, through contracts that are watched.
		for (const n of range(10, 12))
			all = after(
				all,
				address(n),
				range(5_000, 1_000).map((one) => startedBy('other', one)),
			)
		all = after(all, contract, [startedBy('other', 9_000)])
		all = after(
			all,
			watch,
			range(200, 400).map((n) => startedBy('watch', n)),
		)
		expect(numbers(all.get(watch)?.slice(-430))).toEqual([...range(100, 30), ...range(200, 400)])
		// And with a thousand lists of theirs a watch still gets one of its own.
		const many = filled(range(10_000, 1_000).map((n) => [address(n), [startedBy('other', 1)]]))
		expect(numbers(withPayee(many, watch, startedBy('watch', 7)))).toEqual([7])
		expect(withPayee(many, watch, startedBy('other', 7))).toBeNull()
	})

	test('behavior: where all room is the own ones’, others find none', () => {
		const watch = address(1)
		const all = after(
			new Map(),
			watch,
			range(100, 1_000).map((n) => startedBy('watch', n)),
		)
		expect(withPayee(all, watch, startedBy('other', 7))).toBeNull()
		expect(numbers(withPayee(all, watch, startedBy('watch', 7)))).toEqual([...range(101, 999), 7])
	})

	test('behavior: a payee of the watch stays one when others pay it; a payee of others becomes one', () => {
		const watch = address(1)
		const all = after(new Map(), watch, [startedBy('watch', 5, '2'), startedBy('other', 6), startedBy(undefined, 8)])
		expect(withPayee(all, watch, startedBy('other', 5, '9'))).toBeNull()
		expect(withPayee(all, watch, startedBy('watch', 6))).toEqual([
			startedBy(undefined, 8),
			startedBy('watch', 5, '2'),
			startedBy('watch', 6),
		])
		expect(withPayee(all, watch, startedBy('watch', 8))?.at(-1)).toEqual(startedBy('watch', 8))
	})

	test('behavior: whom others had paid is checked against those whom the watch chose, and against watches', () => {
		const planted: Payee = { address: like(5, 5), amount: '1', startedBy: 'other' }
		const mine: Payee = { address: paid, amount: '100', startedBy: 'watch' }
		const found = (candidate: Address, part: Partial<Anchors>) =>
			imitations(candidate, '1', { payees: [], watched: [], ...part }).map(({ of }) => of)
		expect(found(planted.address, { payees: [planted, mine] })).toEqual([paid])
		expect(found(planted.address, { payees: [planted], watched: [paid] })).toEqual([paid])
		// The real one is never said to imitate what was planted.
		expect(found(paid, { payees: [planted, mine] })).toEqual([])
		// A third is said to imitate the real one, although what was planted is nearer.
		expect(found(like(4, 4), { payees: [{ ...planted, address: like(6, 6) }, mine] })).toEqual([paid, like(6, 6)])
		// Not known by whom: one that was paid imitates no one.
		const old: Payee = { address: like(5, 5), amount: '1' }
		expect(found(old.address, { payees: [old, mine] })).toEqual([])
	})
})
