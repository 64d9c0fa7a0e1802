// What `doctor` says of balances, access lists and contracts, against a node that plays each case.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { examineEndpoint, examineState } from '../../../src/commands/doctor/endpoint.js'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { askNode } from '../../support/askNode.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { never } from '../../support/pool.js'

let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil(['--hardfork', 'prague'])
	const [from, to] = (await node.accounts()) as [Address, Address]
	await node.receipt(await node.send({ from, to, valueWei: 5n }))
})
afterAll(() => node.stop())

async function examined(url: string, setting = { keepsBooks: true, readsContracts: true }) {
	const rpc = createRpc({ url, timeoutMs: 5_000 })
	onTestFinished(() => rpc.close())
	return await examineState(rpc, await node.head(), setting, never)
}

async function gatewayOf(dialect: Dialect) {
	const gateway = await startDialectGateway(node.url, dialect)
	onTestFinished(() => gateway.close())
	return gateway
}

const leavesOut = (method: string, _params: readonly unknown[], result: unknown) =>
	method === 'eth_getBlockAccessList' ? (result as unknown[]).slice(1) : undefined

test.each([
	['none', {}],
	['checked', { accessLists: true }],
	['wrong', { accessLists: true, twist: leavesOut }],
	['not given', { accessLists: true, twist: (method) => (method === 'eth_getBlockAccessList' ? null : undefined) }],
	['not given', { accessLists: true, lacks: ['eth_getBlockAccessList'] }],
] as const satisfies readonly (readonly [string, Dialect])[])('access lists: %s', async (accessLists, dialect) => {
	const { url } = await gatewayOf(dialect)
	const setting = { keepsBooks: true, readsContracts: false }
	expect(await examined(url, setting)).toEqual({ balances: 'together', blooms: 'plain', accessLists, contracts: null })
})

test('default: code is lent, by block hash, and a tracer shows what changed', async () => {
	const contracts = { ask: 'together', by: 'hash', changes: 'prestateTracer' }
	expect((await examined((await gatewayOf({})).url)).contracts).toEqual(contracts)
})

const isLending = (params: readonly unknown[]) => params[2] !== undefined
const isByHash = (params: readonly unknown[]) => typeof params[1] === 'object'

test.each([
	['together', 'number', (method: string, params: readonly unknown[]) => method === 'eth_call' && isByHash(params)],
	['each', 'hash', (method: string, params: readonly unknown[]) => method === 'eth_call' && isLending(params)],
	['no', null, (method: string) => method === 'eth_call' || method === 'eth_getStorageAt'],
] as const)('behavior: contracts are read: %s, by %s', async (ask, by, isRefused) => {
	const twist: Dialect['twist'] = (method, params) => (isRefused(method, params) ? { error: 'no' } : undefined)
	expect((await examined((await gatewayOf({ twist })).url)).contracts).toMatchObject({ ask, by })
})

test('behavior: changes: no', async () => {
	const { url } = await gatewayOf({ lacks: ['debug_traceTransaction'] })
	expect((await examined(url)).contracts?.changes).toBe('no')
})

test('behavior: changes: trace_replayTransaction, as a node without tracers answers it', async () => {
	// Anvil does not: this stands before it, and answers in the form that OpenEthereum's documentation shows.
	const gateway = await gatewayOf({ lacks: ['debug_traceTransaction'] })
	const replay = { output: '0x', stateDiff: {}, trace: [], vmTrace: null }
	const server = createServer(async (request, response) => {
		const calls = JSON.parse(await text(request))
		const answers = [calls]
			.flat()
			.map(async (call) =>
				call.method === 'trace_replayTransaction'
					? { jsonrpc: '2.0', id: call.id, result: replay }
					: await askNode(gateway.url, call),
			)
		const all = await Promise.all(answers)
		response.setHeader('content-type', 'application/json').end(JSON.stringify(Array.isArray(calls) ? all : all[0]))
	})
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	onTestFinished(() => {
		server.closeAllConnections()
		server.close()
	})
	const { port } = server.address() as AddressInfo
	expect((await examined(`http://127.0.0.1:${port}`)).contracts?.changes).toBe('trace_replayTransaction')
})

test.each([
	['every bit', `0x${'f'.repeat(512)}`, 'extra bits'],
	['one bit of no log', `0x${'0'.repeat(511)}1`, 'extra bits'],
	['as the chain has it', undefined, 'plain'],
] as const)('behavior: the bloom of the newest header: %s', async (_, logsBloom, blooms) => {
	const twist: Dialect['twist'] = (method, _params, result) =>
		method === 'eth_getBlockByNumber' && logsBloom !== undefined ? { ...(result as object), logsBloom } : undefined
	expect(await examined((await gatewayOf({ twist })).url)).toMatchObject({ blooms })
})

test('behavior: silence beyond the head is said as seen, and is nothing to do', async () => {
	const { url } = await gatewayOf({ beyondHead: 'nothing' })
	const setting = { source: 'auto', isPrivate: false, keepsBooks: false, readsContracts: false } as const
	const network = { chainId: 31_337, confirmations: 0, settle: 'finalized', ...setting } as const
	const { reasons, advice } = await examineEndpoint(url, network, never)
	expect([reasons, advice]).toEqual([[expect.stringMatching(/beyond its head with nothing/)], []])
})
