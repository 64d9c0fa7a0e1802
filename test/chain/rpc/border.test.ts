import { describe, expect, test } from 'vitest'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { wordsOf } from '../../../src/chain/rpc/border.js'
import { readEndpointUrl } from '../../../src/chain/rpc/endpointUrl.js'
import { readErrorBody } from '../../../src/chain/rpc/envelope.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { debugTraceSource } from '../../../src/chain/sources/debugTrace.js'
import type { RpcError } from '../../../src/errors.js'
import { startFaultyNode } from '../../support/faultyNode.js'
import { errorOf, never } from '../../support/pool.js'
import { timesOf } from '../../support/processor.js'
import { silent } from '../../support/silent.js'
import { testInSoak } from '../../support/soak.js'
import { standingClock } from '../../support/standingClock.js'

const key = 'K3y-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJ'
const url = readEndpointUrl(`https://node.example/${key}/evm`)
const hash = (digit: string) => `0x${digit.repeat(64)}`

describe("a node's words", () => {
	test('default', () => {
		expect(wordsOf('no such method', url, 300)).toBe('no such method')
		expect(wordsOf({ toString: 1 }, url, 300)).toBe('')
	})

	test('behavior: a secret at any place of a text of any length leaves no piece of itself', () => {
		for (let at = 0; at < 700; at += 7) {
			const said = wordsOf(`${'x'.repeat(at)}https://node.example/${key}/evm`, url, 300)
			for (let from = 0; from + 6 <= key.length; from += 1) expect(said).not.toContain(key.slice(from, from + 6))
		}
		for (const more of [16_000 - 20, 16_000 - key.length / 2, 40_000]) {
			const said = wordsOf(`${key} `.repeat(Math.ceil(more / key.length)) + key, url, 300)
			for (let from = 0; from + 6 <= key.length; from += 1) expect(said).not.toContain(key.slice(from, from + 6))
		}
	})

	test('behavior: control and direction characters do not pass, and join nothing', () => {
		expect(wordsOf('a\u001b[2Jb\u202ec\u0007d\ne\u200bf', url, 300)).toBe('a [2Jb c d e f')
	})

	test('behavior: no link and no mention of theirs is live in a mail or a chat', () => {
		const said = 'see https://evil.example/claim, mail me@evil.example, <!channel> <@U12345> @everyone v1.2.3'
		expect(wordsOf(said, url, 300)).toBe(
			'see https[://]evil[.]example/claim, mail me[@]evil[.]example, ‹!channel> ‹[@]U12345> [@]everyone v1.2.3',
		)
	})

	test('error: an entry of a debug trace quotes the address of the node', async () => {
		const node = await startFaultyNode()
		const header = {
			number: '0x5',
			hash: hash('5'),
			parentHash: hash('4'),
			timestamp: '0x5',
			transactions: [hash('a')],
		}
		const error = `${'\u202e'.repeat(3)}${'p'.repeat(140)} cannot POST http://${node.host}/${key}/evm \u001b[31m`
		node.results.set('eth_getBlockByNumber', () => header)
		node.results.set('debug_traceBlockByNumber', () => [{ txHash: hash('a'), error }])
		const rpc = createRpc({ url: `${node.url}/${key}/evm` })
		const source = debugTraceSource({ tracer: () => 'callTracer' })
		const span = { from: 5n, to: 5n }
		const thrown = await errorOf(source.read({ rpc, span, addresses: new Set(), last: null }, never))
		await rpc.close()
		await node.close()
		expect(thrown.message).toContain('could not be traced: ppp')
		expect(thrown.message).toContain('/[secret]/evm')
		for (let from = 0; from + 6 <= key.length; from += 1)
			expect(thrown.message).not.toContain(key.slice(from, from + 6))
		expect(thrown.message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
	})
})

describe('an error object that cannot be read', () => {
	const deep = (name: string, levels: number) => [`{"${name}":`.repeat(levels), '1', '}'.repeat(levels)].join('')

	test.each([
		['data that goes on for ever', `{"code":-32005,"message":"slower","data":${deep('rate', 200_000)}}`, 'rate'],
		['a code that is an object', '{"code":{"toString":1},"message":"no"}', 'server'],
		['a wait that is an object', '{"code":-32005,"message":"slower","data":{"retry_after":{"valueOf":1}}}', 'rate'],
	])('error: %s', async (_name, error, kind) => {
		const node = await startFaultyNode()
		const other = await startFaultyNode()
		for (const one of [node, other]) one.results.set('test_name', () => one.host)
		const rpcs = [node, other].map((one) => createRpc({ url: one.url, retry: { tries: 1, withinMs: 0 } }))
		const pool = createEndpoints({ rpcs, chainId: 1, clock: standingClock, log: silent, wait: async () => {} })
		node.fail((ask, response) => response.end(`{"jsonrpc":"2.0","id":${Number(ask.calls[0]?.id)},"error":${error}}`), {
			method: 'test_name',
		})
		const failures: RpcError[] = []
		const ask = (rpc: (typeof rpcs)[number]) =>
			rpc.call('test_name', [], never).catch((thrown: RpcError) => {
				failures.push(thrown)
				throw thrown
			})
		expect(await pool.use(ask, never)).toBe(other.host)
		expect(failures[0]?.kind).toBe(kind)
		await pool.close()
		await node.close()
		await other.close()
	})
})

testInSoak('behavior: the title of an error page is found in no more time than the page takes', async () => {
	const read = (beginnings: number) => () => readErrorBody({ text: '<title'.repeat(beginnings) })
	// Ten times as many: a hundred times as long when each beginning was followed to the end of the page.
	expect(await timesOf(50, read(170_000), read(17_000))).toBeLessThan(50)
})

test('default: the text of an error page is its title', () => {
	expect(readErrorBody({ text: '<html><title lang="en">Bad Gateway</title>' }).text).toBe('Bad Gateway')
})
