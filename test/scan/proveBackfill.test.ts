// What balances show of a backfill.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { failingBlocks } from '../support/failingBlock.js'
import { openBench, watchOf } from './bench.js'

test('behavior: a block of a backfill that lacks one transaction: its coins are not unexplained', async () => {
	const node = await startTestAnvil([])
	const [payer, other, to] = (await node.accounts()) as [Address, Address, Address]
	const failing = failingBlocks()
	const gateway = await startDialectGateway(node.url, { twist: failing.twist })
	const watched = watchOf(other)
	const bench = await openBench({ urls: [gateway.url], watches: [watched], mayLack: true, source: 'trace_block' })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	await node.automine(false)
	const pay = (from: Address) => node.send({ from, to, valueWei: 7n, gas: 21_000n })
	const [unread, read] = [await pay(payer), await pay(other)]
	const number = await node.mine()
	await node.mine(30)
	await bench.settle()

	failing.numbers.add(number)
	failing.hashes.add(unread)
	bench.setWatches([watched, watchOf(to, { fromBlock: number })])
	await bench.settle()
	const told = (await bench.posted()).map(({ message: { type, data } }) => [type, 'txHash' in data && data.txHash])
	expect(told).toEqual([
		['alert.transfer', read],
		['system.gap', false],
	])
	const { seen, gaps } = (await bench.store.summary()).networks.get('local') ?? {}
	expect(gaps).toMatchObject([{ block: { number }, transactions: [unread] }])
	const blocks = { fromBlock: Number(number), toBlock: Number(number), blocks: 1 }
	expect(seen?.logs?.runs).toEqual([{ ...blocks, why: 'backfill' }])
})
