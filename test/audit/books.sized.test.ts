// Books over a real node, block by block: what they prove, and what they find when a node does not tell everything.

import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import type { Kind } from '../../src/model/kind.js'
import { alertOf, type Bench, openBench, watchOf } from '../scan/bench.js'
import { ether, type Hand, hex, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type Dialect, Refused, startDialectGateway } from '../support/dialectGateway.js'
import { dialects } from '../support/dialectTable.js'
import { hideLeaves, hideTransactions } from '../support/hiding.js'
import { listening } from '../support/listening.js'
import { divided, testInFull, testOnce } from '../support/longRun.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'
import { planScenario, playScenario } from '../support/scenario.js'
import { soaked } from '../support/soak.js'

const kinds: readonly Kind[] = ['transfer', 'deployment', 'withdrawal', 'unexplained']
const stranger: Address = '0x00000000000000000000000000000000000abcde'

async function alertsOf(bench: Bench, type: string): Promise<readonly AlertData[]> {
	return (await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
}

async function expectClosed(bench: Bench, node: TestAnvil, watched: readonly Address[]): Promise<void> {
	const head = await node.head()
	const state = await bench.store.network('local')
	for (const address of watched) {
		const balanceWei = await node.balanceWei(address, head)
		expect(state?.books.get(address), address).toMatchObject({ block: head, balanceWei, movedWei: 0n })
	}
}

/** Mines by hand, and polls after every block. */
function polling(node: TestAnvil, bench: Bench): Hand {
	return {
		...node,
		async mine(blocks) {
			const head = await node.mine(blocks)
			await bench.settle()
			return head
		},
	}
}

// accessLists.sized.test.ts does the same by `trace_filter`.
testInFull.each(['trace_block', 'debug_traceBlockByNumber'] as const)(
	'%s: books close after every block of the scenario',
	async (source) => {
		const plan = planScenario({ seed: 7, blocks: soaked(34, 60) })
		const node = await startTestAnvil(plan.anvilArgs)
		onTestFinished(() => node.stop())
		const { log, said } = listening()
		const watches = plan.watched.map((address) => watchOf(address, { kinds }))
		const bench = await openBench({ urls: [node.url], watches, source, log })
		onTestFinished(() => bench.close())
		await bench.settle()
		await playScenario(plan, polling(node, bench))
		await node.mine(1)
		await bench.settle()
		expect(said).toEqual([])
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		await expectClosed(bench, node, plan.watched)
	},
)

describe('books, of a small chain', () => {
	/** A chain on which Bob has made a puppet. */
	async function startStage(chainId = 31337) {
		const node = await startTestAnvil(['--chain-id', String(chainId)])
		await node.automine(false)
		const [, bob] = (await node.accounts()) as [Address, Address]
		await node.send({ from: bob, data: puppetInit, valueWei: 10n * ether, gas: 1_000_000n })
		await node.mine(3)
		return node
	}

	async function open(
		options: {
			dialects?: readonly Dialect[]
			chainId?: number
			watched?: (accounts: readonly Address[]) => Address[]
			/** Default: a new one, which ends with the test. */
			node?: TestAnvil
		} = {},
	) {
		const { chainId = 31337 } = options
		const node = options.node ?? (await startStage(chainId))
		const accounts = await node.accounts()
		const [alice, bob] = accounts as [Address, Address]
		const puppet = createAddress(bob, 0n)
		const gateways = await Promise.all((options.dialects ?? [{}]).map((one) => startDialectGateway(node.url, one)))
		const watched = options.watched?.(accounts) ?? [alice, puppet]
		const { log, said } = listening()
		const watches = watched.map((address) => watchOf(address, { kinds }))
		const bench = await openBench({ urls: gateways.map(({ url }) => url), watches, log, network: { chainId } })
		onTestFinished(async () => {
			await bench.close()
			for (const gateway of gateways) await gateway.close()
			if (options.node === undefined) await node.stop()
		})
		await bench.settle()
		await node.mine(1)
		await bench.settle()
		return { node, bench, gateways, said, alice, bob, puppet, watched }
	}
	const pays = (to: Address, valueWei: bigint) => encodeActions([{ do: 'call', to, valueWei }])

	testOnce('default: fees of payments, of what moves nothing and of what fails are known', async () => {
		const { node, bench, said, alice, bob, watched } = await open()
		await node.send({ from: alice, to: bob, valueWei: 5n, gas: 21_000n })
		await node.mine()
		await bench.settle()
		await node.send({ from: alice, to: bob, valueWei: 0n, gas: 21_000n })
		await node.mine()
		await bench.settle()
		// Fails for want of gas, and pays all of it.
		await node.send({ from: alice, data: puppetInit, gas: 60_000n })
		await node.mine()
		await bench.settle()
		await expectClosed(bench, node, watched)
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		expect(said).toEqual([])
	})

	testOnce(
		'behavior: a transaction that is nowhere is sent once, value and fee; the book runs on from there',
		async () => {
			const { dialect, hide } = hideTransactions()
			const { node, bench, alice, bob, watched } = await open({ dialects: [dialect] })
			const before = await node.balanceWei(alice, await node.head())
			hide(await node.send({ from: alice, to: bob, valueWei: 7n * ether, gas: 21_000n }))
			const block = await node.mine()
			const after = await node.balanceWei(alice, block)
			await bench.settle()
			await node.mine(2)
			await bench.settle()
			const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', [hex(block), false])
			const told = await alertsOf(bench, 'alert.unexplained')
			expect(before - after).toBeGreaterThan(7n * ether)
			expect(told).toMatchObject([
				{
					id: `31337:${block}-${block}:balance:unexplained:${alice}`,
					blockNumber: Number(block),
					blockHash: hash,
					fromBlock: Number(block),
					toBlock: Number(block),
					openingWei: `${before}`,
					closingWei: `${after}`,
					explainedWei: '0',
					differenceWei: `${after - before}`,
					valueWei: `${before - after}`,
					direction: 'out',
					late: false,
				},
			])
			await expectClosed(bench, node, watched)
			await node.mine(20)
			await bench.settle()
			expect(await alertsOf(bench, 'alert.unexplained')).toHaveLength(1)
			expect(await alertsOf(bench, 'alert.removed')).toEqual([])
		},
	)

	testInFull(
		'behavior: a hidden payment that equals the fee of the watch to the wei is not taken for the fee',
		async () => {
			const { dialect, hide } = hideTransactions()
			const { node, bench, alice, bob, watched } = await open({ dialects: [dialect] })
			const gasPrice = 30_000_000_000n
			const feeWei = 21_000n * gasPrice
			const pay = (from: Address, to: Address, wei: bigint): Promise<Hash> =>
				node.rpc('eth_sendTransaction', [{ from, to, value: hex(wei), gas: '0x5208', gasPrice: hex(gasPrice) }])
			await pay(alice, stranger, 5n)
			hide(await pay(bob, alice, feeWei))
			const block = await node.mine()
			await bench.settle()
			expect(await alertsOf(bench, 'alert.unexplained')).toMatchObject([
				{
					fromBlock: Number(block),
					toBlock: Number(block),
					explainedWei: `${-feeWei - 5n}`,
					differenceWei: `${feeWei}`,
				},
			])
			await expectClosed(bench, node, watched)
		},
	)

	testInFull(
		'behavior: a transaction of the watch that one endpoint hides whole is reported by the other',
		async () => {
			const { dialect, hide } = hideTransactions()
			const { node, bench, alice, bob, watched } = await open({ dialects: [dialect, {}] })
			const txHash = await node.send({ from: alice, to: bob, valueWei: 7n * ether, gas: 21_000n })
			hide(txHash)
			await node.mine()
			await bench.settle()
			expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
			expect(await alertsOf(bench, 'alert.transfer')).toMatchObject([
				{ id: `31337:${txHash}:root:transfer:${alice}`, valueWei: `${7n * ether}`, direction: 'out', late: true },
			])
			await expectClosed(bench, node, watched)
			// One that moves nothing costs its fee all the same.
			hide(await node.send({ from: alice, to: stranger, valueWei: 0n, gas: 21_000n }))
			await node.mine()
			await bench.settle()
			await expectClosed(bench, node, watched)
			await node.mine(20)
			await bench.settle()
			expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
			expect(await alertsOf(bench, 'alert.removed')).toEqual([])
		},
	)

	testInFull('behavior: an unexplained change is retracted once a trace reports the payment', async () => {
		const { dialect } = hideLeaves(() => true)
		const { node, bench, gateways, puppet, bob } = await open({ dialects: [dialect] })
		const txHash = await node.send({ from: bob, to: puppet, data: pays(stranger, 3n), gas: 200_000n })
		await node.mine()
		await bench.settle()
		const [first] = await alertsOf(bench, 'alert.unexplained')
		expect(first).toMatchObject({ differenceWei: '-3' })
		const [gateway] = gateways
		if (gateway !== undefined) gateway.dialect = {}
		await node.mine(20)
		await bench.settle()
		expect(await alertsOf(bench, 'alert.removed')).toMatchObject([{ id: first?.id }])
		expect(await alertsOf(bench, 'alert.transfer')).toMatchObject([{ id: `31337:${txHash}:0:transfer:${puppet}` }])
		expect(await alertsOf(bench, 'alert.unexplained')).toHaveLength(1)
	})

	testInFull(
		'behavior: the payment behind an unexplained change is requested again after a second look without an answer',
		async () => {
			const { dialect } = hideLeaves(() => true)
			const { node, bench, gateways, puppet, bob } = await open({ dialects: [dialect] })
			await node.send({ from: bob, to: puppet, data: pays(stranger, 3n), gas: 200_000n })
			await node.mine()
			await bench.settle()
			const [first] = await alertsOf(bench, 'alert.unexplained')
			expect(first).toMatchObject({ differenceWei: '-3' })
			const [gateway] = gateways
			// It tells all by now, but for a while not what stands in the block besides.
			const failing: Dialect = {
				twist(method, [, isWhole]) {
					if (method !== 'eth_getBlockByNumber' || isWhole !== true) return undefined
					throw new Refused({ error: { code: -32603, message: 'internal error' } })
				},
			}
			if (gateway !== undefined) gateway.dialect = failing
			// More blocks than announcements are remembered.
			for (const blocks of [20, 300, 1]) {
				await node.mine(blocks)
				await bench.settle()
			}
			expect(await alertsOf(bench, 'alert.removed')).toEqual([])
			if (gateway !== undefined) gateway.dialect = {}
			bench.pass(20_000)
			await node.mine()
			await bench.settle()
			expect(await alertsOf(bench, 'alert.removed')).toMatchObject([{ id: first?.id }])
		},
	)

	testInFull(
		'behavior: on a chain that charges more than receipts say, fees are not proved, nothing is sent',
		async () => {
			const dialect: Dialect = {
				twist(method, _params, result) {
					const half = (receipt: { readonly effectiveGasPrice: string }) => {
						return { ...receipt, effectiveGasPrice: hex(BigInt(receipt.effectiveGasPrice) / 2n) }
					}
					if (method === 'eth_getBlockReceipts') return (result as Parameters<typeof half>[0][]).map(half)
					if (method !== 'eth_getTransactionReceipt' || result === null) return undefined
					return half(result as Parameters<typeof half>[0])
				},
			}
			const { node, bench, said, alice, bob, puppet, watched } = await open({ dialects: [dialect], chainId: 534_352 })
			for (let block = 0; block < 3; block++) {
				await node.send({ from: alice, to: bob, valueWei: 5n, gas: 21_000n })
				await node.send({ from: bob, to: puppet, data: pays(stranger, 3n), gas: 200_000n })
				await node.mine()
				await bench.settle()
			}
			expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
			expect(said).toHaveLength(3)
			await expectClosed(bench, node, watched)
		},
	)

	testInFull(
		'behavior: a look that ends early is continued where it ended, until all that is hidden was found',
		async () => {
			let isHiding = false
			// Balances are given so often in a poll, and then no more.
			let left = Number.POSITIVE_INFINITY
			const { dialect, hidden } = hideLeaves(() => isHiding)
			const { node, bench, bob, puppet, watched } = await open({
				dialects: [
					{
						...dialect,
						twist(method, params, result) {
							if (method === 'eth_call' && --left < 0)
								throw new Refused({ error: { code: -32603, message: 'internal error' } })
							return dialect.twist?.(method, params, result)
						},
					},
				],
			})
			isHiding = true
			left = 0
			for (let payment = 1n; payment <= 12n; payment++) {
				await node.send({ from: bob, to: puppet, data: pays(stranger, payment), gas: 200_000n })
				await node.mine()
			}
			await bench.settle()
			bench.pass(60_000)
			await node.mine()
			const found = async () =>
				(await alertsOf(bench, 'alert.unexplained')).map((one) => [one.toBlock, one.differenceWei])
			left = 12
			await bench.settle()
			const first = (await found()).length
			expect(first).toBeLessThan(12)
			for (let poll = 0; poll < 20; poll++) {
				left = 12
				await node.mine()
				await bench.settle()
			}
			expect(hidden()).toHaveLength(12)
			expect((await found()).sort()).toEqual(
				hidden()
					.map(({ block, wei }) => [block, String(-wei)])
					.sort(),
			)
			await expectClosed(bench, node, watched)
		},
	)

	testInFull('behavior: blocks read while no balance can be asked for are proved afterwards', async () => {
		const { node, bench, gateways, alice, bob, puppet, watched } = await open()
		const [gateway] = gateways
		if (gateway !== undefined) gateway.dialect = { lacks: ['eth_call', 'eth_getBalance'] }
		await node.send({ from: alice, to: bob, valueWei: 5n, gas: 21_000n })
		await node.send({ from: bob, to: puppet, data: pays(stranger, 3n), gas: 200_000n })
		await node.mine()
		await bench.settle()
		const seen = (await bench.store.summary()).networks.get('local')?.seen
		expect(seen?.books).toMatchObject({ closed: 2, kept: 2, reason: expect.stringContaining('balances') })
		expect(seen?.books?.open).toHaveLength(2)
		if (gateway !== undefined) gateway.dialect = {}
		bench.pass(60_000)
		await node.mine()
		await bench.settle()
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		await expectClosed(bench, node, watched)
	})

	testInFull(
		'behavior: books of blocks that left the chain open anew; what was unexplained is taken back',
		async () => {
			const { dialect, hide } = hideTransactions()
			const { node, bench, alice, bob, watched } = await open({ dialects: [dialect] })
			await node.mine(2)
			await bench.settle()
			const at = await node.rpc<string>('evm_snapshot')
			hide(await node.send({ from: alice, to: bob, valueWei: ether, gas: 21_000n }))
			await node.send({ from: alice, to: bob, valueWei: 5n, gas: 21_000n })
			await node.mine()
			await bench.settle()
			const [told] = await alertsOf(bench, 'alert.unexplained')
			expect(told).toMatchObject({ direction: 'out' })
			await node.rpc('evm_revert', [at])
			await node.rpc('evm_increaseTime', [hex(7n)])
			await node.send({ from: alice, to: bob, valueWei: 6n, gas: 21_000n })
			await node.mine(2)
			await bench.settle()
			expect(await alertsOf(bench, 'alert.unexplained')).toHaveLength(1)
			expect((await alertsOf(bench, 'alert.removed')).map(({ id }) => id)).toContain(told?.id)
			await expectClosed(bench, node, watched)
		},
	)

	test.each(
		divided(
			[
				[1, 1],
				[100, 1],
				// More than twice as many as are asked for at once.
				[4_100, 1],
			] as const,
			([count]) => count === 100,
		),
	)('default: %i watches cost %i call more a poll, two while they are opened', async (count, calls) => {
		const others = Array.from(
			{ length: count - 1 },
			(_, n): Address => `0x${(0xabc0000 + n).toString(16).padStart(40, '0')}`,
		)
		const { node, bench, gateways, alice, bob } = await open({ watched: ([first]) => [first as Address, ...others] })
		const asked = () =>
			['eth_call', 'eth_getBalance'].reduce((sum, method) => sum + (gateways[0]?.count(method) ?? 0), 0)
		const size = async () => (await bench.store.network('local'))?.books.size
		const costOf = async () => {
			const before = asked()
			await node.send({ from: alice, to: bob, valueWei: 5n, gas: 21_000n })
			await node.mine()
			await bench.settle()
			return asked() - before
		}
		while ((await size()) !== count) expect(await costOf()).toBeLessThanOrEqual(2)
		for (let block = 0; block < 3; block++) expect(await costOf()).toBe(calls)
		const { books } = (await bench.store.network('local')) ?? {}
		expect(books?.get(alice)?.block).toBe(await node.head())
	})

	testInFull(
		'behavior: all are looked at within 64 blocks; what was hidden before is found then, in its block',
		async () => {
			const others = Array.from(
				{ length: 2_100 },
				(_, n): Address => `0x${(0xabc0000 + n).toString(16).padStart(40, '0')}`,
			)
			const { dialect, hide } = hideTransactions()
			const { node, bench, bob, watched } = await open({ dialects: [dialect], watched: () => others })
			const opened = async () => (await bench.store.network('local'))?.books.size
			while ((await opened()) !== watched.length) {
				await node.mine()
				await bench.settle()
			}
			hide(await node.send({ from: bob, to: others[2_050] as Address, valueWei: 11n, gas: 21_000n }))
			const hiddenIn = await node.mine()
			for (let block = 0; block < 17; block++) {
				await bench.settle()
				await node.mine()
			}
			expect(await alertsOf(bench, 'alert.unexplained')).toMatchObject([
				{ fromBlock: Number(hiddenIn), toBlock: Number(hiddenIn), differenceWei: '11', late: true },
			])
		},
	)

	/** How requests are bounded, and what else is answered, changes no row that the books are made of. */
	const besides = new Set(['range', 'ots', 'noTags', 'lists', 'mostAddresses', 'clientVersion', 'beyondHead'])
	const ofRows = dialects.filter(([, dialect]) => Object.keys(dialect).some((key) => !besides.has(key)))
	// The chain goes on from row to row.
	let shared: TestAnvil | null = null
	afterAll(() => shared?.stop())

	test.each(divided(ofRows, (_, at) => at % 20 === 0))('%s: nothing is unexplained', async (_name, dialect) => {
		shared ??= await startStage()
		const { node, bench, alice, bob, puppet, watched } = await open({ dialects: [dialect], node: shared })
		for (const valueWei of [3n, 4n]) {
			await node.send({ from: alice, to: bob, valueWei, gas: 21_000n })
			await node.send({ from: bob, to: puppet, data: pays(alice, valueWei), gas: 200_000n })
			await node.send({ from: alice, to: puppet, data: pays(stranger, valueWei), gas: 200_000n })
			await node.send({ from: alice, data: puppetInit, gas: 60_000n })
			await node.mine()
			await bench.settle()
		}
		await node.mine(3)
		await bench.settle()
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		expect(await alertsOf(bench, 'alert.transfer')).toHaveLength(2 * 4)
		await expectClosed(bench, node, watched)
	})
})
