// A node that leaves out a frame, over the whole way from its answer: what the reader of frames needs must come
// through.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.js'
import { debugTraceSource } from '../../src/chain/sources/debugTrace.js'
import type { Source } from '../../src/chain/sources/source.js'
import { traceBlockSource } from '../../src/chain/sources/traceBlock.js'
import { traceFilterSource } from '../../src/chain/sources/traceFilter.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type DialectGateway, startDialectGateway } from '../support/dialectGateway.js'
import { never } from '../support/pool.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'

const treasury: Address = '0x1234567890123456789012345678901234567890'
const stranger: Address = '0x5234567890123456789012345678901234567890'

interface Row {
	readonly traceAddress: readonly number[]
	readonly transactionHash: string
}

let anvil: TestAnvil
let gateway: DialectGateway
let rpc: Rpc
let block: bigint

beforeAll(async () => {
	anvil = await startTestAnvil()
	gateway = await startDialectGateway(anvil.url, {})
	rpc = createRpc({ url: gateway.url })
	const [from] = (await anvil.accounts()) as [Address]
	await anvil.receipt(await anvil.send({ from, data: puppetInit }))
	// Two payments in one transaction; the second is the last leaf of its tree.
	const data = encodeActions([
		{ do: 'call', to: stranger, valueWei: 1n, bubble: true },
		{ do: 'call', to: treasury, valueWei: 2n, bubble: true },
	])
	const receipt = await anvil.receipt(
		await anvil.send({ from, to: createAddress(from, 0n), valueWei: 3n, data, gas: 1_000_000n }),
	)
	block = BigInt(receipt.blockNumber)
})
afterAll(async () => {
	await rpc.close()
	await gateway.close()
	await anvil.stop()
})

const withoutLast = (rows: readonly Row[]) => rows.filter(({ traceAddress }) => traceAddress[0] !== 1)
const read = (source: Source, watched: Address) =>
	source.read({ rpc, span: { from: block, to: block }, addresses: new Set([watched]), last: null }, never)

describe('the last leaf of a tree is missing', () => {
	test.each([
		['it was for a watched address', treasury],
		['another frame is for a watched address', stranger],
	] as const)('trace_block: %s', async (_, watched) => {
		gateway.dialect = {
			twist: (method, _params, result) =>
				method === 'trace_block' || method === 'trace_transaction' ? withoutLast(result as Row[]) : undefined,
		}
		await expect(read(traceBlockSource({}), watched)).rejects.toMatchObject({
			kind: 'malformed',
			message: expect.stringContaining('has 1 frames under the root, and 2 by its own count'),
		})
	})

	test('trace_filter: the tree of what it found', async () => {
		gateway.dialect = {
			twist: (method, _params, result) => (method === 'trace_transaction' ? withoutLast(result as Row[]) : undefined),
		}
		await expect(read(traceFilterSource({}), stranger)).rejects.toMatchObject({ kind: 'malformed' })
	})

	test('flatCallTracer', async () => {
		gateway.dialect = {
			twist: (method, _params, result) =>
				method === 'debug_traceBlockByNumber'
					? (result as { txHash: string; result: Row[] }[]).map((one) => ({ ...one, result: withoutLast(one.result) }))
					: undefined,
		}
		const source = debugTraceSource({ tracer: () => 'flatCallTracer' })
		await expect(read(source, treasury)).rejects.toMatchObject({ kind: 'malformed' })
	})

	test('default: nothing is missing', async () => {
		gateway.dialect = {}
		for (const source of [
			traceBlockSource({}),
			traceFilterSource({}),
			debugTraceSource({ tracer: () => 'flatCallTracer' }),
		]) {
			const { transactions } = await read(source, treasury)
			expect(transactions.flatMap(({ frames }) => frames.map(({ traceAddress }) => traceAddress))).toEqual([[], [1]])
		}
	})
})

describe('a receipt that contradicts the root frame', () => {
	const receipt = (change: object) => ({
		twist: (method: string, _params: readonly unknown[], result: unknown) =>
			method === 'eth_getTransactionReceipt' ? { ...(result as object), ...change } : undefined,
	})

	test('error: a receipt alone that says that the transaction failed makes the answer malformed', async () => {
		gateway.dialect = receipt({ status: '0x0' })
		for (const source of [
			traceBlockSource({}),
			traceFilterSource({}),
			debugTraceSource({ tracer: () => 'callTracer' }),
		]) {
			await expect(read(source, treasury)).rejects.toMatchObject({
				kind: 'malformed',
				message: expect.stringContaining('whose root frame did not'),
			})
		}
	})

	test('behavior: beside a state root its status says nothing', async () => {
		gateway.dialect = receipt({ status: '0x0', root: `0x${'ab'.repeat(32)}` })
		const { transactions } = await read(traceBlockSource({}), treasury)
		expect(transactions.map(({ succeeded }) => succeeded)).toEqual([null])
	})

	test('error: the root frame alone says so: it is asked again', async () => {
		gateway.dialect = {
			twist: (method, _params, result) =>
				method === 'trace_block'
					? (result as Row[]).map((row) => (row.traceAddress.length === 0 ? { ...row, error: 'out of gas' } : row))
					: undefined,
		}
		await expect(read(traceBlockSource({}), treasury)).rejects.toMatchObject({ kind: 'unsettled' })
	})
})
