import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGateway } from '../../src/devnode/gateway.js'
import { connectUpstream } from '../../src/devnode/upstream.js'
import { startTestDevnode, type TestDevnode } from '../support/anvil.js'

let devnode: TestDevnode
let base: string

beforeAll(async () => {
	devnode = await startTestDevnode({ key: 'k-1_A' })
	base = devnode.url.slice(0, -'/k-1_A/evm'.length)
})
afterAll(() => devnode.stop())

const json = { 'content-type': 'application/json' }

async function post(body: string, { url = devnode.url, headers = json }: { url?: string; headers?: object } = {}) {
	const response = await fetch(url, { method: 'POST', headers: { ...headers }, body })
	const text = await response.text()
	return {
		status: response.status,
		type: response.headers.get('content-type'),
		text,
		body: text === '' ? null : JSON.parse(text),
	}
}

const call = (method: string, params: unknown = [], id: unknown = 1) =>
	JSON.stringify({ jsonrpc: '2.0', id, method, params })

describe('the envelope', () => {
	test('default: a request is answered with JSON-RPC 2.0 and the content type of JSON', async () => {
		const answer = await post(call('eth_chainId'))
		expect(answer.status).toBe(200)
		expect(answer.type).toBe('application/json')
		expect(answer.body).toEqual({ jsonrpc: '2.0', id: 1, result: '0x7a69' })
	})

	for (const id of [0, 7, -3, Number.MAX_SAFE_INTEGER, 'seven', '7', '', 'ü"\\']) {
		test(`behavior: the id ${JSON.stringify(id)} comes back unchanged, from Anvil and from the gateway`, async () => {
			expect((await post(call('eth_chainId', [], id))).body.id).toBe(id)
			expect((await post(call('ots_getApiLevel', [], id))).body.id).toBe(id)
			expect((await post(call('trace_filter', [{}], id))).body.id).toBe(id)
			expect((await post(call('trace_filter', [{ count: 'x' }], id))).body.id).toBe(id)
		})
	}

	test('behavior: a null id is answered with null', async () => {
		expect((await post(call('ots_getApiLevel', [], null))).body).toEqual({ jsonrpc: '2.0', id: null, result: 8 })
		expect((await post(call('eth_chainId', [], null))).body.id).toBeNull()
	})

	test('behavior: without an id it is a notification, which is not answered', async () => {
		for (const [method, params] of [
			['eth_chainId', []],
			['ots_getApiLevel', []],
			['trace_filter', [{}]],
			['trace_filter', [{ count: 'x' }]],
		]) {
			const answer = await post(JSON.stringify({ jsonrpc: '2.0', method, params }))
			expect([answer.status, answer.text]).toEqual([204, ''])
		}
	})

	test('behavior: absent params are none', async () => {
		expect((await post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')).body.result).toBe('0x7a69')
		expect((await post('{"jsonrpc":"2.0","id":1,"method":"ots_getApiLevel"}')).body.result).toBe(8)
	})

	test('behavior: a batch is answered in order, each with its own id and its own error', async () => {
		const batch = [
			call('eth_chainId', [], 'a'),
			call('ots_getApiLevel', [], 2),
			call('trace_filter', [{}], 3),
			'17',
			call('nothing_here', [], 5),
			JSON.stringify({ jsonrpc: '2.0', method: 'eth_chainId' }),
			call('trace_filter', [{ fromBlock: 'now' }], 7),
			'{"jsonrpc":"1.0","id":"eight","method":"eth_chainId"}',
		]
		const { body } = await post(`[${batch.join(',')}]`)
		expect(body.map((answer: { id: unknown }) => answer.id)).toEqual(['a', 2, 3, null, 5, 7, 'eight'])
		expect(body.map((answer: { error?: { code: number } }) => answer.error?.code)).toEqual([
			undefined,
			undefined,
			undefined,
			-32600,
			-32601,
			-32602,
			-32600,
		])
	})

	test('behavior: a large batch for Anvil alone goes through', async () => {
		const ids = Array.from({ length: 1000 }, (_, at) => at)
		const { body } = await post(`[${ids.map((id) => call('eth_getBlockByNumber', ['0x0', false], id)).join(',')}]`)
		expect(body.map((answer: { id: number }) => answer.id)).toEqual(ids)
	})

	test('behavior: a batch of notifications has no answer', async () => {
		const note = JSON.stringify({ jsonrpc: '2.0', method: 'ots_getApiLevel' })
		expect((await post(`[${note},${note}]`)).status).toBe(204)
	})
})

describe('what is refused', () => {
	for (const body of ['', '{', 'not json', '{"jsonrpc":"2.0","id":1', '[1,']) {
		test(`error: a malformed body is -32700: ${JSON.stringify(body)}`, async () => {
			const answer = await post(body)
			expect(answer.status).toBe(200)
			expect(answer.type).toBe('application/json')
			expect(answer.body).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32700, message: expect.any(String) } })
		})
	}

	const malformed: [string, string, unknown][] = [
		['an empty batch', '[]', null],
		['a number', '1', null],
		['a text', '"eth_chainId"', null],
		['null', 'null', null],
		['no jsonrpc', '{"id":1,"method":"eth_chainId"}', 1],
		['another version', '{"jsonrpc":"1.0","id":"x","method":"eth_chainId"}', 'x'],
		['no method', '{"jsonrpc":"2.0","id":4}', 4],
		['a method that is no text', '{"jsonrpc":"2.0","id":4,"method":7}', 4],
		['an empty method', '{"jsonrpc":"2.0","id":4,"method":""}', 4],
		['params that are a text', '{"jsonrpc":"2.0","id":4,"method":"eth_chainId","params":"x"}', 4],
		['params that are null', '{"jsonrpc":"2.0","id":4,"method":"eth_chainId","params":null}', 4],
		['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}', null],
		['an id that is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"eth_chainId"}', null],
		['an id that would be rounded', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ots_getApiLevel"}', null],
	]
	for (const [name, body, id] of malformed) {
		test(`error: a malformed request is -32600: ${name}`, async () => {
			const answer = await post(body)
			expect(answer.body).toEqual({ jsonrpc: '2.0', id, error: { code: -32600, message: expect.any(String) } })
		})
	}

	test('error: an unknown method is -32601', async () => {
		for (const method of ['eth_nothing', 'parity_foo', 'x']) {
			expect((await post(call(method))).body.error.code).toBe(-32601)
		}
	})

	test('error: bad parameters are -32602, from Anvil too', async () => {
		expect((await post(call('eth_getBalance', ['x']))).body.error.code).toBe(-32602)
		for (const params of [[1], [{}], [null], { a: 1 }, {}]) {
			expect((await post(call('ots_getApiLevel', params))).body.error.code).toBe(-32602)
		}
	})

	test('behavior: an error of Anvil passes as it is', async () => {
		const request = call('debug_traceBlockByNumber', ['0xffffff', {}], 'e')
		const direct = await post(request, { url: devnode.node.anvilUrl })
		expect(direct.body.error.code).toBe(-32001)
		expect(await post(request)).toEqual(direct)
	})

	for (const key of ['wrong', 'k-1_', 'k-1_AA', 'K-1_A', '%6b-1_A', '']) {
		test(`error: the wrong key "${key}" is 401 with a JSON-RPC error`, async () => {
			const answer = await post(call('eth_chainId'), { url: `${base}/${key}/evm` })
			expect(answer.status).toBe(401)
			expect(answer.type).toBe('application/json')
			expect(answer.body).toEqual({
				jsonrpc: '2.0',
				id: null,
				error: { code: expect.any(Number), message: expect.any(String) },
			})
			expect(answer.text).not.toContain('k-1_A')
		})
	}

	for (const path of ['/', '/evm', '/k-1_A', '/k-1_A/', '/k-1_A/evm/', '/k-1_A/evm2', '/v1/k-1_A/evm']) {
		test(`error: the path ${path} is 404`, async () => {
			const answer = await post(call('eth_chainId'), { url: `${base}${path}` })
			expect([answer.status, answer.body.error.code]).toEqual([404, -32600])
		})
	}

	for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
		test(`error: ${method} is 405`, async () => {
			const response = await fetch(devnode.url, { method })
			expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
			expect(((await response.json()) as { error: object }).error).toBeDefined()
		})
	}

	test('error: another content type is 415, reported in words', async () => {
		const answer = await post(call('eth_chainId'), { headers: { 'content-type': 'text/plain' } })
		expect([answer.status, answer.body.error.code]).toEqual([415, -32600])
		expect(answer.body.error.message).toContain('application/json')
		const charset = { 'content-type': 'application/json; charset=utf-8' }
		expect((await post(call('eth_chainId'), { headers: charset })).status).toBe(200)
	})
})

describe('limits', () => {
	test('error: a body beyond the limit is 413, and is not read to its end', async () => {
		const node = connectUpstream(devnode.node.anvilUrl)
		const server = createGateway({ key: 'k', node, bodyLimitBytes: 1000 })
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		const { port } = server.address() as { port: number }
		const url = `http://127.0.0.1:${port}/k/evm`
		expect((await post(call('eth_chainId'), { url })).status).toBe(200)
		const status = await new Promise<number | undefined>((resolve, reject) => {
			const endless = request(url, { method: 'POST', headers: json }, (response) => {
				resolve(response.statusCode)
				endless.destroy()
			})
			endless.on('error', reject)
			endless.write('x'.repeat(1001))
		})
		expect(status).toBe(413)
		server.close()
		server.closeAllConnections()
		await node.close()
	})

	test('error: a node that is gone is 502 with -32603', async () => {
		const node = connectUpstream('http://127.0.0.1:1')
		const server = createGateway({ key: 'k', node })
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		const { port } = server.address() as { port: number }
		for (const method of ['eth_chainId', 'trace_filter']) {
			const answer = await post(call(method, [{}]), { url: `http://127.0.0.1:${port}/k/evm` })
			expect(answer.body.error.code).toBe(-32603)
		}
		server.close()
		server.closeAllConnections()
		await node.close()
	})
})
