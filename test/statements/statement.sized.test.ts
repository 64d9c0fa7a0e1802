// A statement against the node's own balances: of every address of the scenarios, after every block that moves it.
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCapabilitiesRegistry } from '../../src/chain/capabilities/registry.js'
import { createChain } from '../../src/chain/chain.js'
import { createEndpoints } from '../../src/chain/endpoints/endpoints.js'
import { openAccounts } from '../../src/chain/openAccounts.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import type { SourceName } from '../../src/chain/sources/source.js'
import type { Address } from '../../src/model/glossary.js'
import { type StatementItem, statementOf } from '../../src/statements/statement.js'
import { type Hand, startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hideLeaves } from '../support/hiding.js'
import { sized } from '../support/longRun.js'
import { cast, planScenario, playScenario } from '../support/scenario.js'
import { silent } from '../support/silent.js'

const coinbase: Address = '0x00000000000000000000000000000000c01bba5e'
const signal = new AbortController().signal

function openWays(url: string, source: SourceName | 'auto' = 'auto') {
	const clock = Date.now
	const rpcs = [createRpc({ url, clock })]
	const endpoints = createEndpoints({ rpcs, chainId: 31337, clock, log: silent })
	const chain = createChain({ endpoints, source, withSent: true, clock, log: silent })
	onTestFinished(() => chain.close())
	const registry = createCapabilitiesRegistry({ setting: source, clock, log: silent })
	return { chain, accounts: openAccounts({ rpcs, endpoints, chainId: 31337, registry, clock, log: silent }) }
}

async function collect(items: AsyncIterable<StatementItem>): Promise<readonly StatementItem[]> {
	const all: StatementItem[] = []
	for await (const item of items) all.push(item)
	return all
}

/** The last entry of each block says the balance after it; the first and the last line are the node's. */
async function expectTrue(items: readonly StatementItem[], address: Address, to: bigint, node: Hand): Promise<number> {
	const after = new Map<bigint, bigint>()
	let entries = 0
	for (const item of items) {
		if (item.item === 'opening') expect(item.balanceWei).toBe(await node.balanceWei(address, 0n))
		if (item.item !== 'entry') continue
		entries++
		after.set(item.entry.block.number, item.balanceWei)
		expect(item.entry.changeWei).toBe(signed(item.entry.direction, item.entry.valueWei) - item.entry.feeWei)
	}
	for (const [block, balanceWei] of after)
		expect(balanceWei, `${address} after block ${block}`).toBe(await node.balanceWei(address, block))
	const closing = items.at(-1)
	const balanceWei = await node.balanceWei(address, to)
	expect(closing, address).toMatchObject({
		item: 'closing',
		block: { number: to },
		balanceWei,
		explainedWei: balanceWei,
	})
	expect(items.filter(({ item }) => item === 'unexplained' || item === 'unproved')).toEqual([])
	return entries
}

function signed(direction: string, wei: bigint): bigint {
	return direction === 'self' ? 0n : direction === 'out' ? -wei : wei
}

describe('statement', () => {
	test.each(
		sized(
			[['prague', 1, 'trace_block']] as const,
			[
				['prague', 1, 'trace_block'],
				['shanghai', 3, 'trace_filter'],
				['osaka', 4, 'debug_traceBlockByNumber'],
				['prague', 2, 'trace_filter'],
			] as const,
		),
	)(
		'%s, seed %i, %s: of every address it closes to 0, and each balance in it is the node’s',
		async (hardfork, seed, source) => {
			const plan = planScenario({ seed, hardfork, blocks: sized(25, 50) })
			const node = await startTestAnvil(plan.anvilArgs)
			onTestFinished(() => node.stop())
			const { transactions } = await playScenario(plan, node)
			const to = await node.mine(1)
			const ways = openWays(node.url, source)
			for (const address of [...plan.watched, cast.dave, cast.erin, coinbase]) {
				const items = await collect(statementOf(address, { from: 1n, to }, ways, signal))
				const entries = await expectTrue(items, address, to, node)
				// Each transaction costs its sender, whatever it moved and whether it failed.
				const sent = transactions.filter(({ from }) => from === address)
				const fees = items.flatMap((item) =>
					item.item === 'entry' && item.entry.feeWei > 0n ? [[item.entry.txHash, item.entry.feeWei]] : [],
				)
				expect(fees, address).toEqual(sent.map(({ hash, feeWei }) => [hash, feeWei]))
				if (address === cast.dave) expect(entries).toBeGreaterThan(sized(10, 20))
			}
		},
	)

	test('default: movements of a span in its middle, and the priority fees of an author', async () => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		const [alice, bob] = (await node.accounts()) as [Address, Address]
		await node.rpc('anvil_setCoinbase', [coinbase])
		for (const valueWei of [1n, 2n, 3n]) await node.receipt(await node.send({ from: alice, to: bob, valueWei }))
		const ways = openWays(node.url)
		const span = { from: 2n, to: 3n }
		const ofBob = await collect(statementOf(bob, span, ways, signal))
		expect(ofBob.flatMap((item) => (item.item === 'entry' ? [item.entry.valueWei] : []))).toEqual([2n, 3n])
		expect(ofBob[0]).toMatchObject({ item: 'opening', balanceWei: await node.balanceWei(bob, 1n) })
		const ofAuthor = await collect(statementOf(coinbase, span, ways, signal))
		expect(ofAuthor.flatMap((item) => (item.item === 'entry' ? [item.entry.kind] : []))).toEqual(['income', 'income'])
		expect(ofAuthor.at(-1)).toMatchObject({ explainedWei: await node.balanceWei(coinbase, 3n) })
	})

	test('behavior: what a node hides is a difference, named with its block, and corrects no balance', async () => {
		const plan = planScenario({ seed: 8, blocks: sized(25, 45) })
		const node = await startTestAnvil(plan.anvilArgs)
		const { dialect, hidden } = hideLeaves((txHash) => Number(BigInt(txHash) % 3n) === 0)
		const gateway = await startDialectGateway(node.url, dialect)
		onTestFinished(async () => {
			await gateway.close()
			await node.stop()
		})
		const { transactions } = await playScenario(plan, node)
		const to = await node.head()
		const ways = openWays(gateway.url)
		let wrong = 0
		for (const address of plan.watched.slice(0, 8)) {
			const items = await collect(statementOf(address, { from: 1n, to }, ways, signal))
			// What the gateway hid and the plan says really moved.
			const missing = hidden().reduce((sum, { txHash, from, to, wei }) => {
				const consequence = transactions.find(({ hash }) => hash === txHash)?.consequence
				const isReal = consequence?.movements.some((one) => one.from === from && one.to === to && one.valueWei === wei)
				if (isReal !== true) return sum
				return sum + (to === address ? wei : 0n) - (from === address ? wei : 0n)
			}, 0n)
			const closing = items.at(-1)
			if (closing?.item !== 'closing') throw new Error('a statement ends with its closing balance')
			expect(closing.balanceWei).toBe(await node.balanceWei(address, to))
			expect(closing.balanceWei - closing.explainedWei, address).toBe(missing)
			const named = items.reduce((sum, item) => sum + (item.item === 'unexplained' ? item.differenceWei : 0n), 0n)
			expect(named, address).toBe(missing)
			if (missing !== 0n) wrong++
		}
		expect(wrong).toBeGreaterThan(0)
	})
})
