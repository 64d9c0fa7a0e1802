// A second endpoint as a witness: asked when it can answer, and never put to rest for what it cannot.
import { expect, onTestFinished, test } from 'vitest'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createAskSecond } from '../../../src/chain/logs/askSecond.js'
import { createRpc, type Rpc } from '../../../src/chain/rpc/rpc.js'
import { startTestAnvil } from '../../support/anvil.js'
import { Refused, startDialectGateway } from '../../support/dialectGateway.js'
import { silent } from '../../support/silent.js'
import { START_MS, standingClock } from '../../support/standingClock.js'

const signal = new AbortController().signal
const logs = (rpc: Rpc, limited: AbortSignal) =>
	rpc.call('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x0' }], limited)

test('default: another answers; one that fails is left alone for ten minutes, and for nothing else', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const gateways = await Promise.all([startDialectGateway(node.url, {}), startDialectGateway(node.url, {})])
	const [, second] = gateways
	if (second === undefined) throw new Error('two gateways')
	let nowMs = START_MS
	const clock = () => nowMs
	const rpcs = gateways.map(({ url }) => createRpc({ url, clock, retry: { tries: 1 } }))
	const endpoints = createEndpoints({ rpcs, chainId: 31337, clock, log: silent })
	onTestFinished(async () => {
		await endpoints.close()
		for (const gateway of gateways) await gateway.close()
	})
	const first = await endpoints.use(async (rpc) => rpc, signal)
	const rank = (one: Rpc) => (rpc: Rpc) => (rpc === one ? 1 : 0)
	const ask = createAskSecond({ endpoints, rank, clock })(first, 0n, signal)
	expect(await ask(logs)).toEqual([])
	expect(gateways.map((one) => one.count('eth_getLogs'))).toEqual([0, 1])
	second.dialect = {
		twist(method) {
			if (method === 'eth_getLogs')
				throw new Refused({ error: { code: -32603, message: 'internal error' }, status: 500 })
			return undefined
		},
	}
	expect(await ask(logs)).toBeNull()
	const tried = second.count('eth_getLogs')
	expect(await ask(logs)).toBeNull()
	expect(second.count('eth_getLogs')).toBe(tried)
	expect(endpoints.states().map(({ healthy }) => healthy)).toEqual([true, true])
	second.dialect = {}
	nowMs += 600_001
	expect(await ask(logs)).toEqual([])
})

test('default: with one endpoint there is no witness, and nothing is asked', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const gateway = await startDialectGateway(node.url, {})
	const rpc = createRpc({ url: gateway.url, clock: standingClock })
	const endpoints = createEndpoints({ rpcs: [rpc], chainId: 31337, clock: standingClock, log: silent })
	onTestFinished(async () => {
		await endpoints.close()
		await gateway.close()
	})
	const ask = createAskSecond({ endpoints, rank: () => () => 0, clock: standingClock })(rpc, 0n, signal)
	expect(await ask(logs)).toBeNull()
	expect(gateway.total()).toBe(0)
})
