// Withdrawals stand in the headers of blocks: they are sent when the block is, with books and without.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { hex, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type DialectGateway, startDialectGateway } from '../support/dialectGateway.js'
import { hideTransactions } from '../support/hiding.js'
import { divided, testInFull, testOnce } from '../support/longRun.js'
import { alertOf, type Bench, type BenchOptions, openBench, watchOf } from './bench.js'

const stranger: Address = '0x00000000000000000000000000000000000abcde'
const watched: Address = '0x00000000000000000000000000000000000c0fee'

interface Stage {
	readonly node: TestAnvil
	readonly bench: Bench
	readonly gateway: DialectGateway
	/** Pays in the next block, as its header says and, in its state, really. */
	pay(index: number, address: Address, gwei: bigint): Promise<void>
	/** By block. */
	readonly lists: Map<bigint, object[]>
}

async function open(options: Partial<BenchOptions> = {}): Promise<Stage> {
	const node = await startTestAnvil(['--no-mining'])
	const lists = new Map<bigint, object[]>()
	const gateway = await startDialectGateway(node.url, {
		twist(method, _params, result) {
			if (method !== 'eth_getBlockByNumber' || typeof result !== 'object' || result === null) return undefined
			return { ...result, withdrawals: lists.get(BigInt((result as { number: string }).number)) ?? [] }
		},
	})
	const bench = await openBench({ urls: [gateway.url], watches: [watchOf(watched)], ...options })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	await node.mine(2)
	await bench.settle()
	return {
		node,
		bench,
		gateway,
		lists,
		async pay(index, address, gwei) {
			const head = await node.head()
			const list = lists.get(head + 1n) ?? []
			list.push({ index: hex(BigInt(index)), validatorIndex: '0x2a', address, amount: hex(gwei) })
			lists.set(head + 1n, list)
			const before = BigInt(await node.rpc<string>('eth_getBalance', [address, 'pending']))
			await node.rpc('anvil_setBalance', [address, hex(before + gwei * 10n ** 9n)])
		},
	}
}

/** Two payments were sent; `replace` puts a longer chain in the place of theirs, with others in its first block. */
async function paidTwice() {
	const { node, bench, pay, lists } = await open()
	const before = await node.rpc<string>('evm_snapshot')
	await pay(1, watched, 17n)
	await pay(2, watched, 18n)
	const block = await node.mine(2)
	await bench.settle()
	return {
		bench,
		async replace(...payments: readonly Parameters<Stage['pay']>[]) {
			await node.rpc('evm_revert', [before])
			lists.clear()
			await node.rpc('evm_increaseTime', [100])
			for (const payment of payments) await pay(...payment)
			await node.mine()
			await node.mine(Number(block - (await node.head())) + 1)
			await bench.settle()
		},
	}
}

async function told(bench: Bench, type = 'alert.withdrawal'): Promise<readonly AlertData[]> {
	return (await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
}

describe('withdrawals', () => {
	testOnce.each([
		['trace_filter', true],
		['trace_block', false],
		['debug_traceBlockByNumber', false],
	] as const)('default: %s, books %s: reported when the block is, each once', async (source, books) => {
		const { node, bench, pay } = await open({ source, books })
		await pay(7, watched, 17n)
		await pay(8, stranger, 5n)
		await pay(9, watched, 1n)
		const block = await node.mine()
		await bench.poll()
		expect(await told(bench)).toMatchObject([
			{
				id: `31337:withdrawal:7:withdrawal:${watched}`,
				valueWei: '17000000000',
				value: '0.000000017',
				index: '7',
				validatorIndex: '42',
				blockNumber: Number(block),
				late: false,
				direction: 'in',
			},
			{ id: `31337:withdrawal:9:withdrawal:${watched}`, valueWei: '1000000000', late: false },
		])
		await node.mine(20)
		await bench.settle()
		expect(await bench.posted()).toHaveLength(2)
	})

	test.each(divided(['trace_filter', 'trace_block', 'auto'] as const, (source) => source === 'auto'))(
		'behavior: %s: the only ones that the chain has ever paid, amid a long pause, beside payments',
		async (source) => {
			const { node, bench, pay, gateway } = await open({ source, books: false })
			const [from] = (await node.accounts()) as [Address]
			const first = await node.head()
			for (let index = 0; index < 30; index++) {
				if (index === 12 || index === 20) await pay(index, watched, 1n)
				if (index % 5 === 0) await node.send({ from, to: watched, valueWei: 1n })
				await node.mine()
			}
			const before = gateway.count('eth_getBlockByNumber')
			await bench.settle()
			expect((await told(bench)).map(({ blockNumber }) => blockNumber)).toEqual([
				Number(first) + 13,
				Number(first) + 21,
			])
			expect(await told(bench, 'alert.transfer')).toHaveLength(6)
			// Both looks at 30 blocks, each header once; besides, the head and its tags, and the ends of spans.
			expect(gateway.count('eth_getBlockByNumber') - before).toBeLessThanOrEqual(30 + 30 + 20)
		},
	)

	testOnce('behavior: of the blocks before the watch was known, from its first block on', async () => {
		const { node, bench, pay } = await open({ source: 'trace_filter', watches: [watchOf(stranger)] })
		for (let index = 0; index < 6; index++) {
			await pay(index, watched, 1n)
			await node.mine()
		}
		await bench.settle()
		bench.setWatches([watchOf(watched, { fromBlock: 5n })])
		await pay(6, watched, 1n)
		await node.mine()
		await bench.settle()
		const seen = (await told(bench)).map(({ blockNumber, late }) => [blockNumber, late])
		expect(seen.sort()).toEqual([
			[5, true],
			[6, true],
			[7, true],
			[8, true],
			[9, false],
		])
	})

	testOnce('behavior: a block that takes the other’s place may pay it too, and then nothing is said', async () => {
		const { bench, replace } = await paidTwice()
		expect(await told(bench)).toHaveLength(2)
		await replace([1, watched, 17n])
		expect(await told(bench)).toHaveLength(2)
		expect(await told(bench, 'alert.removed')).toMatchObject([{ id: `31337:withdrawal:2:withdrawal:${watched}` }])
		expect(await told(bench, 'alert.unexplained')).toEqual([])
	})

	testInFull(
		'behavior: a block in the other’s place that gives its index to another party, or another amount',
		async () => {
			const { bench, replace } = await paidTwice()
			await replace([1, stranger, 17n], [2, watched, 19n])
			const said = (await bench.posted()).map(
				(one) => `${one.message.type} ${alertOf(one).index} ${alertOf(one).value}`,
			)
			expect(said).toEqual([
				'alert.withdrawal 1 0.000000017',
				'alert.withdrawal 2 0.000000018',
				'alert.removed 2 0.000000018',
				'alert.withdrawal 2 0.000000019',
				'alert.removed 1 0.000000017',
			])
		},
	)

	testInFull('behavior: a withdrawal that the header hides is unexplained, with its exact amount', async () => {
		// Anvil pays no withdrawals: a payment that nothing tells of stands for one.
		const { dialect, hide } = hideTransactions()
		const { node, bench, gateway } = await open()
		gateway.dialect = dialect
		await node.mine()
		await bench.settle()
		const [rich] = (await node.accounts()) as [Address]
		hide(await node.send({ from: rich, to: watched, valueWei: 17_000_000_000n, gas: 21_000n }))
		const block = await node.mine()
		await bench.settle()
		expect(await told(bench)).toEqual([])
		expect(await told(bench, 'alert.unexplained')).toMatchObject([
			{ differenceWei: '17000000000', fromBlock: Number(block), toBlock: Number(block) },
		])
	})
})
