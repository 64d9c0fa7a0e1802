import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRpc, type Rpc, type RpcOptions, type RpcRequest } from '../../../src/chain/rpc/rpc.js'
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

async function errorOf(promise: Promise<unknown>): Promise<RpcError> {
	const error = await promise.then(
		() => null,
		(thrown: unknown) => thrown,
	)
	expect(error).toBeInstanceOf(RpcError)
	return error as RpcError
}

const echoes = (count: number) => Array.from({ length: count }, (_, at) => ({ method: 'test_echo', params: [at] }))
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)

describe('call', () => {
	test('default', async () => {
		expect(await open().call('test_echo', [{ deep: ['x'] }], never)).toEqual({ deep: ['x'] })
		expect(node.asks).toHaveLength(1)
		expect(node.asks[0]?.calls[0]).toMatchObject({ jsonrpc: '2.0', method: 'test_echo', params: [{ deep: ['x'] }] })
	})

	test('behavior: a result of null is handed up', async () => {
		node.fail((ask, response) =>
			faults.body({ jsonrpc: '2.0', id: ask.calls[0]?.id, result: null })(ask, response, null),
		)
		expect(await open().call('test_echo', [1], never)).toBeNull()
	})

	test('behavior: an id that comes back as a text is the same id, alone and in a batch', async () => {
		const asText = (one: unknown) => ({ ...(one as object), id: String((one as { id: number }).id) })
		node.fail((ask, response, good) => {
			faults.body(Array.isArray(good) ? good.map(asText) : asText(good))(ask, response, good)
		})
		expect(await open().call('test_echo', [7], never)).toBe(7)
		const calls = [1, 2].map((param) => ({ method: 'test_echo', params: [param] }))
		expect(await open().batch(calls, never)).toEqual([1, 2])
	})

	test('behavior: "error": null beside a result is no error', async () => {
		node.fail((ask, response) => faults.body({ id: ask.calls[0]?.id, result: 7, error: null })(ask, response, null))
		expect(await open().call('test_echo', [1], never)).toBe(7)
	})

	test('behavior: a compressed answer is read, and asked for', async () => {
		node.fail(faults.gzipped)
		expect(await open().call('test_echo', ['a'.repeat(10_000)], never)).toBe('a'.repeat(10_000))
		expect(node.asks[0]?.headers['accept-encoding']).toBe('gzip')
	})

	test('behavior: the login of the URL becomes Basic auth, percent-decoded', async () => {
		await open({ url: `http://me:p%40ss@${node.host}/key/evm?token=t` }).call('test_echo', [1], never)
		const basic = Buffer.from('me:p@ss').toString('base64')
		expect(node.asks[0]?.headers.authorization).toBe(`Basic ${basic}`)
		expect(node.asks[0]?.path).toBe('/key/evm?token=t')
		expect(node.asks[0]?.headers.host).toBe(node.host)
	})

	test('behavior: the endpoint is named by host and port', () => {
		expect(open({ url: `http://me:pass@${node.host}/key` }).endpoint).toBe(node.host)
		expect(open({ url: 'https://rpc.example.org/key' }).endpoint).toBe('rpc.example.org')
	})

	test('behavior: every request is reported once, by host', async () => {
		const seen: RpcRequest[] = []
		const rpc = open({ url: `${node.url}/key`, onRequest: (request) => seen.push(request) })
		await rpc.call('test_echo', [1], never)
		node.fail(faults.status(500), { times: 1 })
		await errorOf(rpc.call('test_echo', [1], never))
		await rpc.batch([...echoes(2), { method: 'eth_chainId', params: [] }], never)
		await expect(rpc.call('test_echo', [1], AbortSignal.abort()), 'nothing is sent').rejects.toThrow()
		expect(seen.map(({ method, result }) => [method, result])).toEqual([
			['test_echo', 'ok'],
			['test_echo', 'server'],
			['batch', 'ok'],
		])
		// Providers bill each call of a batch.
		expect(seen[2]?.calls).toEqual(['test_echo', 'test_echo', 'eth_chainId'])
		for (const { endpoint, durationMs } of seen) {
			expect(endpoint).toBe(node.host)
			expect(durationMs).toBeGreaterThanOrEqual(0)
		}
	})

	test('behavior: an abort ends it at once, with the reason of the signal', async () => {
		node.fail(faults.hang)
		const controller = new AbortController()
		const reason = new Error('stop')
		const call = open().call('test_echo', [1], controller.signal)
		await expect.poll(() => node.asks.length).toBe(1)
		controller.abort(reason)
		await expect(call).rejects.toBe(reason)
	})

	test('behavior: requests go over a few connections that are kept', async () => {
		const rpc = open({ connections: 2 })
		const ports = new Set<unknown>()
		node.fail((ask, response, good) => {
			ports.add(response.socket?.remotePort)
			faults.body(good)(ask, response, good)
		})
		await Promise.all(numbers(20).map((at) => rpc.call('test_echo', [at], never)))
		expect(ports.size).toBe(2)
	})
})

/** The fault, and what it must be taken for. */
const table: readonly (readonly [name: string, fault: Fault, facts: object, words: RegExp])[] = [
	[
		'error: 429 with seconds',
		faults.status(429, '', { 'retry-after': '7' }),
		{ kind: 'rate', retryAfterMs: 7_000 },
		/429/,
	],
	[
		'error: 429 with a date',
		faults.status(429, '', { 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' }),
		{ kind: 'rate', retryAfterMs: 30_000 },
		/429/,
	],
	[
		'error: 429 with JSON',
		faults.status(429, { error: { code: -32005, message: 'slower', data: { retry_after: 4 } } }),
		{ kind: 'rate', retryAfterMs: 4_000, code: -32005 },
		/slower/,
	],
	['error: 429 without a word', faults.status(429), { kind: 'rate', status: 429 }, /429/],
	['error: 500', faults.status(500), { kind: 'server', status: 500 }, /500/],
	['error: 502', faults.status(502, '<title>502 Bad Gateway</title>'), { kind: 'server' }, /502 Bad Gateway/],
	['error: 503', faults.status(503, '', { 'retry-after': '2' }), { kind: 'server', retryAfterMs: 2_000 }, /503/],
	['error: 504', faults.status(504), { kind: 'timeout' }, /504/],
	['error: 401', faults.status(401), { kind: 'auth', status: 401 }, /401/],
	['error: 402', faults.status(402), { kind: 'quota', status: 402 }, /402/],
	['error: 403', faults.status(403), { kind: 'unsupported', status: 403 }, /403/],
	['error: 413', faults.status(413), { kind: 'too-large', status: 413 }, /413/],
	[
		'error: 400 with a range in its JSON',
		faults.rpcError(-32600, 'this block range should work: [0x0, 0x9]', undefined, 400),
		{ kind: 'too-large', limit: 10, status: 400, code: -32600 },
		/should work/,
	],
	['error: 403 in plain text', faults.status(403, 'too many requests, trace_id: 1'), { kind: 'rate' }, /trace_id/],
	['error: nothing with 200', faults.status(200), { kind: 'malformed' }, /empty/],
	['error: plain text with 200', faults.status(200, 'rate limited'), { kind: 'rate' }, /rate limited/],
	['error: HTML with 200', faults.html, { kind: 'malformed', status: 200 }, /web page/],
	['error: cut JSON', faults.cutJson, { kind: 'malformed' }, /cut off/],
	['error: a cut body', faults.cutBody, { kind: 'network' }, /cut/],
	['error: null', faults.body(null), { kind: 'malformed' }, /not a JSON-RPC object/],
	['error: a list for one call', faults.body([]), { kind: 'malformed' }, /not a JSON-RPC object/],
	['error: {}', faults.body({}), { kind: 'malformed' }, /neither a result nor an error/],
	['error: result and error', faults.both, { kind: 'malformed' }, /both/],
	['error: the id of another request', faults.wrongId, { kind: 'malformed' }, /id of another/],
	['error: no id', faults.body({ jsonrpc: '2.0', result: 1 }), { kind: 'malformed' }, /id of another/],
	['error: a redirect', faults.redirectLoop, { kind: 'malformed', status: 302 }, /another address/],
	['error: a gzip bomb', faults.gzipBomb(32 * 1024 * 1024), { kind: 'too-large' }, /larger than 1048576 bytes/],
	['error: broken gzip', faults.brokenGzip, { kind: 'malformed' }, /gzip/],
	['error: too many bytes', faults.oversize(2 * 1024 * 1024), { kind: 'too-large' }, /larger than 1048576 bytes/],
	['error: an unknown encoding', faults.encoded('br'), { kind: 'malformed' }, /encoded/],
	['error: an endless error page', faults.endlessError, { kind: 'server', status: 500 }, /500/],
	[
		'error: a result of null beside an error',
		faults.body({ id: null, result: null, error: { code: -32005, message: 'x' } }),
		{ kind: 'rate' },
		/-32005/,
	],
	['error: words in the data', faults.rpcError(-32000, 'no', 'rate limited'), { kind: 'rate' }, /"no: rate limited"/],
	['error: hex in the data', faults.rpcError(-32000, 'no', '0x08c379a0'), { kind: 'server' }, /"no" /],
	[
		'error: control characters in the words',
		faults.rpcError(-32000, 'one\ntwo\u001b[2J\u202ethree\u0000'),
		{ kind: 'server' },
		/"one two \[2J three"/,
	],
	['error: a drip', faults.drip, { kind: 'timeout' }, /within 0.3 s/],
	['error: silence', faults.hang, { kind: 'timeout' }, /within 0.3 s/],
	['error: a reset', faults.reset, { kind: 'network' }, /connection was cut/],
	['error: -32601', faults.rpcError(-32601, 'no'), { kind: 'unsupported', code: -32601 }, /-32601/],
	['error: an error without an id', faults.body({ error: { code: -32005, message: 'x' } }), { kind: 'rate' }, /"x"/],
	['error: an error that is a text', faults.body({ error: 'Unauthorized' }), { kind: 'auth' }, /Unauthorized/],
	['error: a message without an error', faults.body({ message: 'API rate limit hit' }), { kind: 'rate' }, /neither/],
	['error: an unknown message', faults.body({ message: 'Hello' }), { kind: 'malformed' }, /Hello/],
]

describe('faults', () => {
	const nowMs = Date.UTC(2026, 10, 20, 12, 0, 0)

	test.each(table)('%s', async (_name, fault, facts, words) => {
		// Only silence shall run into it: a busy machine takes its time with the rest.
		const timeoutMs = 'kind' in facts && facts.kind === 'timeout' ? 300 : 15_000
		const limits = { timeoutMs, maxBodyBytes: 1024 * 1024, connections: 1 }
		let passedMs = 0
		const rpc = open({ ...limits, clock: () => nowMs, now: () => passedMs })
		node.fail(fault)
		const error = await errorOf(rpc.call('test_echo', ['x'], never))
		expect(error.facts).toMatchObject({ endpoint: node.host, method: 'test_echo', ...facts })
		expect(error.message).toMatch(words)
		expect(error.message).toContain(node.host)
		expect(node.asks, 'it is asked once').toHaveLength(1)

		node.mend()
		passedMs += 3_600_000
		expect(await rpc.call('test_echo', ['again'], never), 'it can be used afterwards').toBe('again')
	})

	test('error: no one listens', async () => {
		const rpc = open()
		await node.close()
		closers.splice(closers.indexOf(node.close), 1)
		const error = await errorOf(rpc.call('test_echo', [1], never))
		expect(error.facts).toEqual({ kind: 'network', endpoint: node.host, method: 'test_echo' })
		expect(error.message).toContain('refused (ECONNREFUSED)')
	})

	test('error: an unknown host', async () => {
		const error = await errorOf(open({ url: 'http://nobody.invalid/key' }).call('test_echo', [1], never))
		expect(error.kind).toBe('network')
		expect(error.message).toMatch(/^nobody\.invalid /)
	})
})
