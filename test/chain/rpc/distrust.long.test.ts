// What a node says is believed where it fits together; where it does not, nothing is told and nothing is lost.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Span } from '../../../src/model/chain.js'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Books, keepBooks } from '../../support/books.js'
import type { Answers, Dialect } from '../../support/dialectGateway.js'
import { errorOf, never } from '../../support/pool.js'
import { planScenario, playScenario } from '../../support/scenario.js'
import { dueIn, eventsIn, linesOf } from '../reading.js'
import { type SessionOptions, withSession } from './session.js'

type Row = { [key: string]: unknown; traceAddress: number[] }
type Twist = NonNullable<Dialect['twist']>

const strange = `0x${'ab'.repeat(32)}`

// The chain does not change.
const answers: Answers = new Map()
let anvil: TestAnvil
let books: Books
let span: Span
let watched: ReadonlySet<Address>
beforeAll(async () => {
	const plan = planScenario({ seed: 9, blocks: 45 })
	anvil = await startTestAnvil(plan.anvilArgs)
	const scenario = await playScenario(plan, anvil)
	books = await keepBooks(scenario, anvil)
	span = scenario.span
	watched = new Set(scenario.watched)
})
afterAll(() => anvil.stop())

function session(twist: Twist, part: Partial<SessionOptions> = {}): SessionOptions {
	return { anvilUrl: anvil.url, answers, dialects: [{ twist }], ...part }
}

/** Changes the rows that a method answers with. */
function rowsOf(method: string, change: (rows: Row[]) => unknown): Twist {
	return (asked, _params, result) => (asked === method ? change(result as Row[]) : undefined)
}

describe('trace_filter', () => {
	test.each<readonly [string, Twist, string, RegExp]>([
		[
			'a row of a block that was not asked for',
			rowsOf('trace_filter', (rows) => rows.map((row) => ({ ...row, blockNumber: 1_000 }))),
			'malformed',
			/block 1000, which was not asked for/,
		],
		[
			'rows of another block than the header names',
			rowsOf('trace_filter', (rows) => rows.map((row) => ({ ...row, blockHash: strange }))),
			'unsettled',
			/another hash than its header/,
		],
		[
			'a tree of another block',
			rowsOf('trace_transaction', (rows) => rows.map((row) => ({ ...row, blockHash: strange }))),
			'unsettled',
			/stands in another block/,
		],
		['an empty tree', rowsOf('trace_transaction', () => []), 'unsettled', /has no frames yet/],
		[
			'a tree without its root',
			rowsOf('trace_transaction', (rows) => rows.filter(({ traceAddress }) => traceAddress.length > 0)),
			'malformed',
			/no root frame/,
		],
		[
			'a tree with a gap',
			rowsOf('trace_transaction', (rows) => rows.filter(({ traceAddress }) => traceAddress.length !== 1)),
			'malformed',
			/lacks the frame above/,
		],
		[
			'a tree without the frame that was found',
			rowsOf('trace_transaction', (rows) => rows.slice(0, 1)),
			'malformed',
			/has 0 frames under the root, and 1 by its own count/,
		],
		[
			'a tree without the frame that was found, which it does not count either',
			rowsOf('trace_transaction', (rows) => rows.slice(0, 1).map((row) => ({ ...row, subtraces: 0 }))),
			'unsettled',
			/lacks frame/,
		],
		[
			'a receipt that is not there',
			(method) => (/^eth_get(?:Transaction|Block)Receipts?$/.test(method) ? null : undefined),
			'unsettled',
			/no longer in block/,
		],
		[
			'a receipt of another block',
			(method, _params, result) =>
				method === 'eth_getTransactionReceipt' ? { ...(result as object), blockHash: strange } : undefined,
			'unsettled',
			/no longer in block/,
		],
		[
			'a filter that leaves out what the tree holds',
			rowsOf('trace_filter', (rows) =>
				rows.filter(({ type, traceAddress }) => type !== 'call' || traceAddress.length < 2),
			),
			'malformed',
			/left out the call at/,
		],
	])('error: %s', async (_name, twist, kind, message) => {
		await withSession(session(twist, { source: 'trace_filter' }), async ({ walk }) => {
			const error = await errorOf(walk(span, watched))
			expect([error.kind, error.message]).toEqual([kind, expect.stringMatching(message)])
		})
	})

	// Erigon answers nothing at all where the range ends beyond its head.
	test('error: behind the URL a node that lags the head that was given is not believed', async () => {
		const lags = span.to - 1n
		const twist: Twist = (method, [first], result) => {
			if (method === 'eth_getBlockByNumber' && BigInt((result as { number: string }).number) > lags) return null
			if (method !== 'trace_filter') return undefined
			return BigInt((first as { toBlock: string }).toBlock) > lags ? [] : result
		}
		await withSession(
			session(() => undefined, { source: 'trace_filter' }),
			async ({ gateway, walk, chain }) => {
				await walk({ from: span.from, to: span.from }, watched)
				await chain.head(never)
				gateway.dialect = { twist }
				const read = async () => {
					for await (const _ of chain.walk({ from: span.to, to: span.to }, watched, never));
				}
				expect((await errorOf(read())).kind).toBe('no-data')
			},
		)
	})

	test('behavior: behind the URL another node than the probed one reads lists otherwise: nothing is lost', async () => {
		const options = { anvilUrl: anvil.url, answers, dialects: [{ lists: 'either' }], source: 'trace_filter' } as const
		// Rows of one address fill no gap that the tree of another shows.
		const [address] = books.watched as [Address]
		const [alone, due] = [new Set([address]), books.due.filter((one) => one.address === address)]
		await withSession(options, async ({ gateway, walk }) => {
			await walk({ from: span.from, to: span.from }, alone)
			gateway.dialect = { lists: 'both' }
			expect(due).not.toEqual([])
			expect(linesOf(dueIn(await walk(span, alone), [...alone]))).toEqual(linesOf(due))
		})
	})
})

describe('whole blocks', () => {
	test.each<readonly [string, Twist, RegExp]>([
		[
			'rows of another block than the header names',
			rowsOf('trace_block', (rows) => rows.map((row) => ({ ...row, blockHash: strange }))),
			/another hash than its header/,
		],
		[
			'only some of the transactions, and none alone',
			(method, _params, result) =>
				method === 'trace_block' ? (result as Row[]).slice(-1) : method === 'trace_transaction' ? [] : undefined,
			/missing|lacks|no root|no frames/,
		],
		['nothing of a block with transactions', rowsOf('trace_block', () => []), /missing/],
		[
			'headers that are no chain',
			(method, params, result) =>
				method === 'eth_getBlockByNumber' && params[0] === '0x5'
					? { ...(result as object), parentHash: strange }
					: undefined,
			/does not follow/,
		],
	])('error: %s', async (_name, twist, message) => {
		await withSession(session(twist, { source: 'trace_block' }), async ({ walk }) => {
			const error = await errorOf(walk(span, watched))
			expect([error.kind, error.message]).toEqual(['unsettled', expect.stringMatching(message)])
		})
	})

	test('error: traces of other transactions than the header lists', async () => {
		const twist: Twist = (method, _params, result) =>
			method === 'debug_traceBlockByNumber'
				? (result as object[]).map((trace) => ({ ...trace, txHash: strange }))
				: undefined
		await withSession(session(twist, { source: 'debug_traceBlockByNumber' }), async ({ walk }) => {
			expect((await errorOf(walk(span, watched))).kind).toBe('unsettled')
		})
	})

	test('error: a transaction that could not be traced', async () => {
		const twist: Twist = (method, _params, result) =>
			method === 'debug_traceBlockByNumber'
				? (result as { txHash: string }[]).map(({ txHash }) => ({ txHash, error: 'execution timeout' }))
				: method === 'debug_traceTransaction'
					? null
					: undefined
		await withSession(session(twist, { source: 'debug_traceBlockByNumber' }), async ({ walk }) => {
			const error = await errorOf(walk({ from: 3n, to: 3n }, watched))
			expect([error.kind, error.message]).toEqual(['timeout', expect.stringContaining('execution timeout')])
		})
	})

	test.each(['trace_block', 'debug_traceBlockByNumber'] as const)(
		"behavior: Polygon's state sync is in the header and not among the traces of %s",
		async (source) => {
			const nobody = `0x${'0'.repeat(40)}`
			const twist: Twist = (method, params, result) => {
				if (method === 'eth_getTransactionByHash' && params[0] === strange) {
					return { hash: strange, from: nobody, to: nobody, gas: '0x0', value: '0x0' }
				}
				if (method !== 'eth_getBlockByNumber' || params[0] !== '0x10') return undefined
				const header = result as { transactions: string[] }
				return { ...header, transactions: [...header.transactions, strange] }
			}
			await withSession(session(twist, { source }), async ({ walk }) => {
				expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			})
		},
	)

	test('error: any other transaction of the header must be among the traces', async () => {
		const twist: Twist = (method, params, result) => {
			if (method === 'eth_getTransactionByHash' && params[0] === strange) {
				return { hash: strange, from: books.watched[0], to: books.watched[1], gas: '0x5208', value: '0x1' }
			}
			if (method !== 'eth_getBlockByNumber' || params[0] !== '0x10') return undefined
			const header = result as { transactions: string[] }
			return { ...header, transactions: [...header.transactions, strange] }
		}
		await withSession(session(twist, { source: 'trace_block' }), async ({ walk }) => {
			const error = await errorOf(walk(span, watched))
			expect([error.kind, error.message]).toEqual(['unsettled', expect.stringContaining(strange)])
		})
	})
})

describe('any source', () => {
	test('behavior: a receipt that comes a moment late is requested again', async () => {
		const options = { anvilUrl: anvil.url, answers, dialects: [{ lateReceipts: 2 }] }
		await withSession(options, async ({ walk, gateway }) => {
			expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			expect(gateway.count('eth_getTransactionReceipt')).toBeGreaterThan(2)
		})
	})

	test('error: an endpoint without the last block is not believed', async () => {
		const twist: Twist = (method, params) =>
			method === 'eth_getBlockByNumber' && params[0] === '0xc' ? null : undefined
		await withSession(session(twist, { source: 'trace_filter' }), async ({ walk }) => {
			const error = await errorOf(walk({ from: 2n, to: 12n }, watched))
			expect([error.kind, error.message]).toEqual(['no-data', expect.stringContaining('has no block 12')])
		})
	})

	test('behavior: the next endpoint is asked where one cannot be believed', async () => {
		const bad: Dialect = { twist: rowsOf('trace_block', () => []), lacks: ['trace_filter', 'debug_traceBlockByNumber'] }
		await withSession({ anvilUrl: anvil.url, answers, dialects: [bad, {}] }, async ({ walk, gateways }) => {
			expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			expect(gateways[1]?.count('trace_filter')).toBeGreaterThan(0)
		})
	})

	test('behavior: rewards that are paid are reported, in one order, whichever way they are read', async () => {
		const [author] = books.watched
		if (author === undefined) throw new Error('nobody is watched')
		const dialect: Dialect = { rewards: { fields: 'null', valueWei: 5n, author }, mined: true }
		const places: (readonly string[])[] = []
		for (const source of ['trace_filter', 'trace_block'] as const) {
			await withSession({ anvilUrl: anvil.url, answers, dialects: [dialect], source }, async ({ walk }) => {
				const parts = await walk({ from: 3n, to: 8n }, new Set([author]))
				const rewards = eventsIn(parts).filter(({ frameType }) => frameType === 'reward')
				places.push(
					rewards.map(({ block, trace, txHash, to, valueWei }) =>
						[block.number, trace, txHash, to, valueWei].join(' '),
					),
				)
				expect(rewards.map(({ block }) => block.number)).toEqual([3n, 4n, 5n, 6n, 7n, 8n])
				expect(rewards.every(({ trace, block, txHash }) => trace === 'reward_0' && txHash === block.hash)).toBe(true)
			})
		}
		expect(places[0]).toEqual(places[1])
	})
})
