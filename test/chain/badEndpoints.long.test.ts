/** A bad endpoint first, a good one second: what the first says must cost nothing but a failover. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SourceSetting } from '../../src/chain/capabilities/probe.js'
import { createChain } from '../../src/chain/chain.js'
import { createEndpoints } from '../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import { eventsOf } from '../../src/core/events/events.js'
import type { Part } from '../../src/model/chain.js'
import type { Chain } from '../../src/model/ports.js'
import { never } from '../support/pool.js'
import { silent } from '../support/silent.js'
import { headNumber, watched } from '../support/smallChain.js'
import { raw, type SmallNode, startSmallNode } from '../support/smallNode.js'

let first: SmallNode
let second: SmallNode
let chain: Chain | null = null

beforeEach(async () => {
	first = await startSmallNode()
	second = await startSmallNode()
})

afterEach(async () => {
	await chain?.close()
	await first.close()
	await second.close()
})

function open(
	source: SourceSetting,
	options: { readonly nodes?: readonly SmallNode[]; readonly maxBodyBytes?: number } = {},
): Chain {
	const { nodes = [first, second], maxBodyBytes = 50_000_000 } = options
	const rpcs = nodes.map(({ url }) => createRpc({ url, maxBodyBytes }))
	const endpoints = createEndpoints({ rpcs, chainId: 1, clock: Date.now, log: silent, wait: async () => {} })
	chain = createChain({ endpoints, source, log: silent })
	return chain
}

/** As far as it goes; events of the watched address, as text. */
async function walk(one: Chain, from: bigint, to: bigint): Promise<{ to: bigint; told: string[]; failure: unknown }> {
	const parts: Part[] = []
	let failure: unknown = null
	try {
		for await (const part of one.walk({ from, to }, new Set([watched]), never)) parts.push(part)
	} catch (error) {
		failure = error
	}
	const events = parts.flatMap(({ transactions }) => transactions.flatMap(eventsOf))
	const told = events
		.filter((event) => event.to === watched)
		.map((event) => `${event.block.number} ${event.txIndex} ${event.trace} ${event.valueWei}`)
	return { to: parts.at(-1)?.span.to ?? from - 1n, told, failure }
}

const due = (from: number, to: number) =>
	Array.from({ length: to - from + 1 }, (_, n) => from + n).flatMap((n) => [`${n} 0 0 ${n}`, `${n} 1 0 ${n}`])

// biome-ignore lint/suspicious/noExplicitAny: answers are changed in every way there is
type Edit = (result: any) => unknown
const nested = (open: string, close: string, levels: number) => raw(open.repeat(levels) + close.repeat(levels))
const everyRow =
	(change: Edit): Edit =>
	(rows) =>
		rows.map((row: object) => change(structuredClone(row)))

const cases: readonly (readonly [string, SourceSetting, string, Edit])[] = [
	[
		'a call type that is an object',
		'trace_block',
		'trace_block',
		everyRow((row) => ({ ...row, action: { ...row.action, callType: { toString: 1 } } })),
	],
	['an error that is an object', 'trace_block', 'trace_block', everyRow((row) => ({ ...row, error: { toString: 1 } }))],
	[
		'a type that is an object',
		'debug_traceBlockByNumber',
		'debug_traceBlockByNumber',
		everyRow((one) => ({ ...one, result: { ...one.result, type: { toString: 1 } } })),
	],
	[
		'a block of the year 300000',
		'trace_block',
		'eth_getBlockByNumber',
		(block) => ({ ...block, timestamp: '0x8765bd21f80' }),
	],
	[
		'a quantity of megabytes',
		'trace_block',
		'trace_block',
		everyRow((row) => ({ ...row, action: { ...row.action, value: `0x${'f'.repeat(100_000)}` } })),
	],
	['rows in rows without end', 'trace_block', 'trace_block', () => nested('[', ']', 100_000)],
	[
		'calls in calls without end',
		'debug_traceBlockByNumber',
		'debug_traceBlockByNumber',
		() => raw(`${'[{"calls":'.repeat(20_000)}[]${'}]'.repeat(20_000)}`),
	],
	['a chain id that is an object', 'trace_block', 'eth_chainId', () => ({ valueOf: 1 })],
	['a head that is an object', 'auto', 'eth_blockNumber', () => ({ toString: 1 })],
	['a client version that is an object', 'auto', 'web3_clientVersion', () => ({ toString: 1 })],
	['rows that are an object with a length', 'auto', 'trace_filter', () => ({ length: 1e9 })],
	['receipts that are texts', 'trace_block', 'eth_getTransactionReceipt', () => 'x'.repeat(1_000)],
]

describe('the next endpoint is used', () => {
	test.each(cases)('error: %s', async (_name, source, method, edit) => {
		first.edit = (asked, _params, result) => (asked === method && result !== undefined ? edit(result) : result)
		expect(await walk(open(source), 38n, 40n)).toEqual({ to: 40n, told: due(38, 40), failure: null })
	})

	test('error: an answer larger than allowed, for a single block', async () => {
		first.edit = (method, _params, result) =>
			method === 'trace_block' ? [...(result as object[]), { input: 'x'.repeat(200_000) }] : result
		expect(await walk(open('trace_block', { maxBodyBytes: 100_000 }), 40n, 40n)).toEqual({
			to: 40n,
			told: due(40, 40),
			failure: null,
		})
	})
})

describe('an endpoint whose head is higher than its blocks', () => {
	test.each([30, 1e12])('behavior: the blocks of the other endpoint are read, up to its head: +%d', async (more) => {
		const claim = `0x${(headNumber + more).toString(16)}`
		first.edit = (method, params, result) => {
			if (method === 'eth_blockNumber') return claim
			if (method.startsWith('trace_')) return null
			return method === 'eth_getBlockByNumber' && params[0] === 'latest'
				? { ...(result as object), number: claim }
				: result
		}
		const one = open('trace_block')
		await one.head(never)
		const seen = await walk(one, 35n, BigInt(headNumber + 20))
		expect(seen).toMatchObject({ to: BigInt(headNumber), told: due(35, headNumber) })
		expect(seen.failure).not.toBeNull()
	})
})

describe('a block that is too large at once', () => {
	const large = 'x'.repeat(300_000)

	test.each([
		['trace_block', 'trace_block', 'trace_transaction'],
		['debug_traceBlockByNumber', 'debug_traceBlockByNumber', 'debug_traceTransaction'],
	] as const)('behavior: is asked for by transaction: %s', async (source, method, byTransaction) => {
		const one = open(source, { nodes: [first], maxBodyBytes: 100_000 })
		expect((await walk(one, 37n, 38n)).failure).toBeNull()
		first.edit = (asked, _params, result) => (asked === method ? [...(result as object[]), { input: large }] : result)
		first.asked.length = 0
		expect(await walk(one, 39n, 40n)).toEqual({ to: 40n, told: due(39, 40), failure: null })
		expect(first.asked.filter((asked) => asked === byTransaction)).toHaveLength(4)
	})

	test('error: not where someone may be paid for the block, which no transaction shows', async () => {
		first.edit = (method, _params, result) => {
			if (method === 'eth_getBlockByNumber') return { ...(result as object), difficulty: '0x1000' }
			return method === 'trace_block' ? [...(result as object[]), { input: large }] : result
		}
		const seen = await walk(open('trace_block', { nodes: [first], maxBodyBytes: 100_000 }), 40n, 40n)
		expect(seen.failure).toMatchObject({ facts: { kind: 'too-large' } })
	})
})
