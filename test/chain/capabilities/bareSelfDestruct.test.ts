// geth of before 2018 tells a self-destruct by its type alone (recorded: block 0xf7105 of Ethereum, fixtures of
// ethereum-etl).

import { afterAll, beforeAll, expect, test } from 'vitest'
import { probe } from '../../../src/chain/capabilities/probe.js'
import { createRpc, type Rpc } from '../../../src/chain/rpc/rpc.js'
import { debugTraceSource } from '../../../src/chain/sources/debugTrace.js'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type DialectGateway, startDialectGateway } from '../../support/dialectGateway.js'
import { noTraces } from '../../support/dialectTable.js'
import { errorOf, never } from '../../support/pool.js'
import { createAddress, encodeActions, puppetInit } from '../../support/puppet.js'

const heir: Address = '0x1234567890123456789012345678901234567890'
let anvil: TestAnvil
let gateway: DialectGateway
let rpc: Rpc
let block: bigint

beforeAll(async () => {
	anvil = await startTestAnvil(['--hardfork', 'shanghai'])
	gateway = await startDialectGateway(anvil.url, {
		lacks: noTraces,
		tracers: ['callTracer'],
		clientVersion: 'Geth/v1.7.2-stable',
		twist: (method, _params, result) => (method.startsWith('debug_trace') ? bare(result) : undefined),
	})
	rpc = createRpc({ url: gateway.url })
	const [from] = (await anvil.accounts()) as [Address]
	await anvil.receipt(await anvil.send({ from, data: puppetInit }))
	const data = encodeActions([{ do: 'selfdestruct', heir }])
	const to = createAddress(from, 0n)
	const receipt = await anvil.receipt(await anvil.send({ from, to, valueWei: 5n * 10n ** 16n, data, gas: 1_000_000n }))
	block = BigInt(receipt.blockNumber)
})
afterAll(async () => {
	await rpc.close()
	await gateway.close()
	await anvil.stop()
})

/** The same, with nothing of a self-destruct but its type. */
function bare(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(bare)
	if (typeof value !== 'object' || value === null) return value
	if ('type' in value && value.type === 'SELFDESTRUCT') return { type: 'SELFDESTRUCT' }
	return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, bare(member)]))
}

test('error: the block is refused, although nothing in it seems to touch the heir', async () => {
	const span = { from: block, to: block }
	const source = debugTraceSource({ tracer: () => 'callTracer' })
	const error = await errorOf(source.read({ rpc, span, addresses: new Set([heir]), last: null }, never))
	expect([error.kind, error.facts.content]).toEqual(['malformed', true])
	expect(error.message).toContain('SELFDESTRUCT, lacks the contract that ended, its heir and its balance')
})

test('error: the probe does not call such a node proved, and offers no source of it', async () => {
	const { proved, sources, reasons } = await probe(rpc, { setting: 'auto' }, never)
	expect([proved, sources]).toEqual([false, []])
	expect(reasons.join('\n')).toContain('SELFDESTRUCT, lacks the contract that ended')
})
