// One chain, many nodes: whatever dialect a node speaks, it is seen for what it is, or it is said that nothing can be
// read of it. What is then read: test/truth.dialects.sized.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { probe } from '../../../src/chain/capabilities/probe.js'
import { createChain } from '../../../src/chain/chain.js'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Answers, startDialectGateway } from '../../support/dialectGateway.js'
import { dialects, noTraces } from '../../support/dialectTable.js'
import { errorOf, never } from '../../support/pool.js'
import { planScenario, playScenario } from '../../support/scenario.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'

let anvil: TestAnvil
const answers: Answers = new Map()
beforeAll(async () => {
	const plan = planScenario({ blocks: 70 })
	anvil = await startTestAnvil(plan.anvilArgs)
	await playScenario(plan, anvil)
})
afterAll(() => anvil.stop())

test.each(dialects)('%s: is seen for what it is', async (_name, dialect, sources) => {
	const gateway = await startDialectGateway(anvil.url, dialect, answers)
	const rpc = createRpc({ url: gateway.url })
	const seen = await probe(rpc, { setting: 'auto' }, never)
	await rpc.close()
	await gateway.close()
	expect(seen.sources).toEqual(sources)
	expect(seen.proved).toBe(true)
	if (seen.methods.trace_filter === 'yes')
		expect(seen.filterMode).toBe(dialect.lists === 'both' ? 'intersection' : 'union')
	expect(seen.otsLevel).toBe(typeof dialect.ots === 'number' ? dialect.ots : dialect.ots === null ? null : 8)
	expect([seen.safeTag, seen.finalizedTag]).toEqual([!dialect.noTags, !dialect.noTags])
	if (seen.methods.trace_filter === 'wrong') expect(seen.reasons.join()).toMatch(/trace_filter/)
})

test('error: a node that reports nothing of the inside of transactions is not read', async () => {
	const dialect = { lacks: [...noTraces, 'debug_traceBlockByNumber'] }
	const gateway = await startDialectGateway(anvil.url, dialect, answers)
	const rpcs = [createRpc({ url: gateway.url })]
	const wait = async () => {}
	const endpoints = createEndpoints({ rpcs, chainId: 31337, clock: standingClock, log: silent, wait })
	const chain = createChain({ endpoints, source: 'auto', log: silent })
	const read = async () => {
		for await (const _ of chain.walk({ from: 1n, to: 9n }, new Set([`0x${'1'.repeat(40)}`] as const), never));
	}
	const error = await errorOf(read())
	await chain.close()
	await gateway.close()
	expect(error.kind).toBe('unsupported')
	expect(error.message).toMatch(/cannot tell what happens inside of transactions/)
})

test('error: a node that loses its traces says so at each read', async () => {
	const lacks: string[] = []
	const gateway = await startDialectGateway(anvil.url, { lacks }, answers)
	const rpcs = [createRpc({ url: gateway.url })]
	const endpoints = createEndpoints({ rpcs, chainId: 31337, clock: standingClock, log: silent, wait: async () => {} })
	const chain = createChain({ endpoints, source: 'auto', log: silent })
	const read = async () => {
		for await (const _ of chain.walk({ from: 1n, to: 9n }, new Set([`0x${'1'.repeat(40)}`] as const), never));
	}
	await read()
	lacks.push(...noTraces, 'debug_traceBlockByNumber')
	const words: string[] = []
	for (let n = 0; n < 3; n++) words.push((await errorOf(read())).message)
	await chain.close()
	await gateway.close()
	expect(words[2]).toContain('inside of transactions: each of its sources of traces failed when it was used')
})
