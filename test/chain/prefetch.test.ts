import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inOrder, type Job } from '../../src/chain/prefetch.js'

const never = new AbortController().signal
const later = (turns: number) => new Promise<void>((resolve) => setTimeout(resolve, turns))

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
	const all: T[] = []
	for await (const one of source) all.push(one)
	return all
}

describe('inOrder', () => {
	test('property: whatever comes first, the results keep the order of their jobs', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.nat(4), { maxLength: 20 }),
				fc.integer({ min: 1, max: 6 }),
				async (delays, width) => {
					let most = 0
					let now = 0
					const jobs = delays.map(
						(delay, index): Job<number> =>
							async () => {
								most = Math.max(most, ++now)
								await later(delay)
								now--
								return index
							},
					)
					expect(await collect(inOrder(jobs.values(), { width: () => width, signal: never }))).toEqual([
						...delays.keys(),
					])
					expect(most).toBeLessThanOrEqual(width)
				},
			),
			{ numRuns: 40 },
		)
	})

	test('error: a failure is thrown in its turn, and what is under way is aborted', async () => {
		const aborted: number[] = []
		const jobs: Job<number>[] = [
			async () => 0,
			async () => {
				throw new Error('the second')
			},
			(signal) =>
				new Promise((_, reject) =>
					signal.addEventListener('abort', () => {
						aborted.push(2)
						reject(new Error('aborted'))
					}),
				),
		]
		const seen: number[] = []
		const run = async () => {
			for await (const one of inOrder(jobs.values(), { width: () => 3, signal: never })) seen.push(one)
		}
		await expect(run()).rejects.toThrow('the second')
		expect(seen).toEqual([0])
		expect(aborted).toEqual([2])
	})

	test('behavior: a caller that stops early leaves nothing running', async () => {
		let aborted = 0
		const hang: Job<number> = (signal) =>
			new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error(String(++aborted)))))
		const jobs: Job<number>[] = [async () => 1, hang, hang]
		for await (const _ of inOrder(jobs.values(), { width: () => 3, signal: never })) break
		expect(aborted).toBe(2)
	})

	test('behavior: jobs are taken only when there is room for them', async () => {
		let taken = 0
		function* jobs(): Generator<Job<number>> {
			for (; taken < 5; ) {
				const index = taken++
				yield async () => index
			}
		}
		const results = inOrder(jobs(), { width: () => 2, signal: never })
		await results.next()
		expect(taken).toBe(2)
		await results.return(undefined)
	})

	test('behavior: the signal of the caller reaches the jobs', async () => {
		const stop = new AbortController()
		const hang: Job<number> = (signal) =>
			new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
		const results = inOrder([hang].values(), { width: () => 1, signal: stop.signal })
		const first = results.next()
		stop.abort(new Error('enough'))
		await expect(first).rejects.toThrow('enough')
	})
})
