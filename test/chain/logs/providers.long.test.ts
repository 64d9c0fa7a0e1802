// What providers and clients bear of questions for logs, in their own words and made small: all is told, by topics, and
// what was refused once is not asked for again and again.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Address, Hash } from '../../../src/model/glossary.js'
import { alertOf, openBench, watchOf } from '../../scan/bench.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Dialect, Refused, startDialectGateway } from '../../support/dialectGateway.js'
import { callOf, erc20 } from '../../support/tokenContracts.js'

interface Filter {
	readonly fromBlock: string
	readonly toBlock: string
	readonly topics: readonly (readonly string[] | null)[]
}
type Twist = NonNullable<Dialect['twist']>
type Refusal = readonly [code: number, message: string]

const BLOCKS = 60
/** A transfer to each of them in each fourth block. */
const WATCHED = 5

function refusing(why: (filter: Filter, rows: readonly unknown[]) => Refusal | null): Twist {
	return (method, [filter], result) => {
		if (method !== 'eth_getLogs') return undefined
		const refusal = why(filter as Filter, result as unknown[])
		if (refusal === null) return undefined
		const [code, message] = refusal
		throw new Refused({ error: { code, message } })
	}
}

const spanOf = ({ fromBlock, toBlock }: Filter) => Number(toBlock) - Number(fromBlock) + 1
const range = (most: number, refusal: (asked: number, filter: Filter) => Refusal) =>
	refusing((filter) => (spanOf(filter) > most ? refusal(spanOf(filter), filter) : null))
const results = (most: number, refusal: (filter: Filter) => Refusal) =>
	refusing((filter, rows) => (rows.length > most ? refusal(filter) : null))
const hex = (block: number) => `0x${block.toString(16)}`

/** The words: docs of the providers, sources of the clients (test/chain/rpc/refusals.ts). */
const limits: Readonly<Record<string, Twist>> = {
	'Infura: a range': range(7, (asked) => [-32602, `range ${asked} exceeds limit of 7`]),
	'Infura: results, with a range that would do': results(9, ({ fromBlock }) => [
		-32005,
		`query returned more than 9 results. Try with this block range [${fromBlock}, ${hex(Number(fromBlock) + 5)}].`,
	]),
	'QuickNode: a range': range(5, () => [-32614, 'eth_getLogs is limited to a 5 range']),
	'dRPC: a range': range(10, () => [35, 'ranges over 10 blocks are not supported on freetier']),
	'Reth: results, and the range that it suggests is the one that was asked for (reth#23810)': results(
		9,
		({ fromBlock, toBlock }) => [
			-32602,
			`query exceeds max results 9, retry with the range ${Number(fromBlock)}-${Number(toBlock)}`,
		],
	),
	'Erigon: results': results(9, () => [-32000, 'query returns too many logs, narrow your filter: 9']),
	'geth: topics': refusing(({ topics }) =>
		topics.some((list) => (list?.length ?? 0) > 3) ? [-32602, 'exceed max topics'] : null,
	),
}

// No test changes it, so that one serves all.
let node: TestAnvil
let watched: readonly Address[]
let token: Address
/** Last block before the transfers. */
let before: bigint
const due: string[] = []
beforeAll(async () => {
	node = await startTestAnvil(['--order', 'fifo'])
	const [from, ...rest] = (await node.accounts()) as [Address, ...Address[]]
	watched = rest.slice(0, WATCHED)
	const created = await node.receipt(await node.send({ from, data: erc20('USD', 6) }))
	token = created.contractAddress as Address
	before = BigInt(created.blockNumber)
	await node.automine(false)
	for (let block = 0; block < BLOCKS; block++) {
		for (const to of block % 4 === 0 ? watched : []) {
			const data = callOf('mint(address,uint256)', to, BigInt(block + 1))
			const hash: Hash = await node.send({ from, to: token, data, gas: 200_000n })
			due.push(`${hash} ${block + 1}`)
		}
		await node.mine(1)
	}
})
afterAll(() => node.stop())

test.each(Object.keys(limits))('default: %s', async (name) => {
	const twist = limits[name] as Twist
	let refused = 0
	const gateway = await startDialectGateway(node.url, {
		twist(method, params, result) {
			try {
				return twist(method, params, result)
			} catch (error) {
				refused++
				throw error
			}
		},
	})
	onTestFinished(() => gateway.close())
	const bench = await openBench({
		urls: [gateway.url],
		watches: watched.map((one) => watchOf(one, { kinds: ['token'], fromBlock: before + 1n })),
		network: { tokens: new Map([[token, { address: token, symbol: 'USD', decimals: 6, minAmountRaw: null }]]) },
		books: false,
		// Else receipts of whole blocks would make good what logs do not tell.
		logs: { mostProved: 0 },
	})
	onTestFinished(() => bench.close())
	await bench.settle()
	const told = (await bench.posted()).map(alertOf).map(({ txHash, token: own }) => `${txHash} ${own?.amountRaw}`)
	expect(told.toSorted()).toEqual(due.toSorted())
	expect(gateway.count('eth_getBlockReceipts')).toBe(0)
	expect(refused).toBeGreaterThan(0)
	expect(refused).toBeLessThan(20)
})
