import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRpc, type Rpc, type RpcOptions } from '../../../src/chain/rpc/rpc.js'
import { RpcError } from '../../../src/errors.js'
import * as faults from '../../support/faults.js'
import { type FaultyNode, sendJson, startFaultyNode } from '../../support/faultyNode.js'

const never = new AbortController().signal
const closers: (() => Promise<void>)[] = []
let node: FaultyNode
let waits: number[]

beforeEach(async () => {
	node = await startFaultyNode()
	node.results.set('test_echo', (params) => params[0])
	waits = []
	closers.push(node.close)
})

afterEach(async () => {
	while (closers.length > 0) await closers.pop()?.()
})

/** Waiting moves the clock, and is written down. */
function open(options: Partial<RpcOptions> = {}): Rpc {
	let nowMs = 0
	const rpc = createRpc({
		url: node.url,
		// Nothing here is given up but what hangs, however long this process may stand still.
		timeoutMs: 60_000,
		random: () => 0.5,
		now: () => nowMs,
		async wait(ms, signal) {
			signal.throwIfAborted()
			waits.push(ms)
			nowMs += ms
		},
		...options,
	})
	closers.push(rpc.close)
	return rpc
}

const echoes = (count: number) => Array.from({ length: count }, (_, at) => ({ method: 'test_echo', params: [at] }))
const asked = () => node.asks.map(({ calls }) => calls.map(({ params }) => params[0]))

describe('a request that fails in passing', () => {
	test.each([
		['502', faults.status(502)],
		['429', faults.status(429)],
		['cut JSON', faults.cutJson],
		['a cut body', faults.cutBody],
		['a reset', faults.reset],
		['a web page', faults.html],
		['the id of another', faults.wrongId],
		['no answer', faults.hang],
	])('behavior: %s costs one request', async (_name, fault) => {
		const rpc = open(fault === faults.hang ? { timeoutMs: 2_000 } : {})
		node.fail(fault, { times: 1 })
		expect(await rpc.batch(echoes(3), never)).toEqual([0, 1, 2])
		expect(asked()).toEqual([
			[0, 1, 2],
			[0, 1, 2],
		])
		expect(rpc.limits.batch.now(), 'nothing is learnt of batches').toBe(100)
	})

	test('behavior: within a batch only the calls that failed go again', async () => {
		node.fail(
			(_ask, response, good) => {
				const answers = good as { id: number }[]
				const error = { code: -32005, message: 'rate limited' }
				sendJson(
					response,
					answers.map((answer, at) => (at % 2 === 0 ? answer : { jsonrpc: '2.0', id: answer.id, error })),
				)
			},
			{ times: 1 },
		)
		expect(await open().batch(echoes(5), never)).toEqual([0, 1, 2, 3, 4])
		expect(asked()).toEqual([
			[0, 1, 2, 3, 4],
			[1, 3],
		])
	})

	test('behavior: of several requests only the one that failed goes again', async () => {
		const rpc = open({ maxBatch: 2, connections: 1 })
		let requests = 0
		node.fail((ask, response, good) =>
			++requests === 2 ? faults.reset(ask, response, good) : sendJson(response, good),
		)
		expect(await rpc.batch(echoes(6), never)).toEqual([0, 1, 2, 3, 4, 5])
		expect(asked()).toEqual([
			[0, 1],
			[2, 3],
			[2, 3],
			[4, 5],
		])
	})

	test('behavior: the waits grow', async () => {
		node.fail(faults.status(500))
		await expect(open().call('test_echo', [1], never)).rejects.toMatchObject({ kind: 'server' })
		expect(waits).toEqual([10, 100, 200, 400, 800])
	})

	test('behavior: a Retry-After is obeyed by all requests to the endpoint', async () => {
		const rpc = open()
		node.fail(faults.status(429, '', { 'retry-after': '7' }), { times: 1 })
		expect(await rpc.call('test_echo', [1], never)).toBe(1)
		expect(waits).toEqual([7_000])
	})

	test('error: a wait that is too long is left to the caller, and nothing is asked meanwhile', async () => {
		const rpc = open({ retry: { withinMs: 3_000 } })
		node.fail(faults.status(429, '', { 'retry-after': '7' }))
		await expect(rpc.call('test_echo', [1], never)).rejects.toMatchObject({
			facts: { kind: 'rate', retryAfterMs: 7_000 },
		})
		expect(rpc.awayMs()).toBe(7_000)
		await expect(rpc.call('test_echo', [1], never)).rejects.toMatchObject({ kind: 'rate' })
		expect(node.asks).toHaveLength(1)
	})

	test.each([
		['402', faults.status(402)],
		['401', faults.status(401)],
		['a wrong request', faults.rpcError(-32602, 'invalid params')],
		['no such method', faults.rpcError(-32601, 'no')],
		['a range too large', faults.rpcError(-32005, 'block range too large')],
	])('error: %s is asked once', async (_name, fault) => {
		node.fail(fault)
		await expect(open().call('test_echo', [1], never)).rejects.toBeInstanceOf(RpcError)
		expect(node.asks).toHaveLength(1)
	})

	test('behavior: `once` asks once', async () => {
		node.fail(faults.status(502))
		await expect(open().once('test_echo', [1], never)).rejects.toMatchObject({ kind: 'server' })
		expect(node.asks).toHaveLength(1)
	})
})

describe('an endpoint that is closed', () => {
	test('behavior: a request waiting for its retry fails at once when the endpoint is closed', async () => {
		const rpc = createRpc({ url: node.url })
		node.fail(faults.status(503), { times: 100 })
		const failing = rpc.call('test_echo', [1], never)
		failing.catch(() => {})
		await expect.poll(() => node.asks.length).toBeGreaterThan(0)
		await rpc.close()
		await expect(failing).rejects.toThrow(/ is closed/)
		await expect(rpc.call('test_echo', ['late'], never)).rejects.toThrow(/ is closed/)
		// What was on its way at the close may still arrive.
		expect(JSON.stringify(node.asks)).not.toContain('late')
	})
})
