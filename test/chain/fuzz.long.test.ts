/**
 * Whatever an endpoint says, to whatever question: nothing is thrown but RpcError, nothing takes long or much memory,
 * and the next endpoint is asked. Two endpoints on loopback, the first of which answers one method wrongly, the second
 * well.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SourceSetting } from '../../src/chain/capabilities/probe.js'
import { createCapabilitiesRegistry } from '../../src/chain/capabilities/registry.js'
import { createChain } from '../../src/chain/chain.js'
import { createEndpoints } from '../../src/chain/endpoints/endpoints.js'
import { openAccounts } from '../../src/chain/openAccounts.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import { readBlock } from '../../src/chain/wire/wire.js'
import { eventsOf } from '../../src/core/events/events.js'
import { RpcError } from '../../src/errors.js'
import type { Accounts } from '../../src/model/books.js'
import type { Block } from '../../src/model/chain.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import type { Chain, Log } from '../../src/model/ports.js'
import { type Damage, damage, damaged, type Mutation, mutated, mutation, written } from '../support/mutations.js'
import { never } from '../support/pool.js'
import { silent } from '../support/silent.js'
import { addressOf, answerOf, payment, token, watched } from '../support/smallChain.js'
import { expectBelow, fuzzSeconds } from '../support/soak.js'
import { folder, records } from './recorded.js'

interface Attack {
	readonly method: string
	/** Which of the calls of that method, as bits. */
	readonly which: number
	readonly mutations: readonly Mutation[]
	/** Of a real node's answer, in the place of one that fits; null: no. */
	readonly donor: number | null
	/** Another question's answer, as it is, in the place of this one's: of which method, and how far off; null: no. */
	readonly foreign: { readonly method: string; readonly by: number } | null
	/** Our own code throws where it meets a kind of frame that it does not know. */
	readonly trap: boolean
	/** The whole answer instead of its result. */
	readonly whole: boolean
	readonly damage: Damage
	/** Else its first answers are right. */
	readonly fromStart: boolean
	/** Answers are read as they come, as large ones are. */
	readonly streams?: boolean
}

const none: Damage = { way: 'none', at: 0, byte: 0, status: 200 }

const methods = [
	'eth_chainId',
	'eth_blockNumber',
	'eth_getBlockByNumber',
	'eth_getTransactionReceipt',
	'eth_getTransactionByHash',
	'trace_block',
	'trace_transaction',
	'trace_filter',
	'debug_traceBlockByNumber',
	'debug_traceTransaction',
	'web3_clientVersion',
	'ots_getApiLevel',
	'ots_getContractCreator',
	'ots_getTransactionError',
	'eth_getBlockReceipts',
	'eth_getLogs',
	'eth_call',
	'eth_getBalance',
	'eth_getBlockAccessList',
]
/** Logs and books. */
const listMethods = methods.slice(-5)
const traceMethods = methods.filter((method) => /trace/.test(method))
const filterMethods = new Set(['trace_filter', 'eth_getLogs', 'eth_call'])
const distance = fc.constantFrom(-2, -1, 1, 2)
/** What logs and receipts might say, and do not. */
const logMutation: fc.Arbitrary<Mutation> = fc.oneof(
	...Object.entries({
		data: [`0x${'7'.repeat(64)}`, '0x', `0x${'0'.repeat(63)}1`],
		topics: [[], ['0x1', null], [`0x${'f'.repeat(64)}`]],
		logs: [[], null],
		logIndex: ['0x0', '0x1', '0xffff'],
		type: ['0x0', '0x3', '0xff', null],
		status: ['0x0', null],
		address: [watched, addressOf(31)],
		cumulativeGasUsed: ['0x0', '0x1'],
		transactionHash: [payment.txHash],
	} satisfies Record<string, readonly unknown[]>).map(([key, values]) =>
		fc.constantFrom<unknown>(...values).map((value): Mutation => ({ at: 0, way: 'put', value, key })),
	),
)

const attack: fc.Arbitrary<Attack> = fc.record({
	method: fc.oneof(
		fc.constantFrom(...methods),
		fc.constantFrom(...traceMethods, ...listMethods, 'eth_getBlockByNumber'),
	),
	which: fc.oneof(fc.constant(-1), fc.integer()),
	mutations: fc.oneof(
		fc.array(mutation, { minLength: 1, maxLength: 1 }),
		fc.array(mutation, { minLength: 1, maxLength: 4 }),
		fc.array(logMutation, { minLength: 1, maxLength: 2 }),
	),
	donor: fc.oneof({ arbitrary: fc.constant(null), weight: 5 }, { arbitrary: fc.nat(), weight: 1 }),
	foreign: fc.oneof(
		{ arbitrary: fc.constant(null), weight: 3 },
		{ arbitrary: fc.record({ method: fc.constant(''), by: distance }), weight: 1 },
		{ arbitrary: fc.record({ method: fc.constantFrom(...methods), by: distance }), weight: 1 },
	),
	trap: fc.nat(2).map((n) => n === 0),
	fromStart: fc.nat(3).map((n) => n === 0),
	whole: fc.nat(5).map((n) => n === 0),
	damage: fc.oneof({ arbitrary: fc.constant(none), weight: 4 }, { arbitrary: damage, weight: 1 }),
	streams: fc.boolean(),
})

const settings: readonly SourceSetting[] = ['auto', 'trace_filter', 'trace_block', 'debug_traceBlockByNumber']
/** What it comes to must be possible, and what another question was answered with must not be taken for it. */
const operations = {
	// First: then the header is known, and logs of the newest block are asked for beside its traces.
	head: ({ chain }) => chain.head(never),
	block: ({ chain }) => chain.block(30n, never),
	locate: ({ chain }) => chain.locate(payment.txHash as Hash, never),
	transaction: ({ chain }) => chain.transaction(payment.txHash as Hash, never),
	creator: ({ chain }) => chain.creator(addressOf(178) as Address, never),
	walk: ({ chain }) => tell(chain, 39n, 39n),
	'walk far': ({ chain }) => tell(chain, 2n, 5n),
	tokens: ({ withTokens }) => tellTokens(withTokens, 39n, 39n),
	'tokens far': ({ withTokens }) => tellTokens(withTokens, 2n, 9n),
	balances: async ({ accounts }) => (await accounts.balances([watched], await thirtieth(), never)).get(watched),
	changes: async ({ accounts }) => {
		const changes = await accounts.changes(await thirtieth(), never)
		return changes === null ? null : [...changes.balances]
	},
} satisfies Record<string, (of: Opened) => Promise<unknown>>

interface Opened {
	readonly chain: Chain
	/** The same, where someone gets tokens. */
	readonly withTokens: Chain
	readonly accounts: Accounts
}

/** As the small chain itself says it: its hash is what the books are asked by. */
async function thirtieth(): Promise<Block> {
	const reading = { endpoint: '', method: 'eth_getBlockByNumber' }
	const block = readBlock(answerOf(reading.method, ['0x1e']), reading)
	if (block === null) throw new Error('the small chain has thirty blocks')
	return block
}

/** Blocks of the last answer of which it is said that nothing proves their logs. */
let unproved = new Set<string>()
/** Headers name what these say: whatever is changed in them is seen, or said not to be proved. */
const provedMethods = new Set(['eth_getLogs', 'eth_getBlockReceipts', 'eth_getTransactionReceipt'])

/** Of lines of tokens, those of blocks that are proved. */
function provedOnly(lines: unknown): readonly string[] {
	return String(lines)
		.split('\n')
		.filter((line) => !unproved.has(line.replace(/ .*/, '')))
}

async function tellTokens(chain: Chain, from: bigint, to: bigint): Promise<string> {
	const told: string[] = []
	unproved = new Set()
	for await (const part of chain.walk({ from, to }, new Set([watched]), never)) {
		for (const { number } of part.unprovedLogs ?? []) unproved.add(`${number}`)
		for (const { block, txHash, trace, contract, from: payer, to: payee, amountRaw, txIndex } of part.tokens ?? []) {
			expect(block.number >= from && block.number <= to, 'blocks asked for').toBe(true)
			expect(amountRaw >> 256n, 'words').toBe(0n)
			told.push(`${block.number} ${txHash} ${txIndex} ${trace} ${contract} ${payer} ${payee} ${amountRaw}`)
		}
	}
	return told.sort().join('\n')
}

/** All the way to the texts of alerts. */
async function tell(chain: Chain, from: bigint, to: bigint): Promise<string> {
	const told: string[] = []
	for await (const part of chain.walk({ from, to }, new Set([watched]), never)) {
		for (const tx of part.transactions) {
			for (const event of eventsOf(tx)) {
				const block = part.blocks.get(event.block.number)
				if (block === undefined) throw new Error('an event without its block')
				expect(event.traceAddress.length, 'levels').toBeLessThanOrEqual(1_024)
				expect(event.valueWei >> 256n, 'words').toBe(0n)
				expect([event.from, event.to].every((each) => each === null || /^0x[0-9a-f]{40}$/.test(each))).toBe(true)
				expect(event.block.number >= from && event.block.number <= to, 'blocks asked for').toBe(true)
				const time = new Date(Number(block.timestampS) * 1_000).toISOString()
				told.push(`${event.txHash} ${event.trace} ${event.kind} ${event.from} ${event.to} ${event.valueWei} ${time}`)
			}
		}
	}
	return told.join('\n')
}

interface Answer {
	readonly jsonrpc: string
	readonly id: unknown
	readonly result?: unknown
	readonly error?: unknown
}

let current: Attack
let asked = 0
let refused = 0
/** What making the answers took, which happens in this process too: some become too long to be written. */
let serversMs = 0
let serversBytes = 0
/** Of one attack, in this process too: the value that was changed, its text with and without marks, its bytes. */
let largestBytes = 0
const serversCopies = 6
/** Wrong answers to one question, batches as one, and their bytes as far as they are read. */
let answered = 0
let answeredBytes = 0
const mostBytes = 20_000_000
const donors = new Map<string, readonly unknown[]>()
const servers: Server[] = []
const urls: string[] = []

function answer(call: { id: unknown; method: string; params: readonly unknown[] }, isBad: boolean): unknown {
	const result = answerOf(call.method, call.params)
	const error = { code: -32601, message: `the method ${call.method} does not exist/is not available` }
	const good: Answer = { jsonrpc: '2.0', id: call.id, ...(result === undefined ? { error } : { result }) }
	if (!isBad || call.method !== current.method) return good
	asked += 1
	if (((current.which >> (asked % 31)) & 1) === 0) return good
	if (current.foreign !== null) {
		const { by } = current.foreign
		const method = current.foreign.method === '' ? call.method : current.foreign.method
		// Filters are no plain words: what is answered to those fits no other question.
		const isFilter = (params: readonly unknown[]) => typeof params[0] === 'object' && params[0] !== null
		const fits = method === call.method || (!isFilter(call.params) && !filterMethods.has(method))
		const other = fits ? answerOf(method, shifted(call.params, by)) : answerOf('trace_block', ['0x2'])
		return { ...good, result: other ?? good.result }
	}
	const given = current.donor === null ? [] : (donors.get(call.method) ?? [])
	const start = given.length > 0 ? { ...good, result: given[(current.donor ?? 0) % given.length] } : good
	if (current.whole) return current.mutations.reduce<unknown>(mutated, start)
	return { ...start, result: current.mutations.reduce<unknown>(mutated, start.result ?? null) }
}

/** The same question about another block or transaction. */
function shifted(params: readonly unknown[], by: number): readonly unknown[] {
	const shift = (value: unknown) => {
		if (typeof value !== 'string' || !/^0x[0-9a-f]+$/.test(value)) return value
		// Of a transaction's hash the last digit is its place in the block.
		const next = BigInt(value) + BigInt(value.length > 20 ? by * 16 : by)
		return next < 0n ? value : `0x${next.toString(16).padStart(value.length > 20 ? value.length - 2 : 0, '0')}`
	}
	return params.map((param) => {
		if (typeof param !== 'object' || param === null) return shift(param)
		return Object.fromEntries(Object.entries(param).map(([key, value]) => [key, shift(value)]))
	})
}

function processorMs(since: NodeJS.CpuUsage): number {
	const { user, system } = process.cpuUsage(since)
	return (user + system) / 1_000
}

function openServer(isBad: boolean): Server {
	return createServer((request, response) => {
		const chunks: Buffer[] = []
		response.on('error', () => {})
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		request.on('end', () => {
			const body = JSON.parse(Buffer.concat(chunks).toString())
			const calls = [body].flat()
			const before = process.cpuUsage()
			const rss = process.memoryUsage().rss
			const answers = calls.map((call) => answer(call, isBad))
			const text = written(Array.isArray(body) ? answers : answers[0])
			const isHit = isBad && calls.some(({ method }) => method === current.method)
			const bytes = isHit ? damaged(text, current.damage) : Buffer.from(text)
			serversMs += processorMs(before)
			serversBytes += Math.max(0, process.memoryUsage().rss - rss)
			if (isHit) answered += 1
			if (isHit) answeredBytes += Math.min(bytes.length, mostBytes)
			largestBytes = Math.max(largestBytes, bytes.length)
			const headers = isHit && current.damage.way === 'gzip' ? { 'content-encoding': 'gzip' } : {}
			response.writeHead(isHit ? current.damage.status : 200, headers).end(bytes)
		})
	})
}

beforeAll(async () => {
	for (const isBad of [true, false]) {
		const server = openServer(isBad)
		server.listen(0, '127.0.0.1')
		await once(server, 'listening')
		servers.push(server)
		urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}/key-0123456789`)
	}
	for (const { file, method } of records()) {
		const { response } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
		const results = [response].flat().flatMap((one) => (one?.result === undefined ? [] : [one.result]))
		donors.set(method, [
			...(donors.get(method) ?? []),
			...results.filter((one) => JSON.stringify(one).length < 200_000),
		])
	}
})

afterAll(() => {
	for (const server of servers) {
		server.closeAllConnections()
		server.close()
	}
})

/** One of each class of fault, so that none waits for chance. */
function known(): [Attack, SourceSetting][] {
	const attackOf = (method: string, part: Partial<Attack>): Attack => {
		return { ...well, method, which: -1, ...part }
	}
	const of = (key: string, value: unknown) => [{ at: 0, way: 'put' as const, value, key }]
	const named = (key: string, value: unknown) => ({ mutations: of(key, value) })
	const block = 'debug_traceBlockByNumber'
	const tooLarge = `0x1${'0'.repeat(64)}`
	return [
		[attackOf('trace_block', named('value', tooLarge)), 'trace_block'],
		[attackOf(block, named('value', tooLarge)), block],
		[attackOf(block, { mutations: [{ at: 1, way: 'deepen', value: null }] }), block],
		[attackOf('eth_getBlockByNumber', { foreign: { method: '', by: 1 } }), 'auto'],
		[attackOf('eth_getTransactionReceipt', { foreign: { method: '', by: -2 } }), 'auto'],
		[attackOf('trace_block', { ...named('type', 'strange'), trap: true }), 'trace_block'],
		[attackOf('eth_getBlockReceipts', { foreign: { method: '', by: 1 } }), 'auto'],
		// As if they were encoded in a new way, and all of another amount, which no bloom knows.
		[
			attackOf('eth_getBlockReceipts', { mutations: [...of('type', '0xff'), ...of('data', `0x${'9'.repeat(64)}`)] }),
			'auto',
		],
		[attackOf('eth_getLogs', { foreign: { method: '', by: 1 } }), 'auto'],
		// Of the form that they should have, and not true.
		...[...provedMethods].flatMap((method): [Attack, SourceSetting][] => [
			[attackOf(method, named('data', `0x${'9'.repeat(64)}`)), 'auto'],
			[attackOf(method, named('topics', ['0x1', null])), 'auto'],
		]),
		[attackOf('eth_getBlockReceipts', named('logs', [])), 'auto'],
		[attackOf('eth_getTransactionReceipt', named('logs', [])), 'auto'],
		[attackOf('eth_getBlockAccessList', { foreign: { method: '', by: 1 } }), 'auto'],
		[attackOf('eth_call', { mutations: [{ at: 0, way: 'deepen', value: null }] }), 'auto'],
	]
}

/** By source and question, of endpoints that are right. */
const right = new Map<string, unknown>()

/** An endpoint may have an older head than another, and what it knows of a creator is an addition that may lack. */
function mayDiffer(name: string, came: unknown): boolean {
	// Nothing in a header says what a balance is: that it is another's question is seen by no one.
	return name === 'head' || name === 'balances' || ((name === 'creator' || name === 'changes') && came === null)
}

/**
 * A single byte that is another makes a 3 a 0 in whatever stands in the same answer: that is no other question's, and
 * what it comes to may well be possible.
 */
function mayBeAnother({ way }: Damage): boolean {
	return way === 'flip' || way === 'insert'
}

const trap: Log = {
	...silent,
	warn(_facts, message) {
		if (message.includes('kind')) throw new TypeError('a fault of our own, while an answer is read')
	},
	child: () => trap,
}

/** Every question in turn, an hour after the other, so that the first endpoint has its chance again. */
async function run(one: Attack, setting: SourceSetting): Promise<void> {
	let nowMs = 1_700_000_500_000
	// What is asked again in place is proved elsewhere; here it would only be the same wrong answer, waited for.
	const retry = { tries: 2, withinMs: 500 }
	const streamed = one.streams ? { parsedBytes: 0 } : {}
	const rpcs = urls.map((url) => createRpc({ url, timeoutMs: 30_000, maxBodyBytes: mostBytes, retry, ...streamed }))
	const wait = async (_ms: number, signal: AbortSignal) => signal.throwIfAborted()
	const endpoints = createEndpoints({ rpcs, chainId: 1, clock: () => nowMs, log: silent, wait })
	const clock = () => nowMs
	const own = { endpoints, source: setting, log: one.trap ? trap : silent, clock }
	const chain = createChain(own)
	const tokens = { chainId: 1, known: new Map(), areAsked: () => true }
	const withTokens = createChain({ ...own, tokens })
	const registry = createCapabilitiesRegistry({ setting, clock, log: silent })
	const accounts = openAccounts({ rpcs, endpoints, chainId: 1, registry, clock, log: silent })
	const opened = { chain, withTokens, accounts }
	const rss = process.memoryUsage().rss
	largestBytes = 0
	serversBytes = 0
	try {
		current = { ...one, method: 'none' }
		if (!one.fromStart) await operations.walk(opened)
		current = one
		for (const [name, operation] of Object.entries(operations)) {
			asked = 0
			serversMs = 0
			answered = 0
			answeredBytes = 0
			const before = process.cpuUsage()
			const came = await operation(opened).catch((error: unknown) => {
				if (!(error instanceof RpcError)) throw error
				throw new Error(`the good endpoint was not used for ${name}: ${error.message.slice(0, 500)}`, { cause: error })
			})
			if (one.method === 'none') right.set(`${setting} ${name}`, came)
			else if (one.foreign !== null && !mayBeAnother(one.damage) && !mayDiffer(name, came)) {
				const expected = right.get(`${setting} ${name}`)
				// A filter that finds nothing cannot be told from a node that leaves out: that is what books are for.
				const mayLack = one.method === 'trace_filter' && typeof came === 'string'
				if (mayLack)
					expect(String(expected).split('\n')).toEqual(expect.arrayContaining(came.split('\n').filter(Boolean)))
				else expect(came, `${name}, by another question's answer`).toEqual(expected)
			} else if (name.startsWith('tokens') && provedMethods.has(one.method)) {
				expect(provedOnly(came), `${name}, with a wrong answer`).toEqual(provedOnly(right.get(`${setting} ${name}`)))
			}
			// A second for each wrong answer, one for each 20 MB, and what everything else of the question takes.
			const most = 1_000 + 1_000 * Math.max(1, answered) + (1_000 * answeredBytes) / 20e6
			expectBelow(processorMs(before) - serversMs, most, 'milliseconds')
			if (endpoints.states()[0]?.lastError !== null) refused += 1
			nowMs += 3_600_000
		}
	} finally {
		await chain.close()
	}
	const grown = process.memoryUsage().rss - rss
	expectBelow((grown - serversBytes - serversCopies * largestBytes) / 1e6, 300, 'megabytes')
}

/** Nothing is wrong. */
const well: Attack = {
	method: 'none',
	which: 0,
	mutations: [],
	donor: null,
	whole: false,
	fromStart: true,
	damage: none,
	foreign: null,
	trap: false,
}

/** How each question is answered where nothing is wrong: by every source alike. */
async function runWell(): Promise<void> {
	for (const setting of settings) await run(well, setting)
}

test('default: without a mutation the small chain is read alike by every source', async () => {
	await runWell()
	const walks = settings.map((setting) => right.get(`${setting} walk`))
	expect(walks[0]).toMatch(/transfer/)
	expect(new Set(walks).size).toBe(1)
	for (const setting of settings) {
		const told = ['tokens', 'tokens far'].map((name) => String(right.get(`${setting} ${name}`)).split('\n'))
		expect(told.map((lines) => lines.length)).toEqual([2, 16])
		expect(told.flat().every((line) => line.includes(token))).toBe(true)
		expect(right.get(`${setting} balances`)).toBe(930n)
		expect(right.get(`${setting} changes`)).toEqual([[watched, [{ index: 2, wei: 930n }]]])
	}
})

test(
	'behavior: an endpoint with answers wrong at random is passed over, and the second one is used',
	async () => {
		if (right.size === 0) await runWell()
		let runs = 0
		refused = 0
		await fc.assert(
			fc.asyncProperty(attack, fc.constantFrom(...settings), async (one, setting) => {
				runs += 1
				await run(one, setting)
			}),
			{
				examples: known(),
				...(fuzzSeconds === null
					? { numRuns: known().length + 10 }
					: { numRuns: 10_000_000, interruptAfterTimeLimit: fuzzSeconds * 1_000, markInterruptAsFailure: false }),
			},
		)
		console.log(`${runs} runs with wrong answers; ${refused} were refused, the others could be true`)
		expect(runs).toBeGreaterThan(0)
	},
	((fuzzSeconds ?? 0) + 300) * 1_000,
)
