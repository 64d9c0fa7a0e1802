// A log that a node hides from eth_getLogs, in blocks that were caught up: what finds it, and what says that nothing
// does.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { LogProofs } from '../../../src/chain/logs/logProofs.js'
import type { Address, Hash } from '../../../src/model/glossary.js'
import type { Log } from '../../../src/model/ports.js'
import { alertOf, openBench, watchOf } from '../../scan/bench.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Dialect, type DialectGateway, startDialectGateway } from '../../support/dialectGateway.js'
import { silent } from '../../support/silent.js'
import { callOf, erc20, liar, lie, signatures, wordOf } from '../../support/tokenContracts.js'

interface Played {
	readonly node: TestAnvil
	readonly alice: Address
	readonly token: Address
	/** Transfers to Alice, in order: alone in block 5 of the span, two in block 9, alone in each of 12 to 40. */
	readonly hashes: readonly Hash[]
	readonly first: bigint
	readonly count: number
}

async function play(): Promise<Played> {
	const node = await startTestAnvil(['--order', 'fifo'])
	const [from, alice] = (await node.accounts()) as [Address, Address]
	const created = await node.receipt(await node.send({ from, data: erc20('USD', 6) }))
	const token = created.contractAddress as Address
	const first = BigInt(created.blockNumber) + 1n
	await node.automine(false)
	const hashes: Hash[] = []
	const count = 40
	for (let block = 1; block <= count; block++) {
		const transfers = block === 5 ? 1 : block === 9 ? 2 : block >= 12 ? 1 : 0
		for (let at = 0; at < transfers; at++) {
			const data = callOf('mint(address,uint256)', alice, BigInt(block * 10 + at))
			hashes.push(await node.send({ from, to: token, data }))
		}
		await node.mine(1)
	}
	return { node, alice, token, hashes, first, count }
}

const hiding =
	(...hidden: readonly (Hash | undefined)[]): NonNullable<Dialect['twist']> =>
	(method, _, result) => {
		if (method !== 'eth_getLogs') return undefined
		return (result as { transactionHash: Hash }[]).filter(({ transactionHash }) => !hidden.includes(transactionHash))
	}

/** Hashes of the transfers that were sent, and what proved the blocks. */
async function told(
	{ node, alice, token, first }: Played,
	twists: readonly Dialect['twist'][],
	mostProved: number | null,
) {
	const gateways: DialectGateway[] = []
	for (const twist of twists) {
		const gateway = await startDialectGateway(node.url, twist === undefined ? {} : { twist })
		onTestFinished(() => gateway.close())
		gateways.push(gateway)
	}
	const proofs: LogProofs[] = []
	const said: string[] = []
	const say = (_: object, message: string) => void said.push(message)
	const log: Log = { ...silent, info: say, warn: say, child: () => log }
	const known = { address: token, symbol: 'USD', decimals: 6, minAmountRaw: null }
	const bench = await openBench({
		urls: gateways.map(({ url }) => url),
		watches: [watchOf(alice, { kinds: ['token'], fromBlock: first })],
		network: { tokens: new Map([[token, known]]) },
		books: false,
		logs: { mostProved, onProofs: (one) => proofs.push(one) },
		log,
	})
	onTestFinished(() => bench.close())
	await bench.settle()
	const hashes = (await bench.posted()).map(alertOf).map(({ txHash }) => txHash)
	const sum = (proof: keyof LogProofs) => proofs.reduce((total, one) => total + one[proof], 0)
	const counts = { receipts: sum('receipts'), bloom: sum('bloom'), witness: sum('witness'), none: sum('none') }
	const logs = await unprovedLogs(bench)
	const receipts = gateways.map((gateway) => gateway.count('eth_getTransactionReceipt'))
	return { hashes: hashes.sort(), counts, said, logs, bench, receipts }
}

/** Without books nothing proves the movements of a backfill either, which is no matter of logs. */
async function unprovedLogs({ store }: Pick<Awaited<ReturnType<typeof openBench>>, 'store'>) {
	const { logs } = (await store.summary()).networks.get('local')?.seen ?? {}
	const runs = logs?.runs.filter(({ why }) => why !== 'backfill') ?? []
	return runs.length === 0 ? undefined : { blocks: runs.reduce((sum, { blocks }) => sum + blocks, 0), runs }
}

describe('a log that eth_getLogs leaves out', () => {
	let played: Played
	beforeAll(async () => {
		played = await play()
	})
	afterAll(() => played.node.stop())

	test('behavior: is found where every block in doubt is read whole, beside others of its block too', async () => {
		const { hashes, count } = played
		const every = [...hashes].sort()
		// The only one of its block; the second of two to the same address in one block.
		for (const hidden of [[hashes[0]], [hashes[2]]]) {
			const { hashes: found, counts } = await told(played, [hiding(...hidden)], Number.POSITIVE_INFINITY)
			expect(found).toEqual(every)
			expect(counts.none + counts.witness).toBe(0)
			expect(counts.receipts + counts.bloom).toBe(count)
		}
	})

	test('behavior: is found by a second endpoint, without one receipt of a whole block asked for nothing', async () => {
		const { hashes, count } = played
		const every = [...hashes].sort()
		const { hashes: found, counts, said } = await told(played, [hiding(hashes[0], hashes[2]), undefined], 0)
		expect(found).toEqual(every)
		expect(counts.none).toBe(0)
		expect(counts.receipts + counts.bloom + counts.witness).toBe(count)
		expect(said.filter((line) => line.includes('are not proved'))).toEqual([])
		// A second one that lies does no harm: where it has less, the receipts tell who is right.
		const other = await told(played, [undefined, hiding(...hashes)], 0)
		expect(other.hashes).toEqual(every)
		expect(other.counts).toMatchObject({ none: 0, receipts: 31, witness: 0 })
	})

	test('behavior: a block whose logs nothing proves is counted and reported', async () => {
		const { hashes, count } = played
		const { hashes: found, counts, said, logs } = await told(played, [hiding(hashes[0], hashes[2])], 0)
		expect(found).toEqual(hashes.filter((_, at) => at !== 0 && at !== 2).sort())
		const [from, to] = [Number(played.first) + 4, Number(played.first) + count - 1]
		expect(logs).toEqual({ blocks: 31, runs: [{ fromBlock: from, toBlock: to, blocks: 31 }] })
		// Blocks 5, 9 and 12 to 40 hold a transfer, and no bloom can rule out one more there.
		expect(counts).toEqual({ receipts: 0, bloom: count - 31, witness: 0, none: 31 })
		expect(said.filter((line) => line.includes('are not proved'))).toHaveLength(1)
	})

	test('behavior: every block in doubt is proved, or 16 where a second endpoint gives the same', async () => {
		const { hashes, count } = played
		const lying = await told(played, [hiding(hashes[0], hashes[2])], null)
		expect(lying.hashes).toEqual([...hashes].sort())
		expect(lying.counts.none).toBe(0)
		expect(lying.logs).toBeUndefined()
		const { counts, logs, receipts } = await told(played, [undefined], null)
		expect(counts).toEqual({ receipts: 31, bloom: count - 31, witness: 0, none: 0 })
		// What was found in a block that is read whole is checked against that, and not asked for once more.
		expect(receipts).toEqual([0])
		expect(logs).toBeUndefined()
		// A second endpoint that tells the same is witness enough.
		const two = await told(played, [undefined, undefined], null)
		expect(two.counts).toEqual({ receipts: 16, bloom: count - 31, witness: 15, none: 0 })
	})

	test('behavior: no endpoint is blamed for what no topic finds', async () => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		const [from, alice] = (await node.accounts()) as [Address, Address]
		const created = await node.receipt(await node.send({ from, data: liar() }))
		const token = created.contractAddress as Address
		const [nobody, her] = [0n, alice].map(wordOf)
		const indexed = lie([signatures.transfer, `0x${nobody}`, `0x${her}`], `0x${wordOf(5n)}`)
		const unindexed = lie([signatures.transfer], `0x${nobody}${her}${wordOf(6n)}`)
		await node.automine(false)
		const hashes: Hash[] = []
		for (let block = 0; block < 5; block++) {
			for (const data of [indexed, unindexed]) hashes.push(await node.send({ from, to: token, data, gas: 200_000n }))
			await node.mine(1)
		}
		const lied = { node, alice, token, hashes, first: BigInt(created.blockNumber) + 1n, count: 5 }
		const every = [...hashes].sort()
		const honest = await told(lied, [undefined], null)
		expect(honest.hashes).toEqual(every)
		expect(honest.said.filter((line) => line.includes('left out'))).toEqual([])
		const lying = await told(lied, [hiding(hashes[2])], null)
		expect(lying.hashes).toEqual(every)
		expect(lying.said.filter((line) => line.includes('left out'))).toHaveLength(1)
	})

	// The last one: the chain grows in it.
	test('behavior: the second look proves and counts nothing again, and what was not proved stays said', async () => {
		const { bench, counts, logs } = await told(played, [undefined], 0)
		await played.node.mine(40)
		await bench.settle()
		const state = await bench.store.network('local')
		expect(state?.settled.number).toBeGreaterThan(played.first + BigInt(played.count))
		expect(await unprovedLogs(bench)).toEqual(logs)
		expect(counts.none).toBe(31)
	})
})
