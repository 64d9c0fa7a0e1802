import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createLimiter, type Limiter } from '../../../src/chain/limits/limiter.js'
import { createRpc, type Rpc, type RpcOptions } from '../../../src/chain/rpc/rpc.js'
import { type FaultyNode, startFaultyNode } from '../../support/faultyNode.js'
import { silent } from '../../support/silent.js'

const never = new AbortController().signal
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
	while (closers.length > 0) await closers.pop()?.()
})

/** A clock that only waiting moves, by exactly what was waited for. */
function moved(requestsPerSecond: number): { limiter: Limiter; pass(ms: number): void; now(): number } {
	let nowMs = 5_000
	const wait = async (ms: number, signal: AbortSignal) => {
		signal.throwIfAborted()
		nowMs += ms
	}
	const limiter = createLimiter({ requestsPerSecond, now: () => nowMs, wait })
	const pass = (ms: number) => {
		nowMs += ms
	}
	return { limiter, now: () => nowMs - 5_000, pass }
}

/** The most calls in any window of so many milliseconds, its start included and its end not. */
function most(sent: readonly (readonly [atMs: number, calls: number])[], windowMs: number): number {
	return Math.max(
		...sent.map(([start]) =>
			sent.filter(([at]) => at >= start && at < start + windowMs).reduce((sum, [, calls]) => sum + calls, 0),
		),
	)
}

async function openNode(options: Partial<RpcOptions>): Promise<{ node: FaultyNode; rpc: Rpc; arrivals: number[] }> {
	const node = await startFaultyNode()
	const arrivals: number[] = []
	node.results.set('test_echo', ([value]) => {
		arrivals.push(performance.now())
		return value
	})
	const rpc = createRpc({ url: node.url, timeoutMs: 5_000, ...options })
	closers.push(node.close, rpc.close)
	return { node, rpc, arrivals }
}

const echoes = (count: number) => Array.from({ length: count }, (_, at) => ({ method: 'test_echo', params: [at] }))

describe('the limit over time', () => {
	test('default: no window of a second holds more than allowed, and none is wasted', async () => {
		const { limiter, now } = moved(10)
		const sent: [number, number][] = []
		for (let call = 0; call < 1_000; call += 1) {
			await limiter.take(1, never)
			sent.push([now(), 1])
		}
		expect(most(sent, 1_000)).toBe(10)
		expect(now()).toBe(99_000)
	})

	test.each([
		{ perSecond: 0.2, calls: 5, tookMs: 20_000 },
		{ perSecond: 1, calls: 5, tookMs: 4_000 },
		{ perSecond: 2.5, calls: 10, tookMs: 3_200 },
	])('args: $perSecond a second', async ({ perSecond, calls, tookMs }) => {
		const { limiter, now } = moved(perSecond)
		for (let call = 0; call < calls; call += 1) await limiter.take(1, never)
		expect(now()).toBe(tookMs)
	})

	test('behavior: a pause saves up one second and no more', async () => {
		const { limiter, now, pass } = moved(4)
		for (let call = 0; call < 4; call += 1) await limiter.take(1, never)
		pass(3_600_000)
		const sent: [number, number][] = []
		for (let call = 0; call < 12; call += 1) {
			await limiter.take(1, never)
			sent.push([now(), 1])
		}
		expect(most(sent, 1_000)).toBe(4)
		expect(sent.filter(([at]) => at === 3_600_000)).toHaveLength(4)
	})

	test('behavior: a batch counts each of its calls, and goes as a whole', async () => {
		const { limiter, now } = moved(10)
		const sent: [number, number][] = []
		for (const calls of [7, 3, 10, 1, 9, 2, 8]) {
			await limiter.take(calls, never)
			sent.push([now(), calls])
		}
		expect(sent).toEqual([
			[0, 7],
			[0, 3],
			[1_000, 10],
			[2_000, 1],
			[2_000, 9],
			[3_000, 2],
			[3_000, 8],
		])
	})

	test('behavior: more at once than ever fits goes alone, and is paid for', async () => {
		const { limiter, now } = moved(2)
		await limiter.take(5, never)
		await limiter.take(1, never)
		expect(now()).toBe(1_000)
	})
})

describe('the queue', () => {
	/** Waiting ends when the test says so. */
	function queue() {
		let nowMs = 0
		const waits: { ms: number; end: () => void }[] = []
		const limiter = createLimiter({
			requestsPerSecond: 1,
			now: () => nowMs,
			wait: (ms, signal) =>
				new Promise((resolve, reject) => {
					signal.addEventListener('abort', () => reject(signal.reason), { once: true })
					const end = () => {
						nowMs += ms
						resolve()
					}
					waits.push({ ms, end })
				}),
		})
		const went: string[] = []
		const go = (name: string, calls: number, signal: AbortSignal) =>
			limiter.take(calls, signal).then(
				() => void went.push(name),
				(reason: unknown) => void went.push(`${name} ${reason}`),
			)
		return { limiter, waits, went, go }
	}
	const turn = () => new Promise((resolve) => setImmediate(resolve))

	test('default: first come, first served, and only the first waits for time', async () => {
		const { waits, went, go } = queue()
		const all = ['a', 'b', 'c', 'd'].map((name) => go(name, 1, never))
		for (let at = 0; at < 3; at += 1) {
			await turn()
			expect(waits).toHaveLength(at + 1)
			waits[at]?.end()
		}
		await Promise.all(all)
		expect(went).toEqual(['a', 'b', 'c', 'd'])
	})

	test('behavior: a caller that gives up leaves the queue at once, and the others keep their places', async () => {
		const { limiter, waits, went, go } = queue()
		const [first, second] = [new AbortController(), new AbortController()]
		const all = [
			go('a', 1, never),
			go('b', 1, first.signal),
			go('c', 1, second.signal),
			go('d', 1, never),
			go('e', 1, never),
		]
		await turn()
		second.abort('left the queue')
		await turn()
		expect(went).toEqual(['a', 'c left the queue'])
		first.abort('left the head')
		await turn()
		expect(went).toEqual(['a', 'c left the queue', 'b left the head'])
		expect(getEventListeners(second.signal, 'abort')).toEqual([])
		expect(limiter.isHoldingBack()).toBe(true)
		for (const { end } of waits.slice(1)) end()
		await turn()
		waits.at(-1)?.end()
		await Promise.all(all)
		expect(went.slice(3)).toEqual(['d', 'e'])
	})

	test('error: an aborted signal takes no place', async () => {
		const { limiter, went, go } = queue()
		await go('a', 1, AbortSignal.abort('gone'))
		expect(went).toEqual(['a gone'])
		expect(limiter.isHoldingBack()).toBe(false)
	})
})

describe('requests to a node', () => {
	test('default: without a limit nothing waits', async () => {
		const { node, rpc } = await openNode({})
		await Promise.all(Array.from({ length: 60 }, (_, at) => rpc.call('test_echo', [at], never)))
		expect(rpc.isHeldBack()).toBe(false)
		await rpc.batch(echoes(100), never)
		expect(node.asks).toHaveLength(61)
	})

	test('behavior: calls and batches together keep to the limit, as the node sees it', async () => {
		const { node, rpc, arrivals } = await openNode({ requestsPerSecond: 20 })
		const startedAtMs = performance.now()
		await Promise.all([
			rpc.batch(echoes(50), never),
			...echoes(10).map(({ params }) => rpc.call('test_echo', params, never)),
		])
		expect(arrivals).toHaveLength(60)
		expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(1_999)
		// The way to a node may take longer on a busy machine, never less: so each is counted from the beginning.
		const cameMs = arrivals.map((at) => at - startedAtMs)
		for (const seconds of [1, 2]) {
			expect(cameMs.filter((ms) => ms < seconds * 1_000 - 1).length).toBeLessThanOrEqual(seconds * 20)
		}
		expect(Math.max(...node.asks.map(({ calls }) => calls.length))).toBe(20)
	})

	test('behavior: the time of waiting is not the time of the request', async () => {
		const durations: number[] = []
		const { rpc } = await openNode({
			requestsPerSecond: 1,
			onRequest: ({ durationMs }) => durations.push(durationMs),
		})
		const startedAtMs = performance.now()
		for (let call = 0; call < 3; call += 1) await rpc.call('test_echo', [call], never)
		const tookMs = performance.now() - startedAtMs
		expect(durations).toHaveLength(3)
		// Two of the three wait for a second each, which nearly all of the time goes to.
		expect(durations.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(tookMs / 2)
	})

	test('behavior: an endpoint that waits for its limit is not compared with others, nor blamed for it', async () => {
		const first = await openNode({ requestsPerSecond: 3 })
		const second = await openNode({})
		let nowMs = 0
		const endpoints = createEndpoints({ rpcs: [first.rpc, second.rpc], chainId: 1, clock: () => nowMs, log: silent })
		const ask = () => endpoints.use((rpc) => rpc.call('test_echo', [1], never), never)
		// Compared (two calls of the first: its chain, its head), then asked: the second is spent.
		await ask()
		expect(second.node.count('eth_getBlockByNumber')).toBe(1)
		nowMs += 60_000
		await ask()
		expect(second.node.count('eth_getBlockByNumber')).toBe(1)
		expect(endpoints.states().map(({ healthy }) => healthy)).toEqual([true, true])
	})

	test('error: an abort while waiting gives its reason, and nothing is sent', async () => {
		const { node, rpc } = await openNode({ requestsPerSecond: 0.01 })
		await rpc.call('test_echo', [1], never)
		expect(rpc.isHeldBack()).toBe(true)
		const controller = new AbortController()
		const waiting = rpc.call('test_echo', [2], controller.signal)
		const batch = rpc.batch(echoes(3), controller.signal)
		controller.abort(new Error('stop'))
		await expect(waiting).rejects.toThrow('stop')
		await expect(batch).rejects.toThrow('stop')
		expect(node.asks).toHaveLength(1)
	})
})
