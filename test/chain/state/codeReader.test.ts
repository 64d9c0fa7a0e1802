// What a transaction changed in storage, as nodes say it: each form that an answer may have.

import { expect, onTestFinished, test } from 'vitest'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { createCodeReader } from '../../../src/chain/state/codeReader.js'
import type { Address, Hash } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { startFaultyNode } from '../../support/faultyNode.js'
import { word } from '../../support/ruledContract.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'

const signal = new AbortController().signal
const address: Address = `0x${'ab'.repeat(20)}`
const txHash: Hash = `0x${'12'.repeat(32)}`
const shown = '0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB'

async function open(results: Readonly<Record<string, unknown>>) {
	const node = await startFaultyNode()
	for (const [method, result] of Object.entries(results)) node.results.set(method, () => result)
	const endpoints = createEndpoints({
		rpcs: [createRpc({ url: node.url })],
		chainId: node.chainId,
		clock: standingClock,
		log: silent,
	})
	onTestFinished(async () => {
		await endpoints.close()
		await node.close()
	})
	return createCodeReader({ endpoints })
}

const change = (slot: bigint, previous: bigint, current: bigint) => ({
	slot: word(slot),
	name: null,
	previous: word(previous),
	current: word(current),
})

test('default: prestateTracer leaves out what is zero on a side, and zeros at the front', async () => {
	const result = {
		pre: { [shown]: { storage: { [word(1n)]: word(5n), [word(2n)]: '0x6' } }, [`0x${'cd'.repeat(20)}`]: {} },
		post: { [shown]: { storage: { [word(1n)]: word(7n), '0x3': '0x8' } } },
	}
	const reader = await open({ debug_traceTransaction: result })
	expect(await reader.changedBy(txHash, address, signal)).toEqual([
		change(1n, 5n, 7n),
		change(2n, 6n, 0n),
		change(3n, 0n, 8n),
	])
})

test.each([
	['does not know the tracer', undefined],
	['answers it without a difference', { [shown]: { storage: { [word(1n)]: word(5n) } } }],
])('behavior: a node that %s is asked for its state difference', async (_, traced) => {
	const storage = {
		[word(1n)]: { '*': { from: word(5n), to: word(7n) } },
		[word(2n)]: { '-': word(6n) },
		[word(3n)]: { '+': word(8n) },
		[word(4n)]: '=',
	}
	const reader = await open({
		...(traced && { debug_traceTransaction: traced }),
		trace_replayTransaction: { output: '0x', stateDiff: { [shown]: { balance: '=', storage } }, trace: [] },
	})
	expect(await reader.changedBy(txHash, address, signal)).toEqual([
		change(1n, 5n, 7n),
		change(2n, 6n, 0n),
		change(3n, 0n, 8n),
	])
})

test('error: not known where no endpoint says it; none where the difference lacks the address', async () => {
	expect(await (await open({})).changedBy(txHash, address, signal)).toBeNull()
	const reader = await open({ trace_replayTransaction: { stateDiff: {} } })
	expect(await reader.changedBy(txHash, address, signal)).toEqual([])
})

test('behavior: codes that came before a stop are not asked for again, so that a slow node ends at last', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const stop = new AbortController()
	const all = 1_600
	let asked = 0
	const gateway = await startDialectGateway(node.url, {
		twist(method) {
			if (method !== 'eth_getCode') return
			asked += 1
			if (asked === 1_300) stop.abort()
		},
	})
	onTestFinished(() => gateway.close())
	const rpcs = [createRpc({ url: gateway.url })]
	const endpoints = createEndpoints({ rpcs, chainId: 31_337, clock: standingClock, log: silent })
	onTestFinished(() => endpoints.close())
	const reader = createCodeReader({ endpoints })
	const { hash } = (await node.rpc('eth_getBlockByNumber', ['0x0', false])) as { hash: Hash }
	const addresses = Array.from(
		{ length: all },
		(_, at): Address => `0x${(0xde_ad_00_00_00_00 + at).toString(16).padStart(40, '0')}`,
	)
	await expect(reader.codes(addresses, { number: 0n, hash }, stop.signal)).rejects.toThrow()
	expect(await reader.codes(addresses, { number: 0n, hash }, signal)).toEqual(new Map())
	// At most 20 batches of 50 were under way.
	expect(asked).toBeLessThanOrEqual(all + 1_000)
})
