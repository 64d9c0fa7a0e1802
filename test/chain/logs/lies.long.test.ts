// What an endpoint can do to logs, and what is then told, against what the chain holds: at the head, and catching up
// with one endpoint and with two.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Address, Hash } from '../../../src/model/glossary.js'
import { alertOf, openBench, watchOf } from '../../scan/bench.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { callOf, erc20, signatures, wordOf } from '../../support/tokenContracts.js'

type Row = Record<string, unknown>
type Lie = NonNullable<Dialect['twist']>

interface Played {
	readonly node: TestAnvil
	readonly alice: Address
	readonly token: Address
	/** Last block before the transfers. */
	readonly before: bigint
	/** `hash amount`, of each transfer to Alice. */
	readonly truth: readonly string[]
	/** Of Alice, in the order of the chain. */
	readonly hashes: readonly Hash[]
}

const BLOCKS = 18

/** In each third block two transfers to Alice, with another's between; in others one of another's, or none. */
async function play(): Promise<Played> {
	const node = await startTestAnvil(['--order', 'fifo'])
	const [from, alice, bob] = (await node.accounts()) as [Address, Address, Address]
	const created = await node.receipt(await node.send({ from, data: erc20('USD', 6) }))
	const token = created.contractAddress as Address
	await node.automine(false)
	const mint = (to: Address, amount: bigint) =>
		node.send({ from, to: token, data: callOf('mint(address,uint256)', to, amount), gas: 200_000n })
	const truth: string[] = []
	const hashes: Hash[] = []
	const own = async (amount: bigint) => {
		const hash = await mint(alice, amount)
		truth.push(`${hash} ${amount}`)
		hashes.push(hash)
	}
	for (let block = 0; block < BLOCKS; block++) {
		if (block % 3 === 0) await own(7n)
		if (block % 3 !== 2) await mint(bob, 7n)
		// The same as before, so that the bloom of the rest is that of all.
		if (block % 3 === 0) await own(7n)
		await node.mine(1)
	}
	return { node, alice, token, before: BigInt(created.blockNumber), truth: truth.sort(), hashes }
}

const onLogs =
	(edit: (rows: readonly Row[], filter: Row) => readonly Row[]): Lie =>
	(method, [filter], result) =>
		method === 'eth_getLogs' && Array.isArray(result) ? edit(result as Row[], filter as Row) : undefined

/** The same in receipts; those keep their blooms. */
function everywhere(edit: (rows: readonly Row[]) => readonly Row[]): Lie {
	const inOne = (receipt: Row) => ({ ...receipt, logs: edit(receipt.logs as Row[]) })
	return (method, params, result) => {
		if (method === 'eth_getBlockReceipts') return (result as Row[]).map(inOne)
		if (method === 'eth_getTransactionReceipt') return result === null ? null : inOne(result as Row)
		return onLogs(edit)(method, params, result)
	}
}

const hide =
	(hidden: readonly Hash[]) =>
	(rows: readonly Row[]): readonly Row[] =>
		rows.filter(({ transactionHash }) => !hidden.includes(transactionHash as Hash))

interface Case {
	readonly lie: (played: Played) => Lie
	/** With this endpoint alone nothing is told, and the checkpoint stays: no answer fits the header. */
	readonly refused?: true
	readonly lacks?: readonly string[]
}

const raised = (row: Row): Row => ({ ...row, data: `0x${wordOf(10n ** 12n)}` })
const isTransferOf = (address: Address) => (row: Row) =>
	(row.topics as string[])[0] === signatures.transfer &&
	(row.topics as string[])[2]?.endsWith(address.slice(2)) === true

const cases: Readonly<Record<string, Case>> = {
	'one of two logs of a block is hidden from eth_getLogs': {
		lie: ({ hashes }) => onLogs(hide([hashes[1], hashes[6]] as Hash[])),
	},
	'both logs of a block are hidden from eth_getLogs': {
		lie: ({ hashes }) => onLogs(hide([hashes[2], hashes[3]] as Hash[])),
	},
	'eth_getLogs finds nothing at all': { lie: () => onLogs(() => []) },
	'one of two is hidden, and there are no whole receipts': {
		lie: ({ hashes }) => onLogs(hide([hashes[1]] as Hash[])),
		lacks: ['eth_getBlockReceipts'],
	},
	'one of two is hidden from logs and receipts': {
		lie: ({ hashes }) => everywhere(hide([hashes[1]] as Hash[])),
		refused: true,
	},
	'a log of another block stands among them': {
		lie: ({ before }) =>
			onLogs((rows) => rows.map((row, at) => (at === 0 ? { ...row, blockNumber: hexOf(before) } : row))),
	},
	'a range is answered with the newest logs': {
		lie: () =>
			onLogs((rows, { fromBlock }) =>
				fromBlock === undefined ? rows : rows.map((row) => ({ ...row, blockNumber: '0xffff' })),
			),
	},
	'rows come twice, shuffled, with numbers in odd forms': {
		lie: () =>
			everywhere((rows) =>
				[...rows, ...rows].reverse().map((row) => ({
					...row,
					logIndex: Number(row.logIndex),
					blockNumber: String(Number(row.blockNumber)),
					transactionIndex: `0x000${String(row.transactionIndex).slice(2)}`,
					address: String(row.address).toUpperCase().replace('0X', '0x'),
				})),
			),
	},
	'a log is of a removed block': {
		lie: () => onLogs((rows) => rows.map((row, at) => (at === 0 ? { ...row, removed: true } : row))),
	},
	'a log has another block hash than its header': {
		lie: () =>
			onLogs((rows) => rows.map((row, at) => (at === 0 ? { ...row, blockHash: `0x${'ab'.repeat(32)}` } : row))),
	},
	'an amount is raised in eth_getLogs': {
		lie: ({ alice }) => onLogs((rows) => rows.map((row) => (isTransferOf(alice)(row) ? raised(row) : row))),
	},
	'an amount is raised in logs and receipts': {
		lie: ({ alice }) => everywhere((rows) => rows.map((row) => (isTransferOf(alice)(row) ? raised(row) : row))),
		refused: true,
	},
	"another's transfer is said to be hers": {
		lie: ({ alice }) =>
			everywhere((rows) =>
				rows.map((row) => ({ ...row, topics: (row.topics as string[]).with(2, `0x${wordOf(alice)}`) })),
			),
		refused: true,
	},
	'logs are given that nobody has asked for': {
		lie: ({ node }) => {
			const all = node.rpc<Row[]>('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
			all.catch(() => {})
			return (method, [filter]) => (method === 'eth_getLogs' && 'topics' in (filter as Row) ? all : undefined)
		},
	},
}

function hexOf(number: bigint): string {
	return `0x${number.toString(16)}`
}

/** Beside those that one endpoint alone is refused for. */
const few = ['both logs of a block are hidden from eth_getLogs', 'a log of another block stands among them']

/** How they are read; `proved` as `log_proof` says. */
const ways = {
	'whole blocks': { endpoints: 1, proved: null, isPrivate: true, few: false },
	'catching up': { endpoints: 1, proved: null, isPrivate: false, few: false },
	'catching up beside a second endpoint': { endpoints: 2, proved: 1, isPrivate: false, few: true },
	'catching up with nothing proved': { endpoints: 1, proved: 0, isPrivate: false, few: true },
} as const

async function read(played: Played, { lie, lacks = [] }: Case, way: (typeof ways)[keyof typeof ways]) {
	const { node, alice, token, before } = played
	const liar = await startDialectGateway(node.url, { twist: lie(played), lacks })
	const honest = way.endpoints === 2 ? await startDialectGateway(node.url, {}) : null
	const known = { address: token, symbol: 'USD', decimals: 6, minAmountRaw: null }
	let unproved = 0
	const bench = await openBench({
		urls: [liar.url, ...(honest === null ? [] : [honest.url])],
		watches: [watchOf(alice, { kinds: ['token'], fromBlock: before + 1n })],
		network: { tokens: new Map([[token, known]]), settle: 2 },
		books: false,
		isPrivate: way.isPrivate,
		logs: { mostProved: way.proved, onProofs: ({ none }) => (unproved += none) },
		...{ retry: { tries: 1 }, wait: async () => undefined },
	})
	const lines = async () =>
		(await bench.posted())
			.map(alertOf)
			.map(({ txHash, token: own }) => `${txHash} ${own?.amountRaw}`)
			.sort()
	try {
		const failure = await bench.settle().then(
			() => null,
			(error: Error) => error.message,
		)
		const first = { lines: await lines(), failure, unproved }
		liar.dialect = {}
		bench.pass(3_600_000)
		await bench.settle()
		return { ...first, afterwards: await lines() }
	} finally {
		await bench.close()
		await Promise.all([liar.close(), honest?.close()])
	}
}

describe('alerts, whatever an endpoint does to logs', () => {
	// It is only read.
	let played: Played
	beforeAll(async () => {
		played = await play()
	})
	afterAll(() => played.node.stop())

	test.each(Object.keys(ways) as (keyof typeof ways)[])('behavior: %s: what is true, or nothing', async (name) => {
		const { truth } = played
		const way = ways[name]
		for (const [title, one] of Object.entries(cases)) {
			if (way.few && one.refused !== true && !few.includes(title)) continue
			const { lines, failure, unproved, afterwards } = await read(played, one, way)
			const isTrue = lines.join() === truth.join()
			if (way.proved === 0) {
				// Believed as it was sent, on purpose; and said to be.
				expect(failure, title).toBeNull()
				expect(isTrue || unproved > 0, title).toBe(true)
				continue
			}
			const isRefused = one.refused === true && way.endpoints === 1
			expect(failure === null, `${title}: ${failure}`).toBe(!isRefused)
			expect(lines, title).toEqual(isRefused ? [] : truth)
			// Who was caught is no witness for the other.
			if (way.endpoints === 1) expect(unproved, title).toBe(0)
			expect(afterwards, title).toEqual(truth)
		}
	})
})
