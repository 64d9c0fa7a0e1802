// Priority fees of an author, by the receipts of its block.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'

const author: Address = '0x00000000000000000000000000000000000a0f0e'

test('default: reported for each block, exactly, and taken back with its block', async () => {
	const node = await startTestAnvil(['--no-mining'])
	const bench = await openBench({ urls: [node.url], watches: [watchOf(author, { kinds: ['income'] })] })
	onTestFinished(async () => {
		await bench.close()
		await node.stop()
	})
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	await node.rpc('anvil_setCoinbase', [author])
	await node.mine(2)
	await bench.settle()
	const before = await node.rpc<string>('evm_snapshot')
	for (const valueWei of [1n, 2n]) await node.send({ from: alice, to: bob, valueWei, gas: 21_000n })
	const block = await node.mine()
	await bench.settle()
	const paidWei = (await node.balanceWei(author, block)) - (await node.balanceWei(author, block - 1n))
	const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', [`0x${block.toString(16)}`, false])
	expect((await bench.posted()).map(alertOf)).toMatchObject([
		{
			id: `31337:${hash}:fees:income:${author}`,
			kind: 'income',
			blockNumber: Number(block),
			valueWei: String(paidWei),
			transactions: 2,
			direction: 'in',
		},
	])
	expect(paidWei).toBeGreaterThan(0n)
	await node.rpc('evm_revert', [before])
	await node.rpc('evm_increaseTime', [100])
	await node.mine(2)
	await bench.settle()
	expect((await bench.posted()).map(({ message }) => message.type)).toEqual(['alert.income', 'alert.removed'])
})

test('behavior: on a private network it is reported where blocks name their access lists', async () => {
	const node = await startTestAnvil(['--no-mining'])
	const gateway = await startDialectGateway(node.url, { accessLists: true })
	const watches = [watchOf(author, { kinds: ['income'] })]
	const bench = await openBench({ urls: [gateway.url], watches, isPrivate: true })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	await node.rpc('anvil_setCoinbase', [author])
	await node.mine(2)
	await bench.settle()
	// The first opens its book.
	const blocks: bigint[] = []
	for (const valueWei of [1n, 2n, 3n]) {
		await node.send({ from: alice, to: bob, valueWei, gas: 21_000n })
		blocks.push(await node.mine())
		await bench.settle()
	}
	const balances = await Promise.all(blocks.map((block) => node.balanceWei(author, block)))
	const due = [1, 2].map((at) => String((balances[at] ?? 0n) - (balances[at - 1] ?? 0n)))
	const told = (await bench.posted()).map(alertOf)
	expect(told.slice(-2)).toMatchObject(due.map((valueWei) => ({ kind: 'income', valueWei })))
})
