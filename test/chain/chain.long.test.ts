// How the chain is asked: what is sent, how much at once, by which way, and when an endpoint is asked again what it can
// do.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Span } from '../../src/model/chain.js'
import type { Address } from '../../src/model/glossary.js'
import type { Log } from '../../src/model/ports.js'
import { ether, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type Books, keepBooks } from '../support/books.js'
import { type Answers, type Dialect, Refused } from '../support/dialectGateway.js'
import { errorOf, never } from '../support/pool.js'
import { planScenario, playScenario } from '../support/scenario.js'
import { silent } from '../support/silent.js'
import { dueIn, linesOf } from './reading.js'
import { withSession } from './rpc/session.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

// The chain does not change.
const answers: Answers = new Map()
let anvil: TestAnvil
let books: Books
let span: Span
let watched: ReadonlySet<Address>
beforeAll(async () => {
	const plan = planScenario({ seed: 11, blocks: 45 })
	anvil = await startTestAnvil(plan.anvilArgs)
	const scenario = await playScenario(plan, anvil)
	books = await keepBooks(scenario, anvil)
	span = scenario.span
	watched = new Set(scenario.watched)
	// So that the scenario is not at the tip.
	await anvil.mine(40)
})
afterAll(() => anvil.stop())

function on(...dialects: readonly Dialect[]) {
	return { anvilUrl: anvil.url, answers, dialects }
}

function strangers(count: number): readonly Address[] {
	return Array.from(
		{ length: count },
		(_, index): Address => `0x${'e'.repeat(32)}${index.toString(16).padStart(8, '0')}`,
	)
}

interface Filter {
	readonly fromBlock: string
	readonly toBlock: string
	readonly fromAddress?: readonly string[]
	readonly toAddress?: readonly string[]
}

describe('trace_filter', () => {
	test('behavior: only what every node understands is sent, and never beyond the head', async () => {
		await withSession({ ...on({ lists: 'both' }), source: 'trace_filter' }, async ({ walk, gateway }) => {
			await walk(span, watched)
			// Those of the probes look at the lists, and once beyond the head.
			const filters = (gateway.filters as readonly Filter[]).filter((filter) => asksFor(filter, [...watched]))
			expect(filters.length).toBeGreaterThan(0)
			for (const filter of filters) {
				const { fromBlock, toBlock, ...lists } = filter
				expect(fromBlock).toMatch(/^0x[1-9a-f][0-9a-f]*$/)
				expect(toBlock).toMatch(/^0x[1-9a-f][0-9a-f]*$/)
				expect(BigInt(toBlock)).toBeLessThanOrEqual(span.to)
				expect([['fromAddress'], ['toAddress']]).toContainEqual(Object.keys(lists))
			}
		})
	})

	test('behavior: many addresses go into one question, in lists that the node takes', async () => {
		const many = new Set([...strangers(2_500), ...watched])
		await withSession({ ...on({ lists: 'both' }), source: 'trace_filter' }, async ({ walk, gateway }) => {
			expect(linesOf(dueIn(await walk(span, many), books.watched))).toEqual(linesOf(books.due))
			const lists = (gateway.filters as readonly Filter[]).map(
				({ fromAddress, toAddress }) => fromAddress ?? toAddress ?? [],
			)
			const long = lists.filter((list) => list.includes(strangers(1)[0] ?? '') || list.length > 100)
			expect(long.map((list) => list.length)).toEqual([1000, 1000, 1000, 1000, 500 + watched.size, 500 + watched.size])
		})
	})

	test('behavior: lists that are refused as too long are cut, and stay short', async () => {
		const many = new Set([...strangers(900), ...watched])
		await withSession({ ...on({ mostAddresses: 300 }), source: 'trace_filter' }, async ({ walk, gateway }) => {
			expect(linesOf(dueIn(await walk(span, many), books.watched))).toEqual(linesOf(books.due))
			const before = gateway.count('trace_filter')
			await walk(span, many)
			const again = (gateway.filters as readonly Filter[]).slice(before)
			expect(again.every(({ fromAddress = [] }) => fromAddress.length <= 300)).toBe(true)
		})
	})

	test('behavior: a limit is learnt once', async () => {
		const range = { blocks: 10, code: -32602, message: 'Block range too large; currently limited to 10 blocks' }
		await withSession({ ...on({ range }), source: 'trace_filter' }, async ({ walk, gateway }) => {
			await walk(span, watched)
			const before = gateway.count('trace_filter')
			expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			const lengths = (gateway.filters as readonly Filter[])
				.slice(before)
				.map(({ fromBlock, toBlock }) => Number(BigInt(toBlock) - BigInt(fromBlock)) + 1)
			// Of each span a call for each list.
			expect(lengths.toSorted((a, b) => a - b)).toEqual([5, 5, ...Array(8).fill(10)])
		})
	})

	test('behavior: a span that touches no watch costs no further request for transactions or receipts', async () => {
		await withSession({ ...on({}), source: 'trace_filter' }, async ({ walk, gateway }) => {
			await walk(span, new Set(strangers(3)))
			const before = ['trace_transaction', 'eth_getTransactionReceipt'].map(gateway.count)
			await walk(span, new Set(strangers(3)))
			expect(['trace_transaction', 'eth_getTransactionReceipt'].map(gateway.count)).toEqual(before)
		})
	})

	test('behavior: the last header is older than the traces, or comes with them where it has settled', async () => {
		const asked = async (settle: number, question: Span) =>
			withSession({ ...on({}), source: 'trace_filter', settle }, async ({ walk, requests }) => {
				await walk(span, new Set(strangers(1)))
				requests.length = 0
				const parts = await walk(question, new Set(strangers(2)))
				return { requests, ends: parts.map(({ parentHash, last }) => [parentHash, last.number]) }
			})
		const head = await anvil.head()
		const old = { from: 4n, to: 20n }
		const settled = await asked(Number(head - old.to), old)
		const unsettled = await asked(Number(head - old.to) + 1, old)
		// The first is of the head, the last of the blocks between the ends, which may pay withdrawals.
		expect(settled.requests.slice(1)).toEqual(['batch', 'eth_getBlockByNumber'])
		expect(unsettled.requests.slice(1)).toEqual(['eth_getBlockByNumber', 'batch', 'eth_getBlockByNumber'])
		expect(settled.ends).toEqual(unsettled.ends)
		expect((await asked(0, { from: 7n, to: 7n })).requests.slice(1)).toEqual(['batch'])
	})

	test('behavior: no transaction is asked for twice', async () => {
		await withSession({ ...on({ lists: 'both' }), source: 'trace_filter' }, async ({ walk, gateway }) => {
			await walk(span, watched)
			// One tree is the probe's.
			const [, ...trees] = gateway.asked('trace_transaction').map(String)
			const receipts = gateway.asked('eth_getTransactionReceipt').map(String)
			const blocks = gateway.asked('eth_getBlockReceipts').map(String)
			for (const asked of [trees, receipts, blocks]) expect(new Set(asked).size).toBe(asked.length)
			expect(trees.length).toBeLessThanOrEqual(new Set(books.due.map(({ txHash }) => txHash)).size * 2)
			expect(receipts.length + blocks.length).toBeGreaterThan(0)
		})
	})
})

describe('the way that is chosen', () => {
	test('behavior: blocks at the tip are read whole, older ones by the filter', async () => {
		await withSession(on({}), async ({ walk, gateway }) => {
			await walk(span, watched)
			const [filters, blocks] = [gateway.count('trace_filter'), gateway.count('trace_block')]
			const head = await anvil.head()
			await walk({ from: head, to: head }, watched)
			expect([gateway.count('trace_filter') - filters, gateway.count('trace_block') - blocks]).toEqual([0, 1])
			const few = new Set(strangers(3))
			await walk({ from: 5n, to: 9n }, few)
			expect(gateway.count('trace_filter')).toBeGreaterThan(filters)
		})
	})

	test('behavior: blocks are read whole where the lists would take more questions', async () => {
		await withSession(on({}), async ({ walk, gateway }) => {
			const many = new Set([...strangers(60_000), ...watched])
			expect(linesOf(dueIn(await walk(span, many), books.watched))).toEqual(linesOf(books.due))
			expect((gateway.filters as readonly Filter[]).every(({ fromAddress = [] }) => fromAddress.length <= 20)).toBe(
				true,
			)
		})
	})

	test('behavior: without addresses nothing but the header is asked for', async () => {
		await withSession(on({}), async ({ walk, gateway }) => {
			const parts = await walk(span, new Set())
			expect(parts.map(({ span: { from, to }, last, transactions }) => [from, to, last.number, transactions])).toEqual([
				[span.from, span.to, span.to, []],
			])
			expect(gateway.count('trace_block') + gateway.count('trace_filter')).toBe(0)
		})
	})

	test('behavior: a false answer sends to the next source; the first comes back after it was asked again', async () => {
		let isFalse = false
		const twist: Dialect['twist'] = (method) =>
			isFalse && method === 'trace_filter' ? [{ error: { code: -32000, message: 'nonce too high' } }] : undefined
		await withSession(on({ twist }), async ({ walk, gateway, later }) => {
			await walk(span, watched)
			isFalse = true
			expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			isFalse = false
			const distrusted = gateway.count('trace_filter')
			await walk(span, watched)
			expect(gateway.count('trace_filter')).toBe(distrusted)
			// On a busy machine the new probe may itself end in doubt, and be due again.
			const again = async () => {
				later(2 * MINUTE)
				await walk(span, watched)
				return gateway.count('trace_filter')
			}
			await expect.poll(again, { timeout: 120_000 }).toBeGreaterThan(distrusted)
		})
	})

	test('error: a source that is forced is not replaced', async () => {
		await withSession({ ...on({ lacks: ['trace_filter'] }), source: 'trace_filter' }, async ({ walk, gateway }) => {
			expect((await errorOf(walk(span, watched))).kind).toBe('unsupported')
			const probed = gateway.count('trace_block')
			await errorOf(walk(span, watched))
			expect(gateway.count('trace_block')).toBe(probed)
		})
	})
})

describe('an endpoint is asked again what it can do', () => {
	test('behavior: when its client has changed', async () => {
		await withSession(on({ clientVersion: 'erigon/3.0' }), async ({ walk, gateway, later }) => {
			await walk(span, watched)
			gateway.dialect = { clientVersion: 'reth/v1.9.2', falseEmpty: 'single' }
			later(11 * MINUTE)
			await walk(span, watched)
			const before = gateway.count('trace_filter')
			expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			expect(gateway.count('trace_filter')).toBe(before)
		})
	})

	test('behavior: soon, when a method failed at the first time', async () => {
		let isFailing = true
		const twist: Dialect['twist'] = (method) => {
			if (isFailing && method === 'trace_filter')
				throw new Refused({ error: { code: -32000, message: 'out of sorts' } })
			return undefined
		}
		await withSession(on({ twist }), async ({ walk, gateway, later }) => {
			expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			isFailing = false
			const before = gateway.count('trace_filter')
			await walk(span, watched)
			expect(gateway.count('trace_filter')).toBe(before)
			later(2 * MINUTE)
			expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			// The new probe is waited for a moment only; then the endpoint is taken for what it was. On a busy machine it may
			// itself end in doubt, and be due again.
			const again = async () => {
				later(MINUTE)
				await walk(span, watched)
				return gateway.count('trace_filter')
			}
			await expect.poll(again, { timeout: 120_000 }).toBeGreaterThan(before)
		})
	})

	test('behavior: a fault of the moment teaches nothing, and the probe is tried again', async () => {
		let left = 2
		const twist: Dialect['twist'] = (method) => {
			if (method !== 'trace_block' || left-- <= 0) return undefined
			throw new Refused({ error: { code: -32005, message: 'too many requests' }, status: 429 })
		}
		const spare: Dialect = {}
		await withSession(on({ twist }, spare), async ({ walk, gateways, later }) => {
			expect(linesOf(dueIn(await walk(span, watched), books.watched))).toEqual(linesOf(books.due))
			later(MINUTE)
			const before = gateways[0]?.count('trace_filter') ?? 0
			await walk(span, watched)
			expect(gateways[0]?.count('trace_filter')).toBeGreaterThan(before)
		})
	})

	test('behavior: after some hours', async () => {
		await withSession(on({}), async ({ walk, gateway, later }) => {
			await walk(span, watched)
			const before = gateway.count('ots_getApiLevel')
			later(3 * HOUR)
			await walk(span, watched)
			expect(gateway.count('ots_getApiLevel')).toBe(before)
			later(2 * HOUR)
			await walk(span, watched)
			expect(gateway.count('ots_getApiLevel')).toBe(before + 1)
		})
	})

	test('behavior: on a young chain, until there is something to prove its answers by', async () => {
		const young = await startTestAnvil()
		onTestFinished(() => young.stop())
		const told: string[] = []
		const log: Log = { ...silent, warn: (_facts, message) => void told.push(message), child: () => log }
		const [alice, bob] = (await young.accounts()) as [Address, Address]
		await withSession(
			{ anvilUrl: young.url, dialects: [{ falseEmpty: 'single' }], log },
			async ({ walk, gateway, later }) => {
				await young.mine(1)
				await walk({ from: 1n, to: 1n }, new Set([bob]))
				expect(told).toContain('the endpoint was asked what it can do, and has weaknesses')
				// Nothing is proved yet, and so the way is taken that proves itself.
				await young.send({ from: alice, to: bob, valueWei: ether })
				expect(dueIn(await walk({ from: 2n, to: 2n }, new Set([bob])), [bob])).toHaveLength(1)
				later(MINUTE)
				await walk({ from: 2n, to: 2n }, new Set([bob]))
				const before = gateway.count('trace_filter')
				await young.mine(200)
				expect(dueIn(await walk({ from: 1n, to: 150n }, new Set([bob])), [bob])).toHaveLength(1)
				expect(gateway.count('trace_filter')).toBe(before)
			},
		)
	})
})

describe('the head', () => {
	test.each<readonly [string, Dialect, boolean]>([
		['with tags', {}, true],
		['tags null', { noTags: 'null' }, false],
		['tags an error', { noTags: 'error' }, false],
	])('%s', async (_name, dialect, hasTags) => {
		await withSession(on(dialect), async ({ chain, walk, gateway }) => {
			const head = await chain.head(never)
			expect(head.latest.number).toBe(await anvil.head())
			expect([head.safe !== null, head.finalized !== null]).toEqual([hasTags, hasTags])
			await walk({ from: 1n, to: 2n }, watched)
			const before = gateway.count('eth_getBlockByNumber')
			expect(await chain.head(never)).toEqual(head)
			expect(gateway.count('eth_getBlockByNumber') - before).toBe(3)
		})
	})

	// geth has no finalized block from its start until its consensus client names one.
	test('behavior: a node that learns of its tags after the probe: the next head has them', async () => {
		await withSession(on({ noTags: 'error' }), async ({ chain, walk, gateway }) => {
			await walk({ from: 1n, to: 2n }, watched)
			gateway.dialect = {}
			const { safe, finalized } = await chain.head(never)
			expect([safe !== null, finalized !== null]).toEqual([true, true])
		})
	})

	test('a block without a timestamp gets that of the last block before it that has one', async () => {
		const first = 7n
		let last = 60n
		const timeAt = (number: bigint) => 1_700_000_000n + 12n * number
		const twist: Dialect['twist'] = (method, _params, told) => {
			if (method !== 'eth_getBlockByNumber' || told === null) return told
			const header = told as { readonly number: string }
			const number = BigInt(header.number)
			const isTimeless = number >= first && number <= last
			return { ...header, timestamp: isTimeless ? null : `0x${timeAt(number).toString(16)}` }
		}
		await withSession(on({ twist }), async ({ chain }) => {
			await chain.head(never)
			const timeOf = async (number: bigint) => (await chain.block(number, never))?.timestampS
			for (const number of [6n, 7n, 8n, 10n, 15n, 16n, 44n, 60n]) expect(await timeOf(number)).toBe(timeAt(6n))
			last = 30n
			expect(await timeOf(31n)).toBe(timeAt(31n))
			expect(await timeOf(30n)).toBe(timeAt(6n))
		})
	})

	test('a block and a transaction that are not there are null', async () => {
		await withSession(on({}), async ({ chain }) => {
			expect(await chain.block(10_000n, never)).toBeNull()
			expect(await chain.locate(`0x${'1'.repeat(64)}`, never)).toBeNull()
			const [due] = books.due
			if (due === undefined) throw new Error('nothing is due')
			const block = await chain.block(due.block, never)
			expect(await chain.locate(due.txHash, never)).toEqual({ number: due.block, hash: block?.hash })
			expect(block?.txHashes).toContain(due.txHash)
		})
	})
})

/** Whether one of its lists is about these addresses. */
function asksFor({ fromAddress = [], toAddress = [] }: Filter, addresses: readonly string[]): boolean {
	return [...fromAddress, ...toAddress].length >= addresses.length
}
