// A hard fork that encodes receipts in a way that this version does not know: nothing stands still, and what is not
// proved is said. And who only pretends that there was one gains nothing by it.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Address, Hash } from '../../../src/model/glossary.js'
import type { Log } from '../../../src/model/ports.js'
import { alertOf, openBench, watchOf } from '../../scan/bench.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { inFull, testOnce } from '../../support/longRun.js'
import { silent } from '../../support/silent.js'
import { callOf, erc20, wordOf } from '../../support/tokenContracts.js'

type Row = Record<string, unknown>
type Twist = NonNullable<Dialect['twist']>

/** What is done to each receipt, however it is asked for. */
const inReceipts =
	(edit: (receipt: Row) => Row): Twist =>
	(method, _, result) => {
		if (method === 'eth_getBlockReceipts' && Array.isArray(result)) return (result as Row[]).map(edit)
		return method === 'eth_getTransactionReceipt' && result !== null ? edit(result as Row) : undefined
	}

const typed = (receipt: Row): Row => ({ ...receipt, type: '0x55' })
/** As if the fork made another root of the same receipts. */
const otherRoot: Twist = (method, _, result) =>
	method === 'eth_getBlockByNumber' && result !== null && (result as Row).receiptsRoot !== undefined
		? { ...(result as Row), receiptsRoot: `0x${'ab'.repeat(32)}` }
		: undefined

interface Scene {
	readonly node: TestAnvil
	readonly alice: Address
	readonly token: Address
	transfer(amount: bigint): Promise<Hash>
}

async function open(): Promise<Scene> {
	const node = await startTestAnvil(['--order', 'fifo'])
	onTestFinished(() => node.stop())
	const [from, alice] = (await node.accounts()) as [Address, Address]
	const { contractAddress } = await node.receipt(await node.send({ from, data: erc20('USD', 6) }))
	const token = contractAddress as Address
	await node.automine(false)
	return {
		...{ node, alice, token },
		async transfer(amount) {
			return node.send({ from, to: token, data: callOf('mint(address,uint256)', alice, amount), gas: 200_000n })
		},
	}
}

async function watch({ node, alice, token }: Scene, twists: readonly (Twist | null)[]) {
	const gateways: Awaited<ReturnType<typeof startDialectGateway>>[] = []
	for (const twist of twists) gateways.push(await startDialectGateway(node.url, twist === null ? {} : { twist }))
	const warned: string[] = []
	const log: Log = { ...silent, warn: (_, message) => void warned.push(String(message)), child: () => log }
	const proofs = { receipts: 0, bloom: 0, witness: 0, none: 0 }
	const bench = await openBench({
		urls: gateways.map(({ url }) => url),
		watches: [watchOf(alice, { kinds: ['token'] })],
		network: { tokens: new Map([[token, { address: token, symbol: 'USD', decimals: 6, minAmountRaw: null }]]) },
		books: false,
		gaps: false,
		logs: {
			onProofs: (one) => {
				for (const proof of ['receipts', 'bloom', 'witness', 'none'] as const) proofs[proof] += one[proof]
			},
		},
		log,
		...{ retry: { tries: 1 }, wait: async () => undefined },
	})
	onTestFinished(async () => {
		await bench.close()
		await Promise.all(gateways.map((gateway) => gateway.close()))
	})
	return {
		...{ bench, gateways, proofs, warned: () => warned.filter((line) => line.includes('checked against the root')) },
		told: async () =>
			(await bench.posted()).map(alertOf).map(({ txHash, token: own }) => `${txHash} ${own?.amountRaw}`),
		logs: async () => (await bench.store.summary()).networks.get('local')?.seen?.logs,
		/** One poll; what it failed with, or null. Endpoints that rested may be asked again. */
		async poll(): Promise<string | null> {
			bench.pass(3_600_000)
			return bench.poll().then(
				() => null,
				(error: Error) => error.message,
			)
		},
	}
}

describe('an unknown type of transaction', () => {
	testOnce(
		'behavior: is believed as it is sent, block by block, and it is said once that nothing proves it',
		async () => {
			const scene = await open()
			const { poll, told, logs, warned, proofs, gateways } = await watch(scene, [null])
			expect(await poll()).toBeNull()
			const truth: string[] = []
			const step = async (amount: bigint) => {
				truth.push(`${await scene.transfer(amount)} ${amount}`)
				await scene.node.mine(1)
				expect(await poll()).toBeNull()
			}
			await step(5n)
			for (const gateway of gateways) gateway.dialect = { twist: inReceipts(typed) }
			const before = { ...proofs }
			expect(before).toMatchObject({ witness: 0, none: 0 })
			for (const amount of [6n, 7n, 8n]) await step(amount)
			expect(await told()).toEqual(truth)
			expect(proofs).toEqual({ ...before, none: 3 })
			const head = Number(await scene.node.rpc<string>('eth_blockNumber', []))
			expect(await logs()).toEqual({
				blocks: 3,
				runs: [{ fromBlock: head - 2, toBlock: head, blocks: 3, why: 'receipts' }],
			})
			expect(warned()).toHaveLength(1)
		},
	)

	inFull(() => {
		test('behavior: a second endpoint that reports the same is a witness, near the head and catching up', async () => {
			const scene = await open()
			const twist = inReceipts(typed)
			const { poll, bench, told, logs, proofs } = await watch(scene, [twist, twist])
			expect(await poll()).toBeNull()
			const truth = [`${await scene.transfer(5n)} 5`]
			await scene.node.mine(1)
			expect(await poll()).toBeNull()
			expect(proofs).toMatchObject({ witness: 1, none: 0 })
			for (let n = 0n; n < 12n; n++) {
				if (n % 3n === 0n) truth.push(`${await scene.transfer(n + 6n)} ${n + 6n}`)
				await scene.node.mine(1)
			}
			await bench.settle()
			expect(await told()).toEqual(truth)
			expect(proofs).toMatchObject({ witness: 5, none: 0 })
			// Of frames: without books nothing proves what an address filter gave. Logs are proved.
			expect((await logs())?.runs.map(({ why }) => why)).toEqual(['backfill'])
		})

		test('error: an invented type that hides a log is exposed by the bloom', async () => {
			const scene = await open()
			const hidden: Hash[] = []
			const without = (rows: unknown) =>
				(rows as Row[]).filter(({ transactionHash }) => !hidden.includes(transactionHash as Hash))
			const liar: Twist = (method, params, result) => {
				if (method === 'eth_getLogs') return without(result)
				return inReceipts((receipt) => ({ ...typed(receipt), logs: without(receipt.logs) }))(method, params, result)
			}
			const { poll, told, gateways } = await watch(scene, [liar])
			expect(await poll()).toBeNull()
			const hash = await scene.transfer(5n)
			hidden.push(hash)
			await scene.node.mine(1)
			expect(await poll()).toContain('are not those that the header names')
			expect(await told()).toEqual([])
			for (const gateway of gateways) gateway.dialect = {}
			expect(await poll()).toBeNull()
			expect(await told()).toEqual([`${hash} 5`])
		})

		test('error: an invented type that raises an amount is not believed beside a second endpoint', async () => {
			const scene = await open()
			const raised = (rows: unknown) => (rows as Row[]).map((row) => ({ ...row, data: `0x${wordOf(10n ** 12n)}` }))
			const liar: Twist = (method, params, result) => {
				if (method === 'eth_getLogs') return raised(result)
				return inReceipts((receipt) => ({ ...typed(receipt), logs: raised(receipt.logs) }))(method, params, result)
			}
			const { poll, told, logs } = await watch(scene, [liar, null])
			expect(await poll()).toBeNull()
			const hash = await scene.transfer(5n)
			await scene.node.mine(1)
			expect(await poll()).toBeNull()
			expect(await told()).toEqual([`${hash} 5`])
			expect(await logs()).toBeUndefined()
		})
	})
})

inFull(() => {
	describe('all receipts are encoded anew', () => {
		test('roots that fit no receipts for eight blocks prove nothing any more; one that fits ends it', async () => {
			const scene = await open()
			const { poll, told, logs, warned, gateways, bench } = await watch(scene, [null])
			expect(await poll()).toBeNull()
			for (const gateway of gateways) gateway.dialect = { twist: otherRoot }
			const truth: string[] = []
			const step = async (amount: bigint) => {
				truth.push(`${await scene.transfer(amount)} ${amount}`)
				await scene.node.mine(1)
				return poll()
			}
			const failures: (string | null)[] = []
			for (let n = 1n; n <= 9n; n++) failures.push(await step(n))
			expect(failures[0]).toContain('are not those that the header names')
			await bench.settle()
			expect(await told()).toEqual(truth)
			expect((await logs())?.runs.map(({ why }) => why)).toEqual(['receipts'])
			expect(warned()).toHaveLength(1)
			// It was no upgrade after all: from then on roots count again.
			for (const gateway of gateways) gateway.dialect = {}
			expect(await step(20n)).toBeNull()
			for (const gateway of gateways) gateway.dialect = { twist: otherRoot }
			expect(await step(21n)).toContain('are not those that the header names')
		})
	})
})
