// Tokens go the way of frames: second looks, backfills, gaps, reorganisations. What is expected is read from the node's
// receipts, by hand.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Address, Hash } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type Dialect, type DialectGateway, Refused, startDialectGateway } from '../support/dialectGateway.js'
import { failingBlocks } from '../support/failingBlock.js'
import { describeOnce, inFull } from '../support/longRun.js'
import { randomOf } from '../support/random.js'
import { soaked } from '../support/soak.js'
import { callOf, erc20, signatures } from '../support/tokenContracts.js'
import { alertOf, type Bench, type BenchOptions, openBench, watchOf } from './bench.js'

interface Stage {
	readonly node: TestAnvil
	readonly gateways: readonly DialectGateway[]
	readonly minter: Address
	readonly alice: Address
	readonly token: Address
	network(settle: number): NonNullable<BenchOptions['network']>
	/** Mints for Alice; resolves when it stands in a block. */
	mint(amount: bigint): Promise<{ readonly hash: Hash; readonly block: bigint }>
	bench(options?: Partial<BenchOptions>, fromBlock?: bigint): Promise<Bench>
}

async function stage(dialects: readonly Dialect[] = [{}]): Promise<Stage> {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [minter, alice] = (await node.accounts()) as [Address, Address]
	const { contractAddress } = await node.receipt(await node.send({ from: minter, data: erc20('USD', 6) }))
	const token = contractAddress as Address
	const gateways = await Promise.all(dialects.map((dialect) => startDialectGateway(node.url, dialect)))
	onTestFinished(async () => void (await Promise.all(gateways.map((one) => one.close()))))
	const known = { address: token, symbol: 'USD', decimals: 6, minAmountRaw: null }
	const network = (settle: number) => ({ settle, tokens: new Map([[token, known]]) })
	return {
		node,
		gateways,
		minter,
		alice,
		token,
		network,
		async mint(amount) {
			const hash = await node.send({ from: minter, to: token, data: callOf('mint(address,uint256)', alice, amount) })
			return { hash, block: BigInt((await node.receipt(hash)).blockNumber) }
		},
		async bench(options = {}, fromBlock) {
			const bench = await openBench({
				urls: gateways.map(({ url }) => url),
				watches: [watchOf(alice, { kinds: ['token'], ...(fromBlock !== undefined && { fromBlock }) })],
				network: network(3),
				books: false,
				...options,
			})
			onTestFinished(() => bench.close())
			return bench
		},
	}
}

interface RawReceipt {
	readonly transactionHash: Hash
	readonly logs: readonly { readonly address: Address; readonly topics: readonly string[]; readonly data: string }[]
}

/** Ids and amounts of all that moved to Alice, as the chain has it now. */
async function due({ node, token, alice }: Stage, from: bigint, to: bigint): Promise<readonly string[]> {
	const lines: string[] = []
	for (let block = from; block <= to; block++) {
		for (const { transactionHash, logs } of await node.rpc<RawReceipt[]>('eth_getBlockReceipts', [
			`0x${block.toString(16)}`,
		])) {
			for (const [at, { address, topics, data }] of logs.entries()) {
				if (address !== token || topics[0] !== signatures.transfer || !topics[2]?.endsWith(alice.slice(2))) continue
				lines.push(`${block} 31337:${transactionHash}:log_${at}:token:${alice} ${BigInt(data)}`)
			}
		}
	}
	return lines.sort()
}

async function alertsOf(bench: Bench) {
	return (await bench.posted()).filter(({ message }) => message.type === 'alert.token').map(alertOf)
}

async function lines(bench: Bench): Promise<readonly string[]> {
	return (await alertsOf(bench)).map(({ blockNumber, id, token }) => `${blockNumber} ${id} ${token?.amountRaw}`).sort()
}

const types = async (bench: Bench) => (await bench.posted()).map(({ message: { type } }) => type)

describeOnce('the second look', () => {
	test('behavior: another endpoint has a log that the first left out: it is reported late, once', async () => {
		const hidden = new Set<string>()
		const hide: Dialect['twist'] = (method, _, result) =>
			method === 'eth_getLogs'
				? (result as { transactionHash: string }[]).filter(({ transactionHash }) => !hidden.has(transactionHash))
				: undefined
		// The second cannot be asked for logs at first, so that it is no witness.
		const own = await stage([
			{ clientVersion: 'reth/v2', twist: hide },
			{ clientVersion: 'erigon/3', lacks: ['eth_getLogs'] },
		])
		// Whoever is slow on a busy machine is no witness: both are waited for.
		const bench = await own.bench({ logs: { mostProved: 0 }, network: own.network(40), timeoutMs: 30_000 })
		await own.mint(1n)
		await bench.settle()
		const first = await own.node.head()
		const lost = await own.mint(7n)
		hidden.add(lost.hash)
		for (const amount of [8n, 9n, 10n, 11n]) await own.mint(amount)
		await own.node.mine(20)
		expect((await bench.settle()).disagreements).toBe(0)
		const before = await lines(bench)
		expect(before.some((line) => line.includes(lost.hash))).toBe(false)
		const [, second] = own.gateways
		if (second !== undefined) second.dialect = { clientVersion: 'erigon/3' }
		await own.node.mine(60)
		expect((await bench.settle()).disagreements).toBe(1)
		expect(await lines(bench)).toEqual(await due(own, first + 1n, await own.node.head()))
		const late = (await alertsOf(bench)).filter((alert) => alert.late)
		expect(late.map(({ txHash, lateReason }) => [txHash, lateReason])).toEqual([
			[lost.hash, 'found at the second look'],
		])
	})
})

describeOnce('a backfill of token transfers', () => {
	test('behavior: a watch with an earlier `from_block` gets past alerts late and in order, new ones not', async () => {
		const own = await stage()
		const first = (await own.node.head()) + 1n
		for (let amount = 1n; amount <= 12n; amount++) {
			await own.mint(amount)
			await own.node.mine(Number(amount % 3n))
		}
		const behind = await own.node.head()
		const bench = await own.bench({}, first)
		await bench.settle()
		await own.mint(13n)
		await bench.settle()
		expect(await lines(bench)).toEqual(await due(own, first, await own.node.head()))
		const alerts = await alertsOf(bench)
		const reason = 'scanned afterwards, because the watch covers earlier blocks'
		for (const { blockNumber, late, lateReason } of alerts) {
			expect([late, lateReason]).toEqual(BigInt(blockNumber) <= behind ? [true, reason] : [false, undefined])
		}
		expect(alerts.map(({ blockNumber }) => blockNumber)).toEqual(
			alerts.map(({ blockNumber }) => blockNumber).toSorted((a, b) => a - b),
		)
	})
})

inFull(() => {
	describe('a block that cannot be read', () => {
		const patience = { retry: { tries: 1 } }

		async function polls(bench: Bench, most = 12): Promise<void> {
			for (let failed = 0; failed < most; failed++) {
				try {
					await bench.settle()
					return
				} catch {
					bench.pass(20_000)
				}
			}
		}

		test('default: frames are missing: a gap, and its tokens are reported late when it was read', async () => {
			const failing = failingBlocks()
			const own = await stage([{ twist: failing.twist }])
			const bench = await own.bench({ ...patience, gaps: true })
			await own.mint(1n)
			await own.node.mine(3)
			await bench.settle()
			const start = await own.node.head()
			const bad = await own.mint(2n)
			failing.numbers.add(bad.block)
			failing.hashes.add(bad.hash)
			await own.mint(3n)
			await own.node.mine(2)
			await polls(bench)
			expect(await types(bench)).toEqual(['system.gap', 'alert.token'])
			failing.numbers.clear()
			failing.hashes.clear()
			bench.pass(3_600_000)
			await bench.settle()
			expect(await types(bench)).toEqual(['system.gap', 'alert.token', 'alert.token', 'system.recovered'])
			expect(await lines(bench)).toEqual(await due(own, start + 1n, await own.node.head()))
			expect((await alertsOf(bench)).find(({ txHash }) => txHash === bad.hash)).toMatchObject({
				late: true,
				lateReason: 'its block could not be read before',
			})
		})

		test('behavior: a block whose logs no method gives becomes a gap, and its tokens come late', async () => {
			const bad = new Set<string>()
			const twist: Dialect['twist'] = (method, [first]) => {
				const { fromBlock, toBlock, blockHash } = (first ?? {}) as Record<string, string | undefined>
				const inRange = [...bad].some(
					(one) => fromBlock !== undefined && BigInt(fromBlock) <= BigInt(one) && BigInt(one) <= BigInt(toBlock ?? 0),
				)
				const isHit =
					(method === 'eth_getBlockReceipts' && bad.has(String(first))) ||
					(method === 'eth_getTransactionReceipt' && bad.has(String(first))) ||
					(method === 'eth_getLogs' && (inRange || (blockHash !== undefined && bad.has(blockHash))))
				if (isHit) throw new Refused({ error: { code: -32000, message: 'internal error' } })
				return undefined
			}
			const own = await stage([{ twist }])
			const bench = await own.bench({ ...patience, gaps: true })
			await own.mint(1n)
			await own.node.mine(3)
			await bench.settle()
			const start = await own.node.head()
			const { hash, block } = await own.mint(2n)
			const header = await own.node.rpc<{ hash: string }>('eth_getBlockByNumber', [`0x${block.toString(16)}`, false])
			for (const one of [`0x${block.toString(16)}`, hash, header.hash]) bad.add(one)
			await own.mint(3n)
			await polls(bench)
			expect(await types(bench)).toEqual(['system.gap', 'alert.token'])
			bad.clear()
			bench.pass(3_600_000)
			await bench.settle()
			expect(await lines(bench)).toEqual(await due(own, start + 1n, await own.node.head()))
		})
	})
})

describeOnce('a private network', () => {
	test('default: is reported every token, and no request names an address or a transaction', async () => {
		const own = await stage()
		const start = await own.node.head()
		const bench = await own.bench({ isPrivate: true }, start + 1n)
		for (let amount = 1n; amount <= 8n; amount++) await own.mint(amount)
		await bench.settle()
		await own.mint(9n)
		await bench.settle()
		expect(await lines(bench)).toEqual(await due(own, start + 1n, await own.node.head()))
		const [gateway] = own.gateways
		const hashes = (await alertsOf(bench)).map(({ txHash }) => txHash.slice(2))
		for (const method of [
			'eth_getLogs',
			'eth_getTransactionReceipt',
			'eth_call',
			'eth_getCode',
			'trace_filter',
			'trace_transaction',
			'eth_getTransactionByHash',
		]) {
			const text = JSON.stringify(gateway?.asked(method)).toLowerCase()
			for (const secret of [own.alice.slice(2), ...hashes])
				expect(text.includes(secret), `${method}: ${text}`).toBe(false)
		}
		expect(gateway?.count('eth_getBlockReceipts')).toBeGreaterThan(8)
	})
})

inFull(() => {
	describe('reorganisations', () => {
		test.each(soaked([1], [1, 2, 3, 4, 5, 6]))(
			'property: seed %i: what was reported, less what was retracted, is the chain',
			async (seed) => {
				const own = await stage()
				const { node, alice, token, minter } = own
				await node.automine(false)
				const random = randomOf(seed)
				const pick = (n: number) => Math.floor(random() * n)
				const first = await node.head()
				const bench = await own.bench({ network: own.network(12) })
				await bench.settle()
				const snapshots: { readonly id: unknown; readonly head: bigint }[] = []
				let fee = 0
				for (let round = 0; round < 60; round++) {
					snapshots.push({ id: await node.rpc('evm_snapshot'), head: await node.head() })
					for (let n = pick(3); n > 0; n--) {
						await node.send({
							from: minter,
							to: token,
							data: callOf('mint(address,uint256)', alice, BigInt(1 + pick(9))),
							gas: 200_000n,
						})
					}
					await node.mine()
					const head = await node.head()
					const reachable = snapshots.filter((snapshot) => head - snapshot.head <= 8n).length
					if (random() < 0.15 && reachable > 1) {
						const back = snapshots.length - 1 - pick(reachable)
						await node.rpc('evm_revert', [snapshots[back]?.id])
						snapshots.length = back
						// Else the same would be mined again.
						fee++
						await node.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(2_000_000_000 + fee).toString(16)}`])
						while ((await node.head()) < head + 1n) await node.mine()
					}
					if (random() < 0.7) await bench.settle()
				}
				await node.mine(1)
				await bench.settle()
				const told = new Map<string, string>()
				for (const { message } of await bench.posted()) {
					const { id } = message.data as { id: string }
					if (message.type === 'alert.removed') told.delete(id)
					else told.set(id, message.type)
				}
				const expected = (await due(own, first + 1n, await node.head())).map((line) => line.split(' ')[1])
				expect([...told.keys()].sort()).toEqual(expected.sort())
				expect(expected.length, 'the chain has something to report').toBeGreaterThan(10)
			},
		)
	})
})
