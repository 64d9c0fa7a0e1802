import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPrefetch } from '../../src/chain/prefetch.js'
import type { Part, Span } from '../../src/model/chain.js'

const never = new AbortController().signal
const addresses = new Set<`0x${string}`>(['0x1'])
const span = (from: number, to: number): Span => ({ from: BigInt(from), to: BigInt(to) })
const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function partOf({ from, to }: Span): Part {
	const last = { number: to, hash: `0x${to}`, parentHash: '0x', timestampS: 0n, txHashes: [] } as const
	return { span: { from, to }, last, blocks: new Map(), transactions: [] }
}

interface Setting {
	/** What the endpoint makes of a piece; default: all of it, at once. */
	readonly read?: (piece: Span, signal: AbortSignal) => Promise<Span>
	readonly width?: number
	readonly blocks?: number
	readonly moreMs?: (piece: Span, waitedMs: number) => number
}

function open({ read = async (piece) => piece, width = 3, blocks = 10, moreMs }: Setting = {}) {
	let nowMs = 0
	const asked: string[] = []
	let underWay = 0
	let most = 0
	const prefetch = createPrefetch({
		async readFirst(piece, _addresses, signal) {
			asked.push(`${piece.from}-${piece.to}`)
			most = Math.max(most, ++underWay)
			try {
				return partOf(await read(piece, signal))
			} finally {
				underWay -= 1
			}
		},
		width: () => width,
		blocks: () => blocks,
		clock: () => nowMs,
		...(moreMs !== undefined && { waitMs: () => 1, moreMs }),
	})
	return { prefetch, asked, most: () => most, pass: (ms: number) => (nowMs += ms) }
}

async function take(parts: AsyncGenerator<Part>, count = Number.POSITIVE_INFINITY): Promise<string[]> {
	const taken: string[] = []
	for await (const part of parts) {
		taken.push(`${part.span.from}-${part.span.to}`)
		if (taken.length >= count) break
	}
	return taken
}

describe('a walk', () => {
	test('behavior: what takes too long is waited for as long as it is said to come, and asked for once', async () => {
		let come = () => {}
		const coming = new Promise<void>((resolve) => {
			come = resolve
		})
		const waited: number[] = []
		const { prefetch, asked } = open({
			async read(piece) {
				await coming
				return piece
			},
			moreMs(_piece, waitedMs) {
				waited.push(waitedMs)
				if (waited.length === 3) come()
				return 2
			},
		})
		expect(await take(prefetch.walk(span(1, 10), addresses, never))).toEqual(['1-10'])
		expect(asked).toEqual(['1-10'])
		expect(waited.slice(0, 3)).toEqual([1, 3, 5])
	})

	test('error: what comes no more is waited for no longer', async () => {
		const { prefetch } = open({
			read: () => new Promise(() => undefined),
			moreMs: (_, waitedMs) => (waitedMs < 3 ? 1 : 0),
		})
		await expect(take(prefetch.walk(span(1, 1), addresses, never))).rejects.toThrow(
			'block 1 could not be read within 0.003 s',
		)
	})

	test('property: whatever comes first and however short, every block comes once and in order', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 30 }),
				fc.integer({ min: 1, max: 6 }),
				async (script, width) => {
					let at = 0
					const { prefetch, most } = open({
						width,
						async read({ from, to }) {
							const [ms, length] = script[at++ % script.length] as [number, number]
							await later(ms)
							const end = from + BigInt(length) - 1n
							return { from, to: end < to ? end : to }
						},
					})
					let next = 1n
					for await (const { span } of prefetch.walk({ from: 1n, to: 60n }, addresses, never)) {
						expect(span.from).toBe(next)
						next = span.to + 1n
					}
					expect(next).toBe(61n)
					expect(most()).toBeLessThanOrEqual(width)
				},
			),
			{ numRuns: 30 },
		)
	})

	test('property: failures and a width that changes leave no gap: walks end at their end, or throw', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 30 }),
				fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 10 }),
				async (script, widths) => {
					let at = 0
					let asked = 0
					let failures = 40
					const prefetch = createPrefetch({
						async readFirst({ from, to }) {
							const [fails, length] = script[at++ % script.length] as [boolean, number]
							await later(0)
							if (fails && failures-- > 0) throw new Error('in passing')
							const end = from + BigInt(length) - 1n
							return partOf({ from, to: end < to ? end : to })
						},
						width: () => widths[asked++ % widths.length] as number,
						blocks: () => 10,
						clock: () => 0,
					})
					let next = 1n
					for (let walks = 0; next <= 60n; walks++) {
						expect(walks, 'it gets on').toBeLessThanOrEqual(41)
						const begunAt = next
						let failed = false
						try {
							for await (const { span } of prefetch.walk({ from: begunAt, to: 60n }, addresses, never)) {
								expect(span.from).toBe(next)
								next = span.to + 1n
							}
						} catch (error) {
							if ((error as Error).message !== 'in passing') throw error
							failed = true
						}
						expect(failed || next === 61n, 'a walk that does not throw has come to its end').toBe(true)
					}
				},
			),
			{ numRuns: 60 },
		)
	})

	test("behavior: a walk taken up again and again leaves one listener on the program's signal", async () => {
		const prefetch = createPrefetch({
			readFirst: async ({ from, to }) => partOf({ from, to: from < to ? from : to }),
			width: () => 1,
			blocks: () => 1,
			clock: () => 0,
		})
		const { signal } = new AbortController()
		for (let next = 1; next <= 50; next++) await take(prefetch.walk(span(next, 60), addresses, signal), 1)
		expect(getEventListeners(signal, 'abort')).toHaveLength(1)
	})

	test('default: what was asked ahead is taken by the next walk that comes to it', async () => {
		const { prefetch, asked } = open()
		expect(await take(prefetch.walk(span(1, 60), addresses, never), 2)).toEqual(['1-10', '11-20'])
		expect(await take(prefetch.walk(span(21, 80), addresses, never))).toHaveLength(6)
		expect(asked.toSorted()).toEqual(['1-10', '11-20', '21-30', '31-40', '41-50', '51-60', '61-70', '71-80'])
	})

	test('behavior: also when another walk came in between', async () => {
		const { prefetch, asked } = open()
		await take(prefetch.walk(span(1, 60), addresses, never), 1)
		await take(prefetch.walk(span(900, 905), new Set(), never))
		await take(prefetch.walk(span(11, 60), addresses, never))
		expect(asked.filter((piece) => piece !== '900-905')).toHaveLength(6)
	})

	test('error: a failure comes in its turn, and only what failed is asked again', async () => {
		let failures = 1
		const { prefetch, asked } = open({
			async read(piece) {
				if (piece.from === 21n && failures-- > 0) throw new Error('the third')
				return piece
			},
		})
		const taken: bigint[] = []
		const first = async () => {
			for await (const part of prefetch.walk(span(1, 60), addresses, never)) taken.push(part.span.to)
		}
		await expect(first()).rejects.toThrow('the third')
		expect(taken).toEqual([10n, 20n])
		expect(await take(prefetch.walk(span(21, 60), addresses, never))).toHaveLength(4)
		expect(asked.filter((piece) => piece === '21-30')).toHaveLength(2)
		expect(new Set(asked).size).toBe(asked.length - 1)
	})

	test.each([
		['a walk from elsewhere', span(31, 60), addresses, 0],
		['a walk for other addresses', span(11, 60), new Set<`0x${string}`>(['0x2']), 0],
		['a walk that ends before', span(11, 25), addresses, 0],
		['a walk much later', span(11, 60), addresses, 60_001],
	])('behavior: %s asks anew', async (_name, next, whose, passMs) => {
		const { prefetch, asked, pass } = open()
		await take(prefetch.walk(span(1, 60), addresses, never), 1)
		const before = asked.length
		pass(passMs)
		const [first] = await take(prefetch.walk(next, whose, never), 1)
		expect(first?.startsWith(`${next.from}-`)).toBe(true)
		expect(asked[before]?.startsWith(`${next.from}-`)).toBe(true)
	})

	test('behavior: what is expected is under way before it is walked, and asked once', async () => {
		const { prefetch, asked } = open()
		prefetch.expect(span(1, 30), addresses, never)
		expect(asked).toEqual(['1-10', '11-20', '21-30'])
		expect(await take(prefetch.walk(span(1, 30), addresses, never))).toHaveLength(3)
		expect(asked).toHaveLength(3)
	})

	test('behavior: what is forgotten is asked for anew, unless nothing after the block was read', async () => {
		for (const [after, asked] of [
			[20n, ['1-10', '11-20']],
			[19n, ['1-10', '11-20', '11-20']],
			[null, ['1-10', '11-20', '11-20']],
		] as const) {
			const bench = open({ width: 2 })
			expect(await take(bench.prefetch.walk(span(1, 20), addresses, never), 1)).toEqual(['1-10'])
			bench.prefetch.forget(after)
			expect(await take(bench.prefetch.walk(span(11, 20), addresses, never))).toEqual(['11-20'])
			expect(bench.asked, String(after)).toEqual(asked)
		}
	})

	test('error: an abort ends what is under way with its reason, and nothing is kept', async () => {
		const stop = new AbortController()
		const hang = (_piece: Span, signal: AbortSignal) =>
			new Promise<Span>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
		const { prefetch, asked } = open({ read: hang })
		const walking = take(prefetch.walk(span(1, 60), addresses, stop.signal))
		await later(1)
		stop.abort(new Error('enough'))
		await expect(walking).rejects.toThrow('enough')
		expect(asked).toHaveLength(3)
	})
})
