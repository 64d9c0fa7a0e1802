// A first endpoint that answers some questions and hangs at others, with a second one at hand.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { bystander, startFloodNode } from '../support/floodNode.js'
import { openBench, watchOf } from './bench.js'

const kinds = ['transfer', 'delegation', 'unexplained'] as const

test('behavior: whole transactions of a block that never come hold back its alerts for seconds only', async () => {
	let isHung = false
	let end = (_: undefined) => {}
	const never = new Promise<undefined>((resolve) => {
		end = resolve
	})
	const node = await startTestAnvil([])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const first = await startDialectGateway(node.url, {
		twist: (method, [, isWhole]) =>
			isHung && method === 'eth_getBlockByNumber' && isWhole === true ? never : undefined,
	})
	const second = await startDialectGateway(node.url, {})
	const bench = await openBench({
		urls: [first.url, second.url],
		watches: [watchOf(bob, { kinds })],
		// Whoever waits for it waits longer than this test may take.
		timeoutMs: 1_000_000,
	})
	onTestFinished(async () => {
		end(undefined)
		await bench.close()
		await Promise.all([first.close(), second.close()])
		await node.stop()
	})
	await bench.settle()
	await node.send({ from: alice, to: bob, valueWei: 7n, gas: 21_000n })
	await node.mine()
	isHung = true
	await bench.settle()
	expect((await bench.posted()).map(({ message }) => message.type)).toEqual(['alert.transfer'])
	expect(second.asked('eth_getBlockByNumber').some(([, isWhole]) => isWhole === true)).toBe(true)
})

test('behavior: traces that never come are waited for once, and not for each block that follows', async () => {
	const [first, second] = [await startFloodNode(), await startFloodNode()]
	const both = [first, second]
	const bench = await openBench({
		urls: both.map(({ url }) => url),
		watches: [watchOf(bystander)],
		network: { chainId: 1 },
		walkWait: { oneMs: 3_000, firstMs: 3_000, severalMs: 3_000, eachMs: 0, longestMs: 0 },
	})
	onTestFinished(async () => {
		await bench.close()
		await Promise.all(both.map((node) => node.close()))
	})
	const toBlock = async (number: number) => {
		for (const node of both) node.head = number
		await bench.settle()
	}
	await toBlock(100)
	const hung: string[] = []
	first.before = (method) => {
		if (!method.startsWith('trace_')) return undefined
		hung.push(method)
		return new Promise(() => undefined)
	}
	await toBlock(101)
	const before = hung.length
	expect(before).toBeGreaterThan(0)
	for (let number = 102; number <= 110; number++) await toBlock(number)
	expect(hung.length).toBe(before)
	expect(await bench.posted()).toHaveLength(10)
})
