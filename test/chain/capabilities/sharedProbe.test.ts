// One probe of an endpoint serves every caller that waits for it.
import { expect, onTestFinished, test } from 'vitest'
import { findProbeBlocks } from '../../../src/chain/capabilities/probeBlocks.js'
import { createCapabilitiesRegistry } from '../../../src/chain/capabilities/registry.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { startTestAnvil } from '../../support/anvil.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { sendJson } from '../../support/faultyNode.js'
import { never } from '../../support/pool.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'

test('behavior: when the first caller gives up, the others continue from what the endpoint has answered', async () => {
	const node = await startTestAnvil([])
	let isHung = true
	let end = (_: unknown) => {}
	const gateway = await startDialectGateway(node.url, {
		twist: (method) => {
			if (!isHung || !method.startsWith('trace_')) return undefined
			return new Promise((resolve) => {
				end = resolve
			})
		},
	})
	const rpc = createRpc({ url: gateway.url })
	onTestFinished(async () => {
		end(undefined)
		await rpc.close()
		await gateway.close()
		await node.stop()
	})
	const [alice, bob] = await node.accounts()
	await node.send({ from: alice as `0x${string}`, to: bob as `0x${string}`, valueWei: 1n })
	const registry = createCapabilitiesRegistry({ setting: 'auto', clock: standingClock, log: silent })
	const first = new AbortController()
	const givenUp = registry.of(rpc, first.signal)
	const others = [registry.of(rpc, never), registry.of(rpc, never)]
	await expect.poll(() => gateway.count('trace_block')).toBeGreaterThan(0)
	isHung = false
	first.abort(new Error('the first gave up'))
	await expect(givenUp).rejects.toThrow('the first gave up')
	for (const other of others) expect((await other).sources).toContain('trace_block')
	expect(gateway.count('web3_clientVersion')).toBe(1)
})

test('behavior: a client whose name holds a host is not probed anew at each look at its version', async () => {
	const node = await startTestAnvil()
	// What geth says with `--identity node.example.org`.
	const gateway = await startDialectGateway(node.url, {
		clientVersion: 'Geth/node.example.org/v1.16.4/linux-amd64/go1.25',
	})
	const rpc = createRpc({ url: gateway.url })
	onTestFinished(async () => {
		await rpc.close()
		await gateway.close()
		await node.stop()
	})
	const [alice, bob] = await node.accounts()
	await node.receipt(await node.send({ from: alice as `0x${string}`, to: bob as `0x${string}`, valueWei: 1n }))
	let nowMs = 0
	const registry = createCapabilitiesRegistry({ setting: 'auto', clock: () => nowMs, log: silent })
	expect((await registry.of(rpc, never)).proved).toBe(true)
	const before = gateway.count('trace_block')
	nowMs += 11 * 60_000
	await registry.of(rpc, never)
	expect(gateway.count('web3_clientVersion')).toBe(2)
	expect(gateway.count('trace_block')).toBe(before)
})

test.each([403, 429, 503])(
	'behavior: an endpoint that refuses to name its client with HTTP %i is as it was',
	async (status) => {
		const node = await startTestAnvil()
		const proxy = await startFaultProxy(node.url)
		const rpc = createRpc({ url: proxy.url, retry: { tries: 1 } })
		onTestFinished(async () => {
			await rpc.close()
			await proxy.close()
			await node.stop()
		})
		const [alice, bob] = await node.accounts()
		await node.receipt(await node.send({ from: alice as `0x${string}`, to: bob as `0x${string}`, valueWei: 1n }))
		let nowMs = 0
		const registry = createCapabilitiesRegistry({ setting: 'auto', clock: () => nowMs, log: silent })
		const before = await registry.of(rpc, never)
		const refused: string[] = []
		proxy.next = () => (ask, response) => {
			refused.push(...ask.calls.map(({ method }) => method))
			sendJson(response, { message: 'not allowed' }, status)
		}
		nowMs += 11 * 60_000
		expect(await registry.of(rpc, never)).toBe(before)
		expect(refused).toEqual(['web3_clientVersion'])
		nowMs += 11 * 60_000
		const given = AbortSignal.abort(new Error('the caller gave up'))
		await expect(registry.of(rpc, given)).rejects.toThrow('the caller gave up')
	},
)

test('error: an endpoint that has a head and shows no block is refused, and judged once it shows them', async () => {
	const node = await startTestAnvil()
	let isBlind = true
	const isHidden = (method: string) => isBlind && method === 'eth_getBlockByNumber'
	const gateway = await startDialectGateway(node.url, {
		twist: (method, [block]) => (isHidden(method) && String(block).startsWith('0x') ? null : undefined),
	})
	const rpc = createRpc({ url: gateway.url })
	onTestFinished(async () => {
		await rpc.close()
		await gateway.close()
		await node.stop()
	})
	const [alice, bob] = await node.accounts()
	for (const _ of [1, 2, 3])
		await node.receipt(await node.send({ from: alice as `0x${string}`, to: bob as `0x${string}`, valueWei: 1n }))
	const registry = createCapabilitiesRegistry({ setting: 'auto', clock: standingClock, log: silent })
	await expect(registry.of(rpc, never)).rejects.toThrow(/ shows none of its blocks$/)
	const asked = gateway.count('eth_getBlockByNumber')
	await expect(registry.of(rpc, never)).rejects.toThrow(/ shows none of its blocks$/)
	expect(gateway.count('eth_getBlockByNumber')).toBeGreaterThan(asked)
	isBlind = false
	expect((await registry.of(rpc, never)).proved).toBe(true)
})

test.each([true, false])(
	'behavior: the newest block that a node shows is found, with block 0: %s',
	async (hasFirst) => {
		const node = await startTestAnvil(['--no-mining'])
		await node.mine(80)
		// Old blocks are pruned, and the head is of another node behind the endpoint.
		const isHidden = (number: number) => (number === 0 ? !hasFirst : number < 40 || number >= 80)
		const gateway = await startDialectGateway(node.url, {
			twist: (method, [block]) =>
				method === 'eth_getBlockByNumber' && String(block).startsWith('0x') && isHidden(Number(block))
					? null
					: undefined,
		})
		const rpc = createRpc({ url: gateway.url })
		onTestFinished(async () => {
			await rpc.close()
			await gateway.close()
			await node.stop()
		})
		expect((await findProbeBlocks(rpc, 80n, never)).head).toBe(79n)
	},
)
