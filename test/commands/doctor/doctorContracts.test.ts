// What `doctor` says of watched contracts, against a node that plays each case.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { examineContracts } from '../../../src/commands/doctor/doctorContracts.js'
import type { Address, Hash } from '../../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { askNode } from '../../support/askNode.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { ruledCode, slotOf, word } from '../../support/ruledContract.js'

const contract: Address = `0x${'c0de'.padStart(40, '0')}`
const admin: Address = `0x${'ad'.padStart(40, '0')}`
const someone: Address = `0x${'a'.repeat(40)}`
/** EIP-1967. */
const adminSlot: Hash = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103'

let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil()
	const [from, to] = (await node.accounts()) as [Address, Address]
	for (const one of [contract, admin]) await node.rpc('anvil_setCode', [one, ruledCode])
	await node.rpc('anvil_setStorageAt', [contract, adminSlot, word(admin)])
	await node.rpc('anvil_setStorageAt', [admin, word(slotOf('owner()')), word(someone)])
	await node.receipt(await node.send({ from, to, valueWei: 5n }))
})
afterAll(() => node.stop())

const isLending = (params: readonly unknown[]) => params[2] !== undefined
const isByHash = (params: readonly unknown[], at: number) => typeof params[at] === 'object'

async function examined(dialect: Dialect, addresses: readonly Address[] = [contract, someone]) {
	const gateway = await startDialectGateway(node.url, dialect)
	const rpc = createRpc({ url: gateway.url, timeoutMs: 5_000 })
	onTestFinished(async () => {
		await rpc.close()
		await gateway.close()
	})
	return await examineContracts(rpc, await node.head(), addresses, new AbortController().signal)
}

test('default: code is lent, by block hash; what one contract of two addresses will be asked', async () => {
	const { report, forecast } = await examined({})
	expect(report).toEqual({ ask: 'together', by: 'hash', changes: 'prestateTracer', contracts: 1 })
	// The admin's slot; the eight functions answer all, and `owner()` of the admin is the ninth.
	expect(forecast).toEqual({ count: 1, isTogether: true, isByNumber: false, slots: 25, functions: 9, followed: 1 })
})

test.each([
	[
		'by number',
		'together',
		'number',
		(method: string, params: readonly unknown[]) => method === 'eth_call' && isByHash(params, 1),
	],
	[
		'slot by slot',
		'each',
		'hash',
		(method: string, params: readonly unknown[]) => method === 'eth_call' && isLending(params),
	],
	['not at all', 'no', null, (method: string) => method === 'eth_call' || method === 'eth_getStorageAt'],
] as const)('behavior: %s', async (_, ask, by, isRefused) => {
	const { report, forecast } = await examined({
		twist: (method, params) => (isRefused(method, params) ? { error: 'no' } : undefined),
	})
	expect(report).toMatchObject({ ask, by, contracts: ask === 'no' ? 0 : 1 })
	expect(forecast === null).toBe(ask === 'no')
})

test('behavior: changes: no', async () => {
	expect((await examined({ lacks: ['debug_traceTransaction'] })).report.changes).toBe('no')
})

test('behavior: changes: trace_replayTransaction, as a node without tracers answers it', async () => {
	// Anvil does not: this stands before it, and answers in the form that OpenEthereum's documentation shows.
	const server = createServer(async (request, response) => {
		const calls = JSON.parse(await text(request))
		const answers = await Promise.all(
			[calls]
				.flat()
				.map(async (call) =>
					call.method === 'trace_replayTransaction'
						? { jsonrpc: '2.0', id: call.id, result: { output: '0x', stateDiff: {}, trace: [], vmTrace: null } }
						: await askNode(gateway.url, call),
				),
		)
		response
			.setHeader('content-type', 'application/json')
			.end(JSON.stringify(Array.isArray(calls) ? answers : answers[0]))
	})
	const gateway = await startDialectGateway(node.url, { lacks: ['debug_traceTransaction'] })
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	const rpc = createRpc({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs: 5_000 })
	onTestFinished(async () => {
		await rpc.close()
		server.closeAllConnections()
		server.close()
		await gateway.close()
	})
	const { report } = await examineContracts(rpc, await node.head(), [], new AbortController().signal)
	expect(report.changes).toBe('trace_replayTransaction')
})

test('behavior: contracts beyond 2,000 watches are estimated', async () => {
	const others = Array.from({ length: 3_999 }, (_, at): Address => `0x${(at + 1).toString(16).padStart(40, 'e')}`)
	const { report, forecast } = await examined({}, [contract, ...others])
	expect([report.contracts, forecast?.count]).toEqual([2, 2])
})
