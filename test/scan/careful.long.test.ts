// After a span that took too long blocks are read one by one, and nothing is asked for that such a walk cannot use; as
// blocks come well, more of them at once again.
import { expect, onTestFinished, test } from 'vitest'
import { bystander, startFloodNode } from '../support/floodNode.js'
import { openBench, watchOf } from './bench.js'

/**
 * Of which questions of several blocks `hangs` decides; `asked`: how many blocks each question had. `singleMs`: time
 * that one block takes, by the clock of the poll.
 */
async function openCareful(severalMs: number, hangs: (asked: readonly number[]) => boolean, singleMs = 0) {
	const beganMs = Date.now()
	let passedMs = 0
	const node = await startFloodNode()
	const bench = await openBench({
		urls: [node.url],
		watches: [watchOf(bystander)],
		network: { chainId: 1 },
		source: 'trace_filter',
		clock: () => beganMs + passedMs,
		walkWait: { oneMs: 120_000, firstMs: severalMs, severalMs, eachMs: 0, longestMs: 0 },
	})
	onTestFinished(async () => {
		await bench.close()
		await node.close()
	})
	node.head = 100
	await bench.settle()
	const asked: number[] = []
	node.before = (method, [range]) => {
		// Of the two lists of addresses the first.
		if (method !== 'trace_filter') return
		const { fromBlock, toBlock, fromAddress } = range as Record<'fromBlock' | 'toBlock' | 'fromAddress', string>
		const blocks = Number(toBlock) - Number(fromBlock) + 1
		if (fromAddress !== undefined) asked.push(blocks)
		if (fromAddress !== undefined && blocks === 1) passedMs += singleMs
		if (blocks > 1 && hangs(asked)) return new Promise(() => undefined)
		return undefined
	}
	const numbers = async () =>
		(await bench.posted()).map(({ message: { data } }) => ('blockNumber' in data ? Number(data.blockNumber) : null))
	return { node, bench, asked, numbers }
}

/** A question must be sent within it, on a busy machine too. */
const HANG_MS = 1_000

const from101 = (to: number) => Array.from({ length: to - 100 }, (_, at) => 101 + at)

test('behavior: where several blocks always take too long, they are tried more and more seldom', async () => {
	const { node, bench, asked, numbers } = await openCareful(HANG_MS, () => true)
	node.head = 110
	await bench.settle()
	expect(await numbers()).toEqual(from101(110))
	node.head = 135
	await bench.settle()
	expect(await numbers()).toEqual(from101(135))
	// Those of the first walk, then two after 4, after 8 and after 16 that came alone, each of them once.
	const runs = asked.map((blocks) => (blocks > 1 ? '+' : '1')).join('')
	expect(runs).toMatch(/^\++1{4}\+1{8}\+1{16}\+?1*$/)
})

// Before, 128 questions for these blocks.
test('behavior: as soon as blocks come well, more and more are read at once again', async () => {
	const { node, bench, asked, numbers } = await openCareful(5_000, (all) => !all.includes(1))
	node.head = 300
	await bench.settle()
	expect(await numbers()).toEqual(from101(300))
	// On a busy machine the first question may be repeated before blocks are read one by one.
	const then = asked.slice(asked.indexOf(1))
	expect(asked[0]).toBeGreaterThan(1)
	expect(then.slice(0, 5)).toEqual([1, 1, 1, 1, 2])
	expect(Math.max(...then)).toBeGreaterThanOrEqual(32)
	expect(then.reduce((sum, blocks) => sum + blocks, 0)).toBe(200)
	expect(then.length).toBeLessThanOrEqual(16)
})

// Before, two were asked for together after each four, without success, and the first of them again.
test('behavior: while each block takes long by itself, no two are asked for at once', async () => {
	const { node, bench, asked, numbers } = await openCareful(HANG_MS, () => true, 2_000)
	node.head = 120
	await bench.settle()
	expect(await numbers()).toEqual(from101(120))
	expect(asked.map((blocks) => (blocks > 1 ? '+' : '1')).join('')).toMatch(/^\++1{20}$/)
})
