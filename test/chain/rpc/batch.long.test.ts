import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRpc, type Rpc, type RpcOptions } from '../../../src/chain/rpc/rpc.js'
import { RpcError } from '../../../src/errors.js'
import * as faults from '../../support/faults.js'
import { type Fault, type FaultyNode, startFaultyNode } from '../../support/faultyNode.js'

const never = new AbortController().signal
const closers: (() => Promise<void>)[] = []
let node: FaultyNode

beforeEach(async () => {
	node = await startFaultyNode()
	node.results.set('test_echo', (params) => params[0])
	closers.push(node.close)
})

afterEach(async () => {
	while (closers.length > 0) await closers.pop()?.()
})

function open(options: Partial<RpcOptions> = {}): Rpc {
	const rpc = createRpc({ url: node.url, timeoutMs: 5_000, retry: { tries: 1 }, ...options })
	closers.push(rpc.close)
	return rpc
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)
const echoes = (count: number) => numbers(count).map((at) => ({ method: 'test_echo', params: [at] }))
const tooMany = faults.body({ id: null, error: { code: -32600, message: 'too many requests' } })
const sizes = () => node.asks.map(({ calls }) => calls.length)

describe('batch', () => {
	test('default', async () => {
		expect(await open().batch(echoes(5), never)).toEqual([0, 1, 2, 3, 4])
		expect(node.asks.map(({ batch, calls }) => [batch, calls.length])).toEqual([[true, 5]])
	})

	// Before, each of those that waited was refused with all of its calls, and each refusal made the next pause longer.
	test('behavior: calls that wait while batches are refused for their size go in smaller batches', async () => {
		const rpc = open({ retry: {}, maxBatch: 100, wait: () => new Promise((go) => setImmediate(go)) })
		const most = 20
		node.fail((ask, response, good) => {
			if (ask.calls.length > most) faults.status(429)(ask, response, good)
			else response.end(JSON.stringify(good))
		})
		const all = await Promise.all(numbers(12).map(() => rpc.batch(echoes(100), never)))
		for (const one of all) expect(one).toEqual(numbers(100))
		// Six leave at once; then each half once or twice: 100, 50, 25.
		expect(sizes().filter((size) => size > most).length).toBeLessThanOrEqual(12)
	})

	test('behavior: nothing to ask asks nothing', async () => {
		expect(await open().batch([], never)).toEqual([])
		expect(node.asks).toEqual([])
	})

	test('behavior: a single call is sent without a batch', async () => {
		expect(await open().batch(echoes(1), never)).toEqual([0])
		expect(node.asks.map(({ batch }) => batch)).toEqual([false])
	})

	test('behavior: answers may come in any order', async () => {
		node.fail((ask, response, good) => faults.body((good as unknown[]).toReversed())(ask, response, good))
		expect(await open().batch(echoes(5), never)).toEqual([0, 1, 2, 3, 4])
	})

	test('behavior: a call that fails alone is an error in its place', async () => {
		const calls = [...echoes(1), { method: 'test_unknown', params: [] }, ...echoes(1)]
		const [first, second, third] = await open().batch(calls, never)
		expect([first, third]).toEqual([0, 0])
		expect(second).toBeInstanceOf(RpcError)
		expect((second as RpcError).facts).toMatchObject({ kind: 'unsupported', method: 'test_unknown', code: -32601 })
	})

	test('behavior: many calls are cut into requests of the largest size', async () => {
		expect(await open({ maxBatch: 4 }).batch(echoes(10), never)).toEqual(numbers(10))
		expect(sizes().toSorted()).toEqual([2, 4, 4])
	})

	test.each([
		['dRPC', 31, 'Batch of more than 3 requests are not allowed on free tier', 3, [7, 1, 3, 3]],
		['Erigon', -32000, 'batch limit 3 exceeded (can increase by --rpc.batch.limit)', 3, [7, 1, 3, 3]],
		['no number', -32005, 'Number of requests exceeds max batch size', 3, [7, 1, 3, 3]],
		['no words', -32600, 'invalid request', 1, [7, 1, 1, 1, 1, 1, 1, 1]],
	])('behavior: smaller batches, when refused: %s', async (_who, code, message, limit, expected) => {
		let nowMs = 0
		const rpc = open({ clock: () => nowMs })
		node.fail(faults.noBatchAbove(limit, code, message))
		expect(await rpc.batch(echoes(7), never)).toEqual(numbers(7))
		expect([sizes()[0], ...sizes().slice(1).toSorted()]).toEqual(expected)

		const before = node.asks.length
		expect(await rpc.batch(echoes(7), never)).toEqual(numbers(7))
		expect(sizes().slice(before), 'it is remembered').not.toContain(7)

		node.mend()
		nowMs += 11 * 60_000
		expect(await rpc.batch(echoes(7), never)).toEqual(numbers(7))
		expect(sizes().at(-1), 'for a while').toBe(7)
	})

	test('behavior: a refusal that stands in every answer is one', async () => {
		node.fail((ask, response, good) => {
			if (!ask.batch) faults.body(good)(ask, response, good)
			else faults.rpcError(31, 'Batch of more than 1 requests are not allowed')(ask, response, good)
		})
		expect(await open().batch(echoes(3), never)).toEqual([0, 1, 2])
	})

	test('behavior: an object for a list means that batches are not taken', async () => {
		node.fail((ask, response, good) => faults.body(ask.batch ? {} : good)(ask, response, good))
		expect(await open().batch(echoes(3), never)).toEqual([0, 1, 2])
	})

	test('behavior: a refusal with an error status is one', async () => {
		node.fail((ask, response, good) => {
			if (!ask.batch) faults.body(good)(ask, response, good)
			else faults.status(400, 'batching is not supported')(ask, response, good)
		})
		expect(await open().batch(echoes(3), never)).toEqual([0, 1, 2])
	})

	test('behavior: a batch with too large an answer is sent in halves, and the size is not remembered', async () => {
		node.results.set('test_large', () => 'x'.repeat(40_000))
		const rpc = open({ maxBodyBytes: 100_000 })
		const calls = numbers(4).map(() => ({ method: 'test_large', params: [] }))
		expect(await rpc.batch(calls, never)).toHaveLength(4)
		expect(sizes()).toEqual([4, 2, 2])
		await rpc.batch(echoes(4), never)
		expect(sizes().at(-1)).toBe(4)
	})

	// geth's --rpc.batch-response-max-size: the calls beyond it are refused, each by an error of its own.
	test('behavior: calls that no longer fit into the answer of a batch are asked again in smaller ones', async () => {
		const error = { code: -32003, message: 'response too large' }
		node.fail((ask, response, good) => {
			const answers = ask.calls.map(({ id, params }, at) => (at < 2 ? { id, result: params[0] } : { id, error }))
			response.end(JSON.stringify(ask.batch ? answers : good))
		})
		expect(await open().batch(echoes(6), never)).toEqual(numbers(6))
		expect(sizes()).toEqual([6, 3, 1, 1])
	})

	test('behavior: a single answer that is too large fails alone', async () => {
		node.results.set('test_large', () => 'x'.repeat(200_000))
		const rpc = open({ maxBodyBytes: 100_000 })
		const answers = await rpc.batch([...echoes(2), { method: 'test_large', params: [] }], never)
		expect(answers.slice(0, 2)).toEqual([0, 1])
		expect((answers[2] as RpcError).kind).toBe('too-large')

		const singly = open({ maxBodyBytes: 100_000, maxBatch: 1, connections: 1 })
		const [large, small] = await singly.batch([{ method: 'test_large', params: [] }, ...echoes(1)], never)
		expect((large as RpcError).kind).toBe('too-large')
		expect(small, 'the rest is asked all the same').toBe(0)
	})

	test.each([
		['404 of a method', -32601, 'the method test_no does not exist/is not available', 404, 'unsupported'],
		['400 of a block', -32000, 'header not found', 400, 'no-data'],
		['400 of words', -32602, 'invalid argument 0', 400, 'bad-params'],
	])('behavior: a node that refuses single calls by HTTP status: %s', async (_name, code, message, status, kind) => {
		node.fail((ask, response, good) => {
			if (ask.batch) return faults.noBatchAbove(1, -32600, 'Batch requests are not supported')(ask, response, good)
			const refused = ask.calls.some(({ method }) => method === 'test_no')
			return (refused ? faults.rpcError(code, message, undefined, status) : faults.body(good))(ask, response, good)
		})
		const calls = [{ method: 'test_no', params: [] }, ...echoes(3), { method: 'test_no', params: [] }]
		for (const connections of [1, 8]) {
			const answers = await open({ connections }).batch(calls, never)
			expect(answers.slice(1, 4)).toEqual([0, 1, 2])
			for (const at of [0, 4]) expect(answers[at]).toMatchObject({ facts: { kind, status, method: 'test_no' } })
		}
	})

	test('behavior: a batch that is refused as a whole for one call of it', async () => {
		node.fail((ask, response, good) => {
			const refused = ask.calls.some(({ method }) => method === 'test_no')
			const fault = refused
				? faults.body({ id: null, error: { code: -32602, message: 'no such block' } })
				: faults.body(good)
			fault(ask, response, good)
		})
		const answers = await open().batch([...echoes(3), { method: 'test_no', params: [] }], never)
		expect(answers.slice(0, 3)).toEqual([0, 1, 2])
		expect(answers[3]).toMatchObject({ facts: { kind: 'bad-params' } })
	})

	test('error: a call left without an answer fails alone', async () => {
		node.fail((ask, response, good) => faults.body((good as unknown[]).slice(1))(ask, response, good))
		const [first, second] = await open().batch(echoes(2), never)
		expect((first as RpcError).facts).toMatchObject({ kind: 'malformed', method: 'test_echo' })
		expect((first as RpcError).message).toMatch(/without an answer/)
		expect(second).toBe(1)
	})

	test('error: a batch with an id answered twice is not believed', async () => {
		node.fail((ask, response, good) => {
			const [first] = good as unknown[]
			faults.body([first, first, ...(good as unknown[]).slice(1)])(ask, response, good)
		})
		const [first, second] = await open().batch(echoes(2), never)
		expect((first as RpcError).message).toMatch(/twice/)
		expect(second).toBe(1)
	})

	test('error: an id that was not asked makes all of it unbelievable', async () => {
		node.fail((ask, response, good) => {
			faults.body([...(good as unknown[]), { jsonrpc: '2.0', id: 99, result: 1 }])(ask, response, good)
		})
		await expect(open().batch(echoes(2), never)).rejects.toMatchObject({ kind: 'malformed' })
	})

	test.each([
		['a web page', faults.html, 'malformed'],
		['429', faults.status(429), 'rate'],
		['a single error about the rate', faults.body({ id: null, error: { code: -32005, message: 'slower' } }), 'rate'],
		['a refusal of the rate with the code of a wrong request', tooMany, 'rate'],
		['a reset', faults.reset, 'network'],
		['401', faults.status(401), 'auth'],
	] as const)('error: %s fails the whole, asked once', async (_name, fault, kind) => {
		node.fail(fault)
		await expect(open().batch(echoes(3), never)).rejects.toMatchObject({ kind })
		expect(node.asks).toHaveLength(1)
	})

	test('error: after a failure of a whole request the rest is not asked, and what was answered is kept', async () => {
		const rpc = open({ maxBatch: 2, connections: 1 })
		node.fail((ask, response, good) => {
			const late = node.asks.length > 1
			const fault = late ? faults.status(429, '', { 'retry-after': '9' }) : faults.body(good)
			fault(ask, response, good)
		})
		const answers = await rpc.batch(echoes(8), never)
		expect(answers.slice(0, 2)).toEqual([0, 1])
		for (const answer of answers.slice(2))
			expect(answer).toMatchObject({ facts: { kind: 'rate', retryAfterMs: 9_000 } })
		expect(node.asks).toHaveLength(2)
	})

	test('error: single calls stop at a refused key', async () => {
		const rpc = open({ maxBatch: 1, connections: 1 })
		node.fail(faults.rpcError(-32000, 'unauthorized'))
		await expect(rpc.batch(echoes(5), never)).rejects.toMatchObject({ kind: 'auth' })
		expect(node.asks).toHaveLength(1)
	})

	test('error: an abort ends all of it with the reason of the signal', async () => {
		node.fail(faults.hang)
		const reason = new Error('stop')
		const controller = new AbortController()
		const batch = open({ maxBatch: 1 }).batch(echoes(9), controller.signal)
		await expect.poll(() => node.asks.length).toBeGreaterThan(0)
		controller.abort(reason)
		await expect(batch).rejects.toBe(reason)
		expect(node.asks.length).toBeLessThanOrEqual(6)
	})

	test('behavior: a batch that meets any fault has in each place its own answer or an error', async () => {
		const choices = [null, faults.status(500), faults.reset, faults.cutJson, faults.noBatchAbove(2, -32600, 'no')]
		const scripts = fc.array(fc.constantFrom(...choices), { maxLength: 12 })
		const property = fc.asyncProperty(
			fc.integer({ min: 1, max: 12 }),
			scripts,
			fc.nat(6),
			async (count, script, drop) => {
				const rpc = createRpc({ url: node.url, maxBatch: 5, wait: async () => {} })
				const queue = [...script]
				node.fail((ask, response, good) => {
					const fault = queue.shift() ?? null
					if (fault !== null) return fault(ask, response, good)
					// In any order, and perhaps without one.
					const kept = Array.isArray(good) ? good.filter((_, at) => at !== drop).toReversed() : good
					faults.body(kept)(ask, response, good)
				})
				const answers = await rpc.batch(echoes(count), never).catch((error: unknown) => [error])
				await rpc.close()
				if (answers.length === 1 && count > 1) expect(answers[0]).toBeInstanceOf(RpcError)
				else expect(answers).toHaveLength(count)
				for (const [at, answer] of answers.entries()) if (!(answer instanceof RpcError)) expect(answer).toBe(at)
			},
		)
		await fc.assert(property, { seed: 7, numRuns: 20 })
	})
})

describe('a gateway that fails each batch above some size, and answers single calls', () => {
	const page = faults.status(502, '<html><title>Bad gateway</title></html>')
	const ways: readonly (readonly [string, Fault])[] = [
		['502', page],
		['503', faults.status(503)],
		['413', faults.status(413, 'Request Entity Too Large')],
		['400', faults.status(400, 'Bad Request')],
		['a reset', faults.reset],
		['a hang', faults.hang],
		['a web page', faults.html],
		['cut JSON', faults.cutJson],
		[
			'an error in place of the list',
			faults.body({ jsonrpc: '2.0', id: null, error: { code: -32603, message: 'internal error' } }),
		],
		['an error without a code', faults.body({ error: 'internal error' })],
	]
	/** All of one way; of the others one each, in turn. */
	const sizesOf = (at: number) => (at === 0 ? [2, 3, 10] : [2, 3, 10].slice(at % 3).slice(0, 1))

	test.each(ways.flatMap(([name, fault], at) => sizesOf(at).map((least) => [name, least, fault] as const)))(
		'behavior: %s from %i calls on: all is answered, and the size is remembered',
		async (_name, least, fault) => {
			let nowMs = 0
			const timeoutMs = fault === faults.hang ? 300 : 5_000
			const rpc = open({ retry: {}, timeoutMs, clock: () => nowMs, wait: async () => {} })
			node.fail((ask, response, good) => {
				if (ask.calls.length < least) faults.body(good)(ask, response, good)
				else fault(ask, response, good)
			})
			expect(await rpc.batch(echoes(100), never)).toEqual(numbers(100))
			const failed = sizes().filter((size) => size >= least).length
			expect(failed).toBeLessThanOrEqual(16)
			const before = node.asks.length
			nowMs += 5 * 60_000
			expect(await rpc.batch(echoes(100), never)).toEqual(numbers(100))
			expect(
				sizes()
					.slice(before)
					.filter((size) => size >= least),
			).toEqual([])
			expect(Math.max(...sizes().slice(before))).toBeGreaterThanOrEqual(Math.min(2, least - 1))
		},
	)
})

describe('an endpoint that is down', () => {
	test.each([
		['502', faults.status(502)],
		['a reset', faults.reset],
		['a web page', faults.html],
	])('behavior: %s: a batch costs two requests more than a single call', async (_name, fault) => {
		const rpc = open({ retry: {}, wait: async () => {} })
		node.fail(fault)
		await expect(rpc.call('test_echo', [1], never)).rejects.toThrow(RpcError)
		const alone = node.asks.length
		await expect(rpc.batch(echoes(30), never)).rejects.toThrow(RpcError)
		expect(node.asks.length - alone).toBe(alone + 2)
		node.mend()
		expect(await rpc.batch(echoes(30), never)).toEqual(numbers(30))
		expect(sizes().at(-1), 'nothing is learnt of batches').toBe(30)
	})
})

test('behavior: a call that fails its batch does not shrink later ones of a size answered lately', async () => {
	const rpc = open({ retry: {}, wait: async () => {} })
	expect(await rpc.batch(echoes(40), never)).toEqual(numbers(40))
	node.fail((ask, response, good) => {
		const isHit = ask.calls.some(({ params }) => params[0] === 17)
		;(isHit ? faults.status(502) : faults.body(good))(ask, response, good)
	})
	const answers = await rpc.batch(echoes(40), never)
	expect(answers[17]).toBeInstanceOf(RpcError)
	expect(answers.slice(0, 10)).toEqual(numbers(10))
	node.mend()
	expect(await rpc.batch(echoes(40), never)).toEqual(numbers(40))
	expect(sizes().at(-1)).toBe(40)
})
