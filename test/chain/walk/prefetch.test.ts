import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPrefetch } from '../../../src/chain/walk/prefetch.js'
import type { Part, Span } from '../../../src/model/chain.js'

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
	readonly waitMs?: number
	readonly moreMs?: (piece: Span, waitedMs: number) => number
}

function open({ read = async (piece) => piece, width = 3, blocks = 10, waitMs = 1, moreMs }: Setting = {}) {
	let nowMs = 0
	const asked: string[] = []
	const prefetch = createPrefetch({
		async readFirst(piece, _addresses, signal) {
			asked.push(`${piece.from}-${piece.to}`)
			return partOf(await read(piece, signal))
		},
		width: () => width,
		blocks: () => blocks,
		clock: () => nowMs,
		...(moreMs !== undefined && { waitMs: () => waitMs, moreMs }),
	})
	return { prefetch, asked, pass: (ms: number) => (nowMs += ms) }
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
	test('behavior: a block that takes long is waited for as long as it is announced, and requested once', async () => {
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

	test('error: a block that stops coming is given up', async () => {
		const { prefetch } = open({
			read: () => new Promise(() => undefined),
			moreMs: (_, waitedMs) => (waitedMs < 3 ? 1 : 0),
		})
		await expect(take(prefetch.walk(span(1, 1), addresses, never))).rejects.toThrow(
			'block 1 could not be read within 0.003 s',
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

	test('behavior: a walk taken up again and again leaves one listener, on the signal of the last', async () => {
		const prefetch = createPrefetch({
			readFirst: async ({ from, to }) => partOf({ from, to: from < to ? from : to }),
			width: () => 1,
			blocks: () => 1,
			clock: () => 0,
		})
		const [{ signal }, other] = [new AbortController(), new AbortController()]
		for (let next = 1; next <= 50; next++) await take(prefetch.walk(span(next, 60), addresses, signal), 1)
		expect(getEventListeners(signal, 'abort')).toHaveLength(1)
		await take(prefetch.walk(span(51, 60), addresses, other.signal), 1)
		expect(getEventListeners(signal, 'abort')).toHaveLength(0)
		expect(getEventListeners(other.signal, 'abort')).toHaveLength(1)
		await take(prefetch.walk(span(52, 60), addresses, signal))
		expect(getEventListeners(other.signal, 'abort')).toHaveLength(0)
		expect(getEventListeners(signal, 'abort')).toHaveLength(0)
	})

	test('default: spans requested ahead are taken by the next walk that comes to them', async () => {
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

	test('error: a request ahead that failed before the next walk is made again by it', async () => {
		let isDown = true
		const { prefetch, asked } = open({
			async read(piece) {
				if (isDown && piece.from > 10n) throw new Error('the head is 10')
				return piece
			},
		})
		expect(await take(prefetch.walk(span(1, 60), addresses, never), 1)).toEqual(['1-10'])
		await later(1)
		isDown = false
		expect(await take(prefetch.walk(span(11, 60), addresses, never))).toHaveLength(5)
		expect(asked.filter((piece) => piece === '11-20')).toHaveLength(2)
	})

	test.each([
		['a walk from elsewhere', span(51, 60), addresses, 0],
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

	/** Of pieces, those that hold these blocks are never answered; `all`: whatever is asked, till it is let go of. */
	function hanging(numbers: readonly number[]) {
		const ended: string[] = []
		const read = (piece: Span, signal: AbortSignal) => {
			if (piece.from === piece.to) return Promise.resolve(piece)
			if (!numbers.some((number) => piece.from <= number && number <= piece.to)) return Promise.resolve(piece)
			return new Promise<Span>((_, reject) => {
				signal.addEventListener('abort', () => {
					ended.push(`${piece.from}-${piece.to}`)
					reject(signal.reason)
				})
			})
		}
		return { read, ended }
	}

	const aloneTo = (last: bigint) => (from: bigint) => (from <= last ? 1 : null)

	test('behavior: blocks of slow spans are requested one by one, and later answers are still taken', async () => {
		const { read, ended } = hanging([2, 22])
		const { prefetch, asked } = open({ read, width: 4, blocks: 4, moreMs: () => 0 })
		await expect(take(prefetch.walk(span(1, 30), addresses, never))).rejects.toThrow('blocks 1 to 4')
		expect(asked).toEqual(['1-4', '5-8', '9-12', '13-16'])
		// The next walk takes the four before they are asked for alone, and meets no other before the 17th.
		const careful = { ...span(1, 30), atOnce: aloneTo(18n) }
		const taken = take(prefetch.walk(careful, addresses, never))
		await expect(taken).rejects.toThrow('blocks 19 to 22')
		expect(asked.slice(4)).toEqual(['1-1', '2-2', '3-3', '4-4', '17-17', '18-18', '19-22', '23-26', '27-30'])
		expect(ended).toEqual(['1-4'])
		const last = await take(prefetch.walk({ ...span(19, 30), atOnce: aloneTo(150n) }, addresses, never))
		expect(last).toEqual(['19-19', '20-20', '21-21', '22-22', '23-26', '27-30'])
		expect(ended).toEqual(['1-4', '19-22'])
	})

	test('behavior: blocks that are walked one by one are not requested before their turn', async () => {
		const { prefetch, asked } = open()
		const careful = { ...span(1, 30), atOnce: aloneTo(3n) }
		prefetch.expect(careful, addresses, never)
		expect(asked).toEqual(['1-1'])
		const turns: string[][] = []
		for await (const _ of prefetch.walk(careful, addresses, never)) turns.push([...asked])
		expect(turns.slice(0, 2)).toEqual([['1-1'], ['1-1', '2-2']])
		expect(turns[2]).toEqual(['1-1', '2-2', '3-3', '4-13', '14-23', '24-30'])
	})

	test('behavior: an abort ends what is under way; the next walk takes what has come, past a block too', async () => {
		const { read, ended } = hanging([1, 9])
		const { prefetch, asked } = open({ read, width: 4, blocks: 4, moreMs: () => 0 })
		const left = new AbortController()
		await expect(take(prefetch.walk(span(1, 24), addresses, left.signal))).rejects.toThrow('blocks 1 to 4')
		left.abort()
		expect(ended).toEqual(['1-4', '9-12'])
		const passed = await take(prefetch.walk({ ...span(2, 24), atOnce: aloneTo(12n) }, addresses, never))
		expect(passed).toEqual(['2-2', '3-3', '4-4', '5-8', '9-9', '10-10', '11-11', '12-12', '13-16', '17-20', '21-24'])
		expect(asked.filter((piece) => piece === '5-8' || piece === '13-16')).toHaveLength(2)
	})

	test('property: however it is left and gone on with, every block comes once and in order', async () => {
		const step = fc.record({
			count: fc.integer({ min: 1, max: 4 }),
			singly: fc.option(fc.integer({ min: 0, max: 60 })),
			isLeft: fc.boolean(),
			skip: fc.nat(2),
		})
		await fc.assert(
			fc.asyncProperty(
				fc.array(step, { minLength: 1, maxLength: 12 }),
				fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 20 }),
				fc.integer({ min: 1, max: 6 }),
				async (steps, script, width) => {
					let at = 0
					const { prefetch } = open({
						width,
						async read({ from, to }, signal) {
							const [ms, length] = script[at++ % script.length] as [number, number]
							for (let passed = 0; passed < ms; passed++) await later(0)
							signal.throwIfAborted()
							const end = from + BigInt(length) - 1n
							return { from, to: end < to ? end : to }
						},
					})
					let next = 1n
					for (let walks = 0; next <= 60n; walks++) {
						const { count, singly, isLeft, skip } = steps[walks % steps.length] as (typeof steps)[number]
						const left = new AbortController()
						let taken = 0
						const whole = { from: next, to: 60n, atOnce: aloneTo(BigInt(singly ?? 0)) }
						for await (const part of prefetch.walk(whole, addresses, left.signal)) {
							expect(part.span.from).toBe(next)
							next = part.span.to + 1n
							if (++taken === count) break
						}
						if (isLeft) left.abort()
						next += BigInt(skip)
					}
				},
			),
			{ numRuns: 20 },
		)
	})

	test('behavior: a span that is expected is requested before the walk, and once', async () => {
		const { prefetch, asked } = open()
		prefetch.expect(span(1, 30), addresses, never)
		expect(asked).toEqual(['1-10', '11-20', '21-30'])
		expect(await take(prefetch.walk(span(1, 30), addresses, never))).toHaveLength(3)
		expect(asked).toHaveLength(3)
	})

	test('behavior: a span that was forgotten is requested anew, unless nothing after the block was read', async () => {
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
