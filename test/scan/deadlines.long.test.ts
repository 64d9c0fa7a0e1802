// What is too slow for a poll ends in words of the program, and leaves nothing behind in the signal of the daemon.
import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { openBench, watchOf } from './bench.js'

const isBalance = (method: string) => method === 'eth_call' || method === 'eth_getBalance'

async function open(dialect: Dialect, books = true) {
	const node = await startTestAnvil([])
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const gateway = await startDialectGateway(node.url, dialect)
	const bench = await openBench({ urls: [gateway.url], watches: [watchOf(bob)], timeoutMs: 1_000_000, books })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	return { node, bench, pay: () => node.send({ from: alice, to: bob, valueWei: 7n, gas: 21_000n }) }
}

test('behavior: balances that never come fail no poll, when books are opened and when they are closed', async () => {
	let isHung = true
	const { bench, pay } = await open({
		twist: (method) => (isHung && isBalance(method) ? new Promise(() => undefined) : undefined),
	})
	await bench.settle()
	await pay()
	expect((await bench.settle()).alerts).toMatchObject({ transfer: 1 })
	isHung = false
	await pay()
	expect((await bench.settle()).alerts).toMatchObject({ transfer: 1 })
	expect((await bench.posted()).map(({ message }) => message.type)).toEqual(['alert.transfer', 'alert.transfer'])
})

// The books have one for up to 8 s, as long as they may take.
test('behavior: a poll leaves no listener in the signal that it was given', async () => {
	const { bench, pay } = await open({}, false)
	const { signal } = new AbortController()
	const left: number[] = []
	for (let polls = 0; polls < 6; polls++) {
		await pay()
		await bench.settle(signal)
		left.push(getEventListeners(signal, 'abort').length)
	}
	expect(await bench.posted()).toHaveLength(5)
	expect(left.at(-1)).toBe(left[1])
})
