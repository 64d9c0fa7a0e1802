import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createRpc, type Rpc } from '../../../src/chain/rpc/rpc.js'
import { RpcError, type RpcErrorKind } from '../../../src/errors.js'
import * as faults from '../../support/faults.js'
import { type FaultyNode, startFaultyNode } from '../../support/faultyNode.js'
import { at, errorOf, never, openPool, type Pool } from '../../support/pool.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'

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

describe('preference', () => {
	test('default', async () => {
		const pool = await open(2)
		expect([await pool.ask(), await pool.ask(), await pool.ask()]).toEqual(['A', 'A', 'A'])
		expect(at(pool.nodes, 0).count('eth_chainId'), 'the chain is checked once').toBe(1)
		expect(at(pool.nodes, 1).count('test_name')).toBe(0)
		expect(pool.states()).toMatchObject([
			{
				endpoint: at(pool.nodes, 0).host,
				healthy: true,
				lagging: false,
				restingUntilMs: null,
				lastError: null,
				head: 1000n,
			},
			{ endpoint: at(pool.nodes, 1).host, healthy: true },
		])
		expect(pool.told).toEqual([])
	})

	test('behavior: the job gets the same object for the same endpoint each time', async () => {
		const pool = await open(1)
		const seen = new Set<Rpc>()
		for (let turn = 0; turn < 3; turn += 1) await pool.use(async (rpc) => seen.add(rpc), never)
		expect(seen.size).toBe(1)
	})

	test('behavior: a single endpoint is not asked for its head', async () => {
		const pool = await open(1)
		await pool.ask()
		expect(at(pool.nodes, 0).count('eth_blockNumber')).toBe(0)
	})
})

describe('a failing endpoint', () => {
	test('behavior: is tried again in place, then passed over, rests longer each time, comes back by trial', async () => {
		const pool = await open(2)
		const [first] = pool.nodes as [FaultyNode, FaultyNode]
		const tries = () => first.count('test_name')
		await pool.ask()
		first.fail(faults.status(500))

		expect(await pool.ask()).toBe('B')
		expect(tries()).toBe(7)
		expect(pool.waits).toEqual([10, 100, 200, 400, 800])
		expect(rested(pool)).toEqual([true, false])

		expect(await pool.ask()).toBe('B')
		expect(tries(), 'it rests').toBe(7)

		for (const restMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
			const before = tries()
			const asked = first.asks.length
			pool.pass(restMs - 1)
			expect(await pool.ask()).toBe('B')
			expect(first.asks.length, `it rests for ${restMs} ms`).toBe(asked)
			expect(tries()).toBe(before)
			pool.pass(1)
			expect(await pool.ask()).toBe('B')
			expect(first.asks.length, 'one trial').toBe(asked + 1)
		}
		expect(pool.told).toEqual(['warn A: endpoint failing: backing off'])

		first.mend()
		pool.pass(60_000)
		expect(await pool.ask()).toBe('A')
		expect(pool.told.slice(1)).toEqual(['info A: the endpoint is back'])
		expect(pool.states()[0]).toMatchObject({ healthy: true, lastError: null, restingUntilMs: null })
	})

	test('behavior: a passing fault is cured in place, and not reported', async () => {
		const pool = await open(2)
		at(pool.nodes, 0).fail(faults.reset, { times: 2, ...onName })
		expect(await pool.ask()).toBe('A')
		expect(pool.told).toEqual([])
	})

	test('behavior: without another the error says what failed; while it rests nothing is asked', async () => {
		const pool = await open(1)
		const [node] = pool.nodes as [FaultyNode]
		node.fail(faults.html, onName)
		expect((await errorOf(pool.ask())).facts).toMatchObject({ kind: 'malformed', endpoint: node.host })
		const asked = node.asks.length
		const error = await errorOf(pool.ask())
		expect(error.facts).toMatchObject({ kind: 'malformed', retryAfterMs: 1_000 })
		expect(error.message).toMatch(/web page.*asked again in 1 s/)
		expect(node.asks).toHaveLength(asked)
		pool.pass(1_000)
		node.mend()
		expect(await pool.ask()).toBe('A')
	})

	test('behavior: requests that fail together are one failure', async () => {
		const pool = await open(1)
		const [node] = pool.nodes as [FaultyNode]
		await pool.ask()
		node.fail(faults.status(504), onName)
		await Promise.allSettled(Array.from({ length: 8 }, () => pool.use((rpc) => slowly(rpc, pool), never)))
		expect(pool.told).toHaveLength(1)
		// It rests as after one failure, not as after eight.
		pool.pass(1_000)
		node.mend()
		expect(await pool.ask()).toBe('A')
	})

	test('behavior: an answer to what was asked before a failure does not end the rest', async () => {
		const pool = await open(1)
		const [node] = pool.nodes as [FaultyNode]
		await pool.ask()
		const steps = new EventEmitter()
		const job = async () => {
			steps.emit('begun')
			await once(steps, 'finish')
		}
		const early = pool.use(job, never)
		await once(steps, 'begun')
		pool.pass(10)
		node.fail(faults.status(500), onName)
		await errorOf(pool.ask())
		steps.emit('finish')
		await early
		expect(rested(pool)).toEqual([true])
	})

	test('behavior: an endpoint that failed counts as healthy again once it answers, even with a refusal', async () => {
		const pool = await open(1)
		const [node] = pool.nodes as [FaultyNode]
		node.fail(faults.status(500), onName)
		await errorOf(pool.ask())
		pool.pass(1_000)
		node.fail(faults.rpcError(-32601, 'no'), onName)
		expect((await errorOf(pool.ask())).kind).toBe('unsupported')
		expect(pool.states()[0]?.healthy).toBe(true)
		expect(pool.told.at(-1)).toBe('info A: the endpoint is back')
	})

	test('behavior: an endpoint that answers, though a block has no timestamp, stays trusted', async () => {
		const pool = await open(1)
		const noTime = { kind: 'malformed', endpoint: at(pool.nodes, 0).host, content: true, ofHeader: true } as const
		await errorOf(pool.use(() => Promise.reject(new RpcError('no timestamp', noTime)), never))
		expect(pool.states()).toMatchObject([{ healthy: true, restingUntilMs: null, lastError: null }])
		expect([await pool.ask(), pool.told]).toEqual(['A', []])
	})

	/** Each failure comes 10 ms after the one before, by the pool's clock. */
	async function slowly(rpc: Rpc, pool: Pool): Promise<void> {
		await rpc.call('test_name', [], never).catch((error: unknown) => {
			pool.pass(10)
			throw error
		})
	}

	test.each([
		['timeout', faults.hang, 4],
		['network', faults.reset, 6],
		['server', faults.status(502), 6],
		['rate', faults.status(503, '', { 'retry-after': '9' }), 1],
		['malformed', faults.cutJson, 6],
		['malformed', faults.wrongId, 6],
		['malformed', faults.both, 6],
		['malformed', faults.redirectLoop, 6],
		['too-large', faults.oversize(2_000_000), 1],
		['rate', faults.status(429, '', { 'retry-after': '60' }), 1],
		['quota', faults.status(402), 1],
		['auth', faults.status(401), 1],
		['unsupported', faults.status(403), 1],
		['unsupported', faults.rpcError(-32601, 'the method does not exist'), 1],
		['no-data', faults.rpcError(4444, 'pruned history unavailable'), 1],
		['bad-params', faults.rpcError(-32602, 'invalid params'), 1],
		['unsettled', faults.rpcError(-32000, 'nonce too high'), 3],
	] as const)('error: %s %#: tries, and whether another is asked', async (kind, fault, tries) => {
		const nodes = [await startFaultyNode(), await startFaultyNode()]
		for (const node of nodes) node.results.set('test_name', () => node.host)
		// By a clock that only waits move: how often it is asked within three seconds is no matter of this machine.
		let nowMs = 0
		const wait = async (ms: number) => {
			nowMs += ms
		}
		const own = { retry: { withinMs: 3_000 }, maxBodyBytes: 1_000_000, now: () => nowMs, wait }
		const rpcs = nodes.map(({ url }, at) =>
			createRpc({ url, timeoutMs: at === 0 && fault === faults.hang ? 300 : 60_000, ...own }),
		)
		const pool = createEndpoints({ rpcs, chainId: 1, clock: standingClock, log: silent, wait })
		closers.push(...nodes.map(({ close }) => close), pool.close)
		const [first, second] = nodes as [FaultyNode, FaultyNode]
		first.fail(fault, onName)

		const used = pool.use((rpc) => rpc.call('test_name', [], never), never)
		expect(await used).toBe(second.host)
		expect(first.count('test_name')).toBe(tries)

		const harmless: readonly RpcErrorKind[] = ['too-large', 'unsupported', 'no-data', 'bad-params', 'unsettled', 'rate']
		expect(pool.states()[0]?.healthy, 'still trusted').toBe(harmless.includes(kind))
	})

	test('error: all fail: the most telling is thrown, and all are named', async () => {
		const pool = await open(3)
		const [a, b, c] = pool.nodes as [FaultyNode, FaultyNode, FaultyNode]
		a.fail(faults.status(401), onName)
		b.fail(faults.status(500), onName)
		c.fail(faults.rpcError(-32601, 'no'), onName)
		const error = await errorOf(pool.ask())
		expect(error.facts).toMatchObject({ kind: 'server', endpoint: b.host })
		for (const { host } of [a, b, c]) expect(error.message).toContain(host)
		expect(error.message).not.toContain('secret-key')
	})

	test('error: an answer that cannot even be read is malformed, and another endpoint is asked', async () => {
		const pool = await open(2)
		const letter = async (rpc: Rpc) => String(await rpc.call('test_name', [], never))
		const choke = (what: string, error: () => unknown) => async (rpc: Rpc) => {
			const name = await letter(rpc)
			if (name === 'A') throw error()
			return `${name} after ${what}`
		}
		for (const error of [() => new TypeError('secret words'), () => new RangeError('x'), () => 'text', () => null]) {
			expect(await pool.use(choke('A', error), never)).toBe('B after A')
			pool.pass(60_000)
		}
		expect(pool.states()[0]?.lastError).toContain('cannot be believed: reading it failed')
		const only = await errorOf(pool.use(() => Promise.reject(new TypeError('secret words')), never))
		expect(only.facts).toMatchObject({ kind: 'malformed', content: true })
		expect(`${only.message} ${only.stack} ${(only.cause as Error).stack}`).not.toContain('secret words')
	})
})

describe('an abort', () => {
	test('behavior: ends a job with the reason of the signal; nothing is tried again, no one is blamed', async () => {
		const pool = await open(2)
		const [first, second] = pool.nodes as [FaultyNode, FaultyNode]
		first.fail(faults.hang, onName)
		const controller = new AbortController()
		const reason = new Error('stop')
		const used = pool.use((rpc) => rpc.call('test_name', [], controller.signal), controller.signal)
		const ended = expect(used).rejects.toBe(reason)
		await expect.poll(() => first.count('test_name')).toBe(1)
		controller.abort(reason)
		await ended
		expect([first.count('test_name'), second.count('test_name')]).toEqual([1, 0])
		expect(pool.states().every(({ healthy }) => healthy)).toBe(true)
	})

	test('behavior: before the start nothing is asked', async () => {
		const pool = await open(2)
		await expect(pool.use(async () => 1, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
		expect(pool.nodes.every(({ asks }) => asks.length === 0)).toBe(true)
	})

	test('behavior: ends a wait between two tries', async () => {
		const node = await startFaultyNode()
		const pool = createEndpoints({
			rpcs: [createRpc({ url: node.url })],
			chainId: 1,
			clock: standingClock,
			log: silent,
		})
		closers.push(node.close, pool.close)
		node.fail(faults.status(429, '', { 'retry-after': '9' }), onName)
		const controller = new AbortController()
		const used = pool.use((rpc) => rpc.call('test_name', [], controller.signal), controller.signal)
		const waited = pause(9_000, 'the whole wait', { ref: false })
		setTimeout(() => controller.abort(new Error('stop')), 100)
		await expect(Promise.race([used, waited])).rejects.toThrow('stop')
	})
})
