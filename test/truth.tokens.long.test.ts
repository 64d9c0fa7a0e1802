// What gets tokens is what their contracts' books say, block by block; and it is the same however it was read.
import { describe, expect, onTestFinished, test } from 'vitest'
import { asksForTokens } from '../src/kinds/tokenRules.js'
import type { AlertData } from '../src/model/alert.js'
import type { Address } from '../src/model/glossary.js'
import type { Watch } from '../src/model/watch.js'
import { alertOf, type BenchOptions, openBench, watchOf } from './scan/bench.js'
import { type Answers, type Dialect, Refused, startDialectGateway } from './support/dialectGateway.js'
import { soaked } from './support/soak.js'
import { callOf } from './support/tokenContracts.js'
import { type Moved, type Played, playTokens, type TokenScenario, zero } from './support/tokenScenario.js'

function watchesOf({ people: { alice, bob, carol }, contracts }: TokenScenario, part: Partial<Watch> = {}) {
	const kinds = ['transfer', 'deployment', 'token'] as const
	return [
		watchOf(alice, { kinds, tokens: 'all', ...part }),
		watchOf(bob, { kinds, ...part }),
		watchOf(carol, { kinds, tokens: new Set([contracts.usd]), ...part }),
	]
}

/** One line for each alert that must come. */
function due({ people: { alice, bob, carol }, contracts, known, played }: TokenScenario): readonly string[] {
	const wants = (who: Address, { token, amount }: Moved) => {
		if (who === alice) return true
		return amount > 0n && (who === bob ? known.has(token) : who === carol && token === contracts.usd)
	}
	return played
		.flatMap((tx) =>
			tx.moves.flatMap((move) =>
				[...new Set([move.from, move.to])].filter((who) => wants(who, move)).map((who) => dueLine(tx, move, who)),
			),
		)
		.sort()

	function dueLine(
		{ hash, block, sender }: Played,
		{ token, standard, from, to, amount, id, place }: Moved,
		who: Address,
	) {
		const direction = from === to ? 'self' : who === from ? 'out' : 'in'
		const facts = [block, `31337:${hash}:${place}:token:${who}`, direction, standard, token, known.has(token)]
		return [...facts, from, to, amount, id, sender].join(' ')
	}
}

function told(alerts: readonly AlertData[]): readonly string[] {
	return alerts
		.map(({ blockNumber, id, direction, token, from, to, initiator }) => {
			const facts = [blockNumber, id, direction, token?.standard, token?.address.toLowerCase(), token?.known]
			return [
				...facts,
				from?.toLowerCase(),
				to.toLowerCase(),
				token?.amountRaw,
				token?.tokenId,
				initiator?.toLowerCase(),
			]
		})
		.map((words) => words.join(' '))
		.sort()
}

async function tokensTold(bench: Awaited<ReturnType<typeof openBench>>): Promise<readonly AlertData[]> {
	return (await bench.posted()).map(alertOf).filter(({ kind }) => kind === 'token')
}

async function openOn(scenario: TokenScenario, url: string, options: Partial<BenchOptions> = {}) {
	const { known } = scenario
	const watches = watchesOf(scenario)
	expect(asksForTokens(watches, known)).toBe(true)
	const bench = await openBench({ urls: [url], watches, network: { tokens: known }, ...options })
	onTestFinished(() => bench.close())
	return bench
}

/** Balances of the contracts' own books, against what is told, for one who gets everything. */
async function expectBooksAgree(
	{ node, people: { alice }, contracts, span }: TokenScenario,
	alerts: readonly AlertData[],
) {
	const answers = new Map<string, Promise<string>>()
	/** Each block is the one after another: it is asked once for both. */
	const ask = async (to: Address, data: string, block: bigint) => {
		const key = `${to} ${data} ${block}`
		const answer = answers.get(key) ?? node.rpc<string>('eth_call', [{ to, data }, `0x${block.toString(16)}`])
		answers.set(key, answer)
		return BigInt(await answer)
	}
	const own = alerts.filter(({ watch }) => watch.address.toLowerCase() === alice)
	for (const name of ['usd', 'fee', 'odd', 'weth'] as const) {
		const data = callOf('balanceOf(address)', alice)
		for (let block = span.from; block <= span.to; block++) {
			const change = (await ask(contracts[name], data, block)) - (await ask(contracts[name], data, block - 1n))
			expect(sumOf(own, contracts[name], block, null), `${name} in block ${block}`).toBe(change)
		}
	}
	for (const id of [1n, 2n]) {
		const data = callOf('balanceOf(address,uint256)', alice, id)
		for (let block = span.from; block <= span.to; block++) {
			const change = (await ask(contracts.items, data, block)) - (await ask(contracts.items, data, block - 1n))
			expect(sumOf(own, contracts.items, block, id), `item ${id} in block ${block}`).toBe(change)
		}
	}
	for (const name of ['nft', 'kitty'] as const) {
		for (let id = 0n; id < 6n; id++) {
			const isHers = (block: bigint) => ask(contracts[name], callOf('ownerOf(uint256)', id), block)
			for (let block = span.from; block <= span.to; block++) {
				const [before, after] = [await isHers(block - 1n), await isHers(block)].map((owner) => owner === BigInt(alice))
				expect(sumOf(own, contracts[name], block, id), `${name} ${id} in block ${block}`).toBe(
					BigInt(Number(after)) - BigInt(Number(before)),
				)
			}
		}
	}
}

function sumOf(alerts: readonly AlertData[], token: Address, block: bigint, id: bigint | null): bigint {
	return alerts
		.filter((one) => one.token?.address.toLowerCase() === token && BigInt(one.blockNumber) === block)
		.filter((one) => id === null || one.token?.tokenId === String(id))
		.reduce((sum, { direction, token: own }) => {
			const amount = BigInt(own?.amountRaw ?? 0)
			return direction === 'in' ? sum + amount : direction === 'out' ? sum - amount : sum
		}, 0n)
}

describe('tokens as their contracts have them', () => {
	test.each(soaked([1, 2], [1, 2, 3, 4, 5]))('seed %i: at the head, in each block', async (seed) => {
		let bench: Awaited<ReturnType<typeof openBench>> | null = null
		const scenario = await playTokens(seed, {
			blocks: 40,
			async onBlock(now) {
				bench ??= await openOn(now, now.node.url, { watches: watchesOf(now, { fromBlock: now.span.from }) })
				await bench.settle()
			},
		})
		if (bench === null) throw new Error('nothing was played')
		const alerts = await tokensTold(bench)
		expect(told(alerts)).toEqual(due(scenario))
		await expectBooksAgree(scenario, alerts)
		expect(alerts.some(({ token }) => token?.standard === 'erc1155')).toBe(true)
		expect(alerts.some(({ from }) => from === zero)).toBe(true)
	})
})

const refusing = (message: string, code = -32_602): never => {
	throw new Refused({ error: { code, message } })
}

/** A node that gives the logs of so many blocks at once. */
function limitedTo(blocks: number, words: string): NonNullable<Dialect['twist']> {
	return (method, [filter]) => {
		if (method !== 'eth_getLogs') return undefined
		const { fromBlock, toBlock } = filter as { fromBlock?: string; toBlock?: string }
		if (fromBlock !== undefined && Number(toBlock) - Number(fromBlock) >= blocks) refusing(words)
		return undefined
	}
}

/** Ways of reading that must all come to the same. */
const ways: Readonly<Record<string, { readonly dialect?: Dialect; readonly options?: Partial<BenchOptions> }>> = {
	'by topics': {},
	'by whole receipts, as a private network': { options: { isPrivate: true } },
	'by the logs of whole blocks': { options: { isPrivate: true }, dialect: { lacks: ['eth_getBlockReceipts'] } },
	'by topics, with every span that a provider allows': {
		dialect: { twist: limitedTo(3, 'eth_getLogs is limited to a 3 range') },
	},
	'by the receipts of each transaction': {
		options: { isPrivate: true },
		dialect: { lacks: ['eth_getBlockReceipts'], twist: (method) => (method === 'eth_getLogs' ? [] : undefined) },
	},
}

describe('however they are read', () => {
	test('behavior: the same alerts, from first to last block afterwards', async () => {
		const scenario = await playTokens(7, { blocks: 12 })
		await scenario.node.mine(3)
		const answers: Answers = new Map()
		for (const [name, { dialect = {}, options = {} }] of Object.entries(ways)) {
			const gateway = await startDialectGateway(scenario.node.url, dialect, answers)
			onTestFinished(() => gateway.close())
			const bench = await openOn(scenario, gateway.url, {
				watches: watchesOf(scenario, { fromBlock: scenario.span.from }),
				...options,
			})
			await bench.settle()
			const alerts = await tokensTold(bench)
			const isBlind = name === 'by the logs of whole blocks'
			const lines = told(alerts)
			// On a private network nothing is asked of a transaction, and logs do not say who sent it.
			const cut = (line: string) => (isBlind ? line.split(' ').slice(0, -1).join(' ') : line)
			expect(lines.map(cut), name).toEqual(due(scenario).map(cut))
		}
	})
})

type Row = Record<string, unknown>

/** Without each `every`-th log, wherever logs stand in an answer. */
const without = (every: number) => (logs: readonly Row[]) => logs.filter((_, at) => at % every !== 0)
const inReceipts = (edit: (logs: readonly Row[]) => readonly Row[]) => (result: unknown) => {
	const one = (receipt: Row) => ({ ...receipt, logs: edit(receipt.logs as Row[]) })
	return Array.isArray(result) ? result.map(one) : result && one(result as Row)
}
const decimal = (row: Row): Row => ({
	...row,
	logIndex: Number(row.logIndex),
	blockNumber: String(Number(row.blockNumber)),
	address: String(row.address).toUpperCase().replace('0X', '0x'),
})

/** What nodes do to logs; `refused`: nothing may be told, for no answer can be believed. */
const dialects: Readonly<
	Record<string, { readonly twist: Dialect['twist']; readonly refused?: true; readonly lacks?: string[] }>
> = {
	'eth_getLogs leaves out every third log': {
		twist: (method, _, result) => (method === 'eth_getLogs' ? without(3)(result as Row[]) : undefined),
	},
	'eth_getLogs finds nothing': { twist: (method) => (method === 'eth_getLogs' ? [] : undefined) },
	'whole receipts lack logs': {
		twist: (method, _, result) => (method === 'eth_getBlockReceipts' ? inReceipts(without(2))(result) : undefined),
	},
	'logs and receipts alike lack logs, and blooms of receipts say so': {
		twist: (method, _, result) =>
			method === 'eth_getLogs'
				? without(2)(result as Row[])
				: method.endsWith('Receipts') || method.endsWith('Receipt')
					? inReceipts((logs) => logs.slice(1))(result)
					: undefined,
		refused: true,
	},
	'rows twice, shuffled, numbers in decimal': {
		twist: (method, _, result) => {
			if (method === 'eth_getLogs') return [...(result as Row[]), ...(result as Row[])].reverse().map(decimal)
			if (!method.includes('Receipt')) return undefined
			return inReceipts((logs) => [...logs, ...logs].reverse().map(decimal))(result)
		},
	},
	'a range beyond the head is answered with the newest logs': {
		twist: (method, [filter], result) =>
			method === 'eth_getLogs' && 'fromBlock' in (filter as object)
				? (result as Row[]).map((row) => ({ ...row, blockNumber: '0xffff' }))
				: undefined,
	},
	'there is no eth_getLogs': { lacks: ['eth_getLogs'], twist: undefined },
	'there are neither logs nor whole receipts': { lacks: ['eth_getLogs', 'eth_getBlockReceipts'], twist: undefined },
	'logs are refused, whatever the range': {
		twist: (method) => (method === 'eth_getLogs' ? refusing('query exceeds max results 20000') : undefined),
	},
	'a receipt of another block': {
		twist: (method, _, result) =>
			method === 'eth_getBlockReceipts'
				? (result as Row[]).map((receipt) => ({ ...receipt, blockHash: `0x${'ab'.repeat(32)}` }))
				: undefined,
		refused: true,
	},
}

describe('logs hidden, cut or changed by a node', () => {
	test('behavior: all of them reported, or none and the checkpoint stays', async () => {
		const scenario = await playTokens(11, { blocks: 8 })
		await scenario.node.mine(3)
		const answers: Answers = new Map()
		const lines = due(scenario)
		for (const [name, { twist, lacks = [], refused }] of Object.entries(dialects)) {
			const gateway = await startDialectGateway(scenario.node.url, { ...(twist && { twist }), lacks }, answers)
			onTestFinished(() => gateway.close())
			const options = { retry: { tries: 1 }, wait: async () => undefined }
			const watches = watchesOf(scenario, { fromBlock: scenario.span.from })
			const bench = await openOn(scenario, gateway.url, { watches, ...options })
			if (refused === true) await expect(bench.settle(), name).rejects.toThrow()
			else await bench.settle()
			const found = told(await tokensTold(bench))
			expect(
				found.filter((line) => !lines.includes(line)),
				name,
			).toEqual([])
			if (refused === undefined) expect(found, name).toEqual(lines)
			// Once the node is well again, nothing is missing.
			gateway.dialect = {}
			bench.pass(3_600_000)
			await bench.settle()
			expect(told(await tokensTold(bench)), `${name}, afterwards`).toEqual(lines)
		}
	})
})
