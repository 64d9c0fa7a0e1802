// After a span that took too long blocks are read one by one, and nothing is asked for that such a walk cannot use.
import { expect, onTestFinished, test } from 'vitest'
import { bystander, startFloodNode } from '../support/floodNode.js'
import { openBench, watchOf } from './bench.js'

test('behavior: while blocks are read one by one, none is asked for with others', async () => {
	const node = await startFloodNode()
	const bench = await openBench({
		urls: [node.url],
		watches: [watchOf(bystander)],
		network: { chainId: 1 },
		walkWait: { oneMs: 120_000, firstMs: 50, severalMs: 50, eachMs: 0, longestMs: 0 },
	})
	onTestFinished(async () => {
		await bench.close()
		await node.close()
	})
	node.head = 100
	await bench.settle()
	const several: string[] = []
	node.before = (method, [range]) => {
		if (method !== 'trace_filter') return
		const { fromBlock, toBlock } = range as { readonly fromBlock: string; readonly toBlock: string }
		if (fromBlock === toBlock) return
		several.push(`${Number(fromBlock)}-${Number(toBlock)}`)
		return new Promise(() => undefined)
	}
	const numbers = async () =>
		(await bench.posted()).map(({ message: { data } }) => 'blockNumber' in data && data.blockNumber)
	node.head = 110
	await bench.settle()
	expect(await numbers()).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110])
	// Both lists of addresses, of the first blocks of the span.
	const first = several.length
	expect(first).toBeGreaterThan(0)

	node.head = 120
	await bench.settle()
	expect(await numbers()).toHaveLength(20)
	expect(several.slice(first)).toEqual([])
})
