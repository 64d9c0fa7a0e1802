import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import * as faults from '../../support/faults.js'
import type { FaultyNode } from '../../support/faultyNode.js'
import { at, errorOf, headerAt, never, openPool, type Pool } from '../../support/pool.js'

const onName = { method: 'test_name' }
const rested = (pool: Pool) => pool.states().map(({ restingUntilMs }) => restingUntilMs !== null)
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
	while (closers.length > 0) await closers.pop()?.()
})

async function open(count: number, options: { readonly timeoutMs?: number } = {}): Promise<Pool> {
	const pool = await openPool(count, options)
	closers.push(pool.close)
	return pool
}

describe('slower', () => {
	test('behavior: an endpoint that asks for it is left alone that long, while another serves', async () => {
		const pool = await open(2)
		const [first] = pool.nodes as [FaultyNode, FaultyNode]
		first.fail(faults.status(429, '', { 'retry-after': '20' }), { times: 1, ...onName })
		expect(await pool.ask()).toBe('B')
		// With another at hand, no one waits for it longer than three seconds.
		pool.pass(16_999)
		expect(await pool.ask()).toBe('B')
		pool.pass(1)
		expect(await pool.ask()).toBe('A')
		expect(pool.told, 'that is no news').toEqual([])
	})

	test('behavior: without another it waits a while itself', async () => {
		const pool = await open(1)
		at(pool.nodes, 0).fail(faults.status(429, '', { 'retry-after': '3' }), { times: 2, ...onName })
		expect(await pool.ask()).toBe('A')
		expect(pool.waits).toEqual([3_000, 3_000])
	})

	test('error: a long wait is left to the caller', async () => {
		const pool = await open(1)
		at(pool.nodes, 0).fail(faults.status(429, '', { 'retry-after': '600' }), onName)
		expect((await errorOf(pool.ask())).facts).toMatchObject({ kind: 'rate', retryAfterMs: 600_000 })
		expect(pool.waits).toEqual([])
	})

	test('behavior: rate limits that outlast the retries are reported once, and the endpoint stays healthy', async () => {
		const pool = await open(1)
		at(pool.nodes, 0).fail(faults.status(429, '', { 'retry-after': '1' }), onName)
		expect((await errorOf(pool.ask())).kind).toBe('rate')
		expect(at(pool.nodes, 0).count('test_name')).toBe(10)
		expect(pool.told).toEqual([])
		for (let again = 0; again < 3; again++) await errorOf(pool.ask())
		expect(pool.told).toEqual(['warn A: an endpoint keeps answering with rate limits'])
		expect(pool.states()[0]?.healthy, 'it is busy, not down').toBe(true)
		at(pool.nodes, 0).mend()
		expect(await pool.ask()).toBe('A')
		expect(pool.told.slice(1)).toEqual(['info A: the endpoint accepts our requests again'])
	})
})

describe('faults of an endpoint that need a person', () => {
	test.each([
		['quota', faults.status(402), 600_000, /plan is used up/],
		['quota with a wait', faults.status(402, '', { 'retry-after': '1800' }), 1_800_000, /add another endpoint/],
		['quota with a short wait', faults.status(402, '', { 'retry-after': '1' }), 600_000, /plan is used up/],
	])('error: %s rests long and is reported once', async (_name, fault, restMs, words) => {
		const pool = await open(2)
		const [first] = pool.nodes as [FaultyNode, FaultyNode]
		first.fail(fault, onName)
		expect(await pool.ask()).toBe('B')
		pool.pass(restMs - 1)
		expect(await pool.ask()).toBe('B')
		expect(first.count('test_name')).toBe(1)
		pool.pass(1)
		expect(await pool.ask()).toBe('B')
		expect(first.count('test_name')).toBe(2)
		expect(pool.told).toEqual([expect.stringMatching(/^error A: /)])
		expect(pool.told[0]).toMatch(words)
		first.mend()
		pool.pass(3_600_000)
		expect(await pool.ask()).toBe('A')
		expect(pool.told.at(-1)).toBe('info A: the endpoint is back')
	})

	test.each([
		['a refused key', (node: FaultyNode) => node.fail(faults.status(401)), /refuses our key.*correct its URL/],
		['another chain', (node: FaultyNode) => Object.assign(node, { chainId: 5 }), /is on another chain/],
	])('behavior: %s rests longer each time, ten minutes at most, and is reported once', async (_name, spoil, words) => {
		const pool = await open(2)
		const [first] = pool.nodes as [FaultyNode, FaultyNode]
		spoil(first)
		const asked = () => first.count('eth_chainId')
		expect(await pool.ask()).toBe('B')
		for (const seconds of [5, 10, 20, 40, 80, 160, 320, 600, 600]) {
			const before = asked()
			pool.pass(seconds * 1_000 - 1)
			expect(await pool.ask()).toBe('B')
			expect(asked(), `before ${seconds} s`).toBe(before)
			pool.pass(1)
			expect(await pool.ask()).toBe('B')
			expect(asked(), `after ${seconds} s`).toBe(before + 1)
		}
		expect(pool.told).toEqual([expect.stringMatching(words)])
		first.mend()
		first.chainId = 1
		pool.pass(600_000)
		expect(await pool.ask()).toBe('A')
		expect(pool.told.at(-1)).toBe('info A: the endpoint is back')
		pool.pass(1_200_000)
		spoil(first)
		// Its chain is asked for again after any failure.
		first.fail(faults.status(401), { times: 1, ...onName })
		await pool.ask()
		first.mend()
		first.chainId = 1
		pool.pass(5_000)
		expect(await pool.ask(), 'it is new again').toBe('A')
	})

	test('error: an endpoint of another chain is never given the job', async () => {
		const pool = await open(2)
		const [first] = pool.nodes as [FaultyNode, FaultyNode]
		first.chainId = 5
		expect(await pool.ask()).toBe('B')
		expect(first.count('test_name')).toBe(0)
		expect(first.count('eth_chainId')).toBe(1)
		expect(pool.told).toEqual([
			'error A: the endpoint is on another chain and is not used: correct its URL in `rpc`, or `chain_id`',
		])
		expect(pool.states()[0]?.lastError).toBe(`${first.host} is on chain 5, but chain 1 is configured`)

		first.chainId = 1
		pool.pass(600_000)
		expect(await pool.ask()).toBe('A')
	})

	test('error: an endpoint that comes back with another chain id is refused again', async () => {
		const pool = await open(2)
		const [first] = pool.nodes as [FaultyNode, FaultyNode]
		await pool.ask()
		first.fail(faults.status(502), { times: 6, ...onName })
		expect(await pool.ask()).toBe('B')
		first.chainId = 5
		pool.pass(1_000)
		expect(await pool.ask()).toBe('B')
		expect(first.count('test_name')).toBe(7)
		expect(pool.told.at(-1)).toMatch(/^error A: .*another chain/)
	})

	test('error: another chain is the least telling: what the right one says comes first', async () => {
		const pool = await open(2)
		const [first, second] = pool.nodes as [FaultyNode, FaultyNode]
		first.chainId = 5
		second.fail(faults.status(401), onName)
		expect((await errorOf(pool.ask())).facts).toMatchObject({ kind: 'auth', endpoint: second.host })
	})

	test('error: with no endpoint of the right chain the error says so', async () => {
		const pool = await open(1)
		at(pool.nodes, 0).chainId = 137
		const error = await errorOf(pool.ask())
		expect(error.facts).toMatchObject({ wrongChainId: '137', endpoint: at(pool.nodes, 0).host })
		expect(error.message).toMatch(/is on chain 137, but chain 1 is configured/)
		expect((await errorOf(pool.ask())).facts.wrongChainId, 'also while it rests').toBe('137')
	})
})

describe('heads', () => {
	test('behavior: an endpoint that lags is passed over until it has caught up', async () => {
		const pool = await open(2)
		const [first] = pool.nodes as [FaultyNode, FaultyNode]
		first.head = 980
		expect(await pool.ask()).toBe('B')
		expect(pool.told).toEqual(['warn A: the endpoint lags behind the others and is passed over'])
		expect(pool.states()[0]).toMatchObject({ healthy: false, lagging: true, head: 980n })
		first.head = 990
		pool.pass(15_000)
		expect(await pool.ask()).toBe('A')
		expect(pool.told.slice(1)).toEqual(['info A: the endpoint has caught up'])
	})

	const isPassedOver = async (pool: Pool) => {
		await pool.ask()
		return pool.states().map(({ lagging }) => lagging)
	}

	test('behavior: a head that no one else can have keeps no one out, far or near, sent first or second', async () => {
		for (const liar of [0, 1]) {
			for (const claim of [1_030, 10 ** 12]) {
				const pool = await open(2)
				const node = at(pool.nodes, liar)
				node.head = claim
				// It makes up what it claims: another chain, or none at all.
				node.results.set('eth_getBlockByNumber', ([tag]) => headerAt(tag === 'latest' ? claim : Number(tag), 7))
				expect(await isPassedOver(pool)).toEqual([false, false])
				node.results.set('eth_getBlockByNumber', ([tag]) => (tag === 'latest' ? headerAt(claim) : null))
				pool.pass(15_000)
				expect(await isPassedOver(pool)).toEqual([false, false])
				expect(pool.told).toEqual([])
			}
		}
	})

	test('behavior: an endpoint that claims a higher head does not displace one whose head is fresh', async () => {
		const pool = await open(2)
		const [first, second] = pool.nodes as [FaultyNode, FaultyNode]
		second.head = 1_030
		let age = 59_000
		first.results.set('eth_getBlockByNumber', ([tag]) => ({
			...headerAt(tag === 'latest' ? 1_000 : Number(tag)),
			timestamp: `0x${Math.floor((pool.nowMs() - age) / 1_000).toString(16)}`,
		}))
		expect(await isPassedOver(pool)).toEqual([false, false])
		age = 61_000
		pool.pass(15_000)
		expect(await isPassedOver(pool)).toEqual([true, false])
	})

	test('behavior: on a sleepy chain no one is put back by a head that is not shown', async () => {
		const pool = await open(2)
		const second = at(pool.nodes, 1)
		second.head = 1_030
		// It has the chain, and has not got the block that it claims.
		second.results.set('eth_getBlockByNumber', ([tag]) => {
			if (tag === 'latest') return headerAt(1_030)
			return Number(tag) <= 1_000 ? headerAt(Number(tag)) : null
		})
		expect(await isPassedOver(pool)).toEqual([false, false])
		second.results.set('eth_getBlockByNumber', ([tag]) => headerAt(tag === 'latest' ? 1_030 : Number(tag)))
		pool.pass(15_000)
		expect(await isPassedOver(pool)).toEqual([true, false])
	})

	test('behavior: a chain that stands still is behind one that continues; another fork is not', async () => {
		const pool = await open(2)
		const [first] = pool.nodes as [FaultyNode, FaultyNode]
		first.head = 900
		expect(await isPassedOver(pool)).toEqual([true, false])
		first.results.set('eth_getBlockByNumber', ([tag]) => headerAt(tag === 'latest' ? 900 : Number(tag), 3))
		pool.pass(15_000)
		expect(await isPassedOver(pool)).toEqual([false, false])
	})

	test('behavior: an endpoint that lags is used when the others fail', async () => {
		const pool = await open(2)
		const [first, second] = pool.nodes as [FaultyNode, FaultyNode]
		second.head = 900
		first.fail(faults.status(500), onName)
		expect(await pool.ask()).toBe('B')
	})

	test('behavior: an endpoint without the block is passed over, by its own word', async () => {
		const pool = await open(2)
		const [first, second] = pool.nodes as [FaultyNode, FaultyNode]
		first.head = 995
		expect(await pool.ask({ block: 1_000n })).toBe('B')
		expect(first.count('test_name')).toBe(0)
		expect(pool.states()[0]?.healthy, 'that is no failure').toBe(true)
		first.head = 1_000
		expect(await pool.ask({ block: 1_000n })).toBe('A')
		expect(second.count('test_name')).toBe(1)
	})

	test('behavior: a head that was reported is not asked for again', async () => {
		const pool = await open(1)
		const [node] = pool.nodes as [FaultyNode]
		node.results.set('eth_getBlockByNumber', ([tag]) => ({ number: tag === 'latest' ? '0x3e8' : tag }))
		const latest = [
			{ method: 'eth_getBlockByNumber', params: ['latest', false] },
			{ method: 'eth_getBlockByNumber', params: ['0x7d0', false] },
		]
		await pool.use((rpc) => rpc.batch(latest, never), never)
		expect(await pool.ask({ block: 1_000n })).toBe('A')
		expect(node.count('eth_blockNumber')).toBe(0)
		expect(pool.states()[0]?.head).toBe(1_000n)
	})

	test('behavior: a head that goes backwards is the one that counts', async () => {
		const pool = await open(1)
		const [node] = pool.nodes as [FaultyNode]
		expect(await pool.ask({ block: 1_000n })).toBe('A')
		node.head = 990
		await pool.use((rpc) => rpc.call('eth_blockNumber', [], never), never)
		const error = await errorOf(pool.ask({ block: 1_000n }))
		expect(error.kind).toBe('no-data')
		expect(error.message).toMatch(/has not got block 1000 yet: its head is 990/)
	})

	test('behavior: an endpoint that hangs does not hold up the others, and rests once its timeout is over', async () => {
		// The process may stand still during one of the tries.
		const isFirst = async () => {
			const pool = await open(2, { timeoutMs: 4_000 })
			at(pool.nodes, 1).fail(faults.hang)
			expect(await pool.ask()).toBe('A')
			const isWaited = rested(pool)[1] === false
			await expect.poll(() => rested(pool)).toEqual([false, true])
			expect(await pool.ask()).toBe('A')
			return isWaited
		}
		await expect.poll(isFirst, { timeout: 120_000 }).toBe(true)
	})

	test('behavior: an endpoint that is silent for five seconds rests, whatever the timeout of requests', async () => {
		const pool = await open(2, { timeoutMs: 60_000 })
		at(pool.nodes, 1).fail(faults.hang)
		expect(await pool.ask()).toBe('A')
		await expect.poll(() => rested(pool)).toEqual([false, true])
		expect(pool.states()[1]?.lastError).toMatch(/did not tell its head within 5 s/)
	})

	test('behavior: closing waits for nothing', async () => {
		const isFirst = async () => {
			const pool = await open(2, { timeoutMs: 60_000 })
			at(pool.nodes, 1).fail(faults.hang)
			await pool.ask()
			// After five seconds without its head the second endpoint would be given up.
			const waited = pause(4_000, false, { ref: false })
			closers.length = 0
			return await Promise.race([pool.close().then(() => true), waited])
		}
		await expect.poll(isFirst, { timeout: 120_000 }).toBe(true)
	})
})
