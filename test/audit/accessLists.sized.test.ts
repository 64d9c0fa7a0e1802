// Block access lists: the books are closed by what the chain itself commits to, transaction by transaction.

import { expect, onTestFinished } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, type Bench, type BenchOptions, openBench, watchOf } from '../scan/bench.js'
import { ether, startTestAnvil } from '../support/anvil.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { hideLeaves, hideTransactions } from '../support/hiding.js'
import { listening } from '../support/listening.js'
import { testInFull, testOnce } from '../support/longRun.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'
import { planScenario, playScenario } from '../support/scenario.js'
import { soaked } from '../support/soak.js'

const stranger: Address = '0x00000000000000000000000000000000000abcde'
const pays = (to: Address, valueWei: bigint) => encodeActions([{ do: 'call', to, valueWei }])

async function open(
	dialects: readonly Dialect[],
	watched?: readonly Address[],
	source: NonNullable<BenchOptions['source']> = 'auto',
) {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob, carol] = (await node.accounts()) as [Address, Address, Address]
	const [puppet, payer] = [createAddress(bob, 0n), createAddress(carol, 0n)] as const
	for (const from of [bob, carol]) await node.send({ from, data: puppetInit, valueWei: 10n * ether, gas: 1_000_000n })
	await node.mine(3)
	const gateways = await Promise.all(dialects.map((one) => startDialectGateway(node.url, one)))
	const { log, said } = listening()
	const watches = (watched ?? [puppet]).map((address) => watchOf(address))
	const bench = await openBench({ urls: gateways.map(({ url }) => url), watches, log, source })
	onTestFinished(async () => {
		await bench.close()
		for (const gateway of gateways) await gateway.close()
		await node.stop()
	})
	await bench.settle()
	await node.mine(1)
	await bench.settle()
	const block = async () => {
		const number = await node.mine()
		await bench.settle()
		return number
	}
	return { node, bench, block, gateways, said, alice, bob, carol, puppet, payer }
}

async function alertsOf(bench: Bench, type: string): Promise<readonly AlertData[]> {
	return (await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
}

/** In one block: 7 wei come in and 7 go out, each inside of a transaction. */
async function passThrough({ node, block, bob, carol, puppet, payer }: Awaited<ReturnType<typeof open>>) {
	await node.send({ from: carol, to: payer, data: pays(puppet, 7n), gas: 200_000n })
	await node.send({ from: bob, to: puppet, data: pays(stranger, 7n), gas: 200_000n })
	return await block()
}

testOnce.each(['trace_filter', 'trace_block', 'debug_traceBlockByNumber'] as const)(
	'default: %s: on an honest node all is explained, at a call a block',
	async (source) => {
		const stage = await open([{ accessLists: true }], undefined, source)
		const before = stage.gateways[0]?.count('eth_getBlockAccessList') ?? 0
		await passThrough(stage)
		await stage.node.send({ from: stage.bob, to: stranger, valueWei: 1n, gas: 21_000n })
		await stage.node.send({ from: stage.alice, to: stage.puppet, valueWei: 3n, gas: 200_000n })
		await stage.block()
		expect((stage.gateways[0]?.count('eth_getBlockAccessList') ?? 0) - before).toBe(2)
		expect(await alertsOf(stage.bench, 'alert.unexplained')).toEqual([])
		expect(await alertsOf(stage.bench, 'alert.transfer')).toHaveLength(3)
		expect(stage.said).toEqual([])
	},
)

testOnce('behavior: two hidden payments that make up for each other in one block are reported', async () => {
	const { dialect } = hideLeaves(() => true)
	const stage = await open([{ ...dialect, accessLists: true }])
	const block = await passThrough(stage)
	const [told, ...rest] = await alertsOf(stage.bench, 'alert.unexplained')
	expect(rest).toEqual([])
	expect(told).toMatchObject({ fromBlock: Number(block), toBlock: Number(block), differenceWei: '0' })
	expect(told?.reason).toContain('transaction 0 moved 7 wei, reported: 0; transaction 1 moved -7 wei, reported: 0')
	// The second look sees no more than the first did, and explains nothing.
	await stage.node.mine(14)
	await stage.bench.settle()
	expect(await alertsOf(stage.bench, 'alert.removed')).toEqual([])
	expect(await alertsOf(stage.bench, 'alert.unexplained')).toHaveLength(1)
})

testInFull(
	'behavior: two hidden payments that make up for each other over two blocks of one poll are reported',
	async () => {
		const { dialect } = hideLeaves(() => true)
		const { node, bench, bob, carol, puppet, payer } = await open([{ ...dialect, accessLists: true }])
		await node.send({ from: carol, to: payer, data: pays(puppet, 7n), gas: 200_000n })
		const first = Number(await node.mine())
		await node.send({ from: bob, to: puppet, data: pays(stranger, 7n), gas: 200_000n })
		await node.mine()
		await bench.settle()
		expect(await alertsOf(bench, 'alert.unexplained')).toMatchObject([
			{ fromBlock: first, toBlock: first, differenceWei: '7' },
			{ fromBlock: first + 1, toBlock: first + 1, differenceWei: '-7' },
		])
	},
)

testInFull('behavior: without the lists no one sees them', async () => {
	const { dialect } = hideLeaves(() => true)
	const stage = await open([dialect])
	await passThrough(stage)
	expect(await alertsOf(stage.bench, 'alert.unexplained')).toEqual([])
})

testInFull('behavior: another endpoint reports what the one hides: reported as events, late', async () => {
	const { dialect } = hideLeaves(() => true)
	const stage = await open([{ ...dialect, accessLists: true }, { accessLists: true }])
	await passThrough(stage)
	expect(await alertsOf(stage.bench, 'alert.unexplained')).toEqual([])
	const told = await alertsOf(stage.bench, 'alert.transfer')
	expect(told.map(({ direction, valueWei, late }) => [direction, valueWei, late])).toEqual([
		['in', '7', true],
		['out', '7', true],
	])
})

testInFull(
	'behavior: a hidden payment to one of thousands, whose turn it is not, is reported with its block',
	async () => {
		const { dialect, hide } = hideTransactions()
		const others = Array.from(
			// More than are asked for at once.
			{ length: 2_100 },
			(_, n): Address => `0x${(0xabc0000 + n).toString(16).padStart(40, '0')}`,
		)
		const { node, bench, block, bob } = await open([{ ...dialect, accessLists: true }], others)
		for (let n = 0; n < 3; n++) await block()
		expect((await bench.store.network('local'))?.books.size).toBe(others.length)
		hide(await node.send({ from: bob, to: others[2_050] as Address, valueWei: 11n, gas: 21_000n }))
		const number = await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toMatchObject([
			{ fromBlock: Number(number), toBlock: Number(number), differenceWei: '11', late: false },
		])
	},
)

testInFull('error: a list that leaves an account out is not believed, and the books continue by balances', async () => {
	const dialect: Dialect = {
		accessLists: true,
		twist: (method, _params, result) =>
			method === 'eth_getBlockAccessList' ? (result as object[]).slice(1) : undefined,
	}
	const stage = await open([dialect])
	await passThrough(stage)
	expect(stage.said.join()).toContain('no endpoint gives the access list of a block')
	expect(stage.said.join()).toContain('is not the one that its header names')
	expect(await alertsOf(stage.bench, 'alert.transfer')).toHaveLength(2)
	expect(await alertsOf(stage.bench, 'alert.unexplained')).toEqual([])
})

testInFull('default: over a scenario of everything that moves coins nothing is unexplained', async () => {
	const plan = planScenario({ seed: 11, blocks: soaked(34, 60) })
	const node = await startTestAnvil(plan.anvilArgs)
	const gateway = await startDialectGateway(node.url, { accessLists: true })
	const { log, said } = listening()
	const watches = plan.watched.map((address) => watchOf(address))
	const bench = await openBench({ urls: [gateway.url], watches, log })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	await bench.settle()
	const hand = {
		...node,
		async mine(blocks?: number) {
			const head = await node.mine(blocks)
			await bench.settle()
			return head
		},
	}
	await playScenario(plan, hand)
	await hand.mine(1)
	expect(gateway.count('eth_getBlockAccessList')).toBeGreaterThan(10)
	expect((await alertsOf(bench, 'alert.unexplained')).map(({ id, reason }) => [id, reason])).toEqual([])
	expect(said).toEqual([])
})
