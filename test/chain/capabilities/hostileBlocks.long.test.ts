// What an endpoint can do is tried on its newest blocks; a stranger can make some of them such that no node answers.
import { expect, onTestFinished, test } from 'vitest'
import { createCapabilitiesRegistry } from '../../../src/chain/capabilities/registry.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { failingBlocks } from '../../support/failingBlock.js'
import { never } from '../../support/pool.js'
import { silent } from '../../support/silent.js'
import { expectBelow } from '../../support/soak.js'

/** A node with ten blocks of one payment each, which never answers for those of them that are said. */
async function open(isHostile: (number: bigint) => boolean, shortened = 1) {
	const node = await startTestAnvil()
	const failing = failingBlocks()
	failing.hangs = true
	const gateway = await startDialectGateway(node.url, { twist: failing.twist })
	let nowMs = 1_700_000_000_000
	const clock = () => nowMs
	const real = createRpc({ url: gateway.url, clock, timeoutMs: 4_000 })
	/** How long the trials meant to wait, each time; they wait a part of it. */
	const patience: number[] = []
	const allowance = (usualMs: number) => {
		patience.push(usualMs)
		return real.limits.allowance(usualMs) / shortened
	}
	const rpc = { ...real, limits: { ...real.limits, allowance } }
	onTestFinished(async () => {
		await real.close()
		await gateway.close()
		await node.stop()
	})
	const [from, to] = (await node.accounts()) as [Address, Address]
	for (let count = 0; count < 10; count++) {
		const { blockNumber, transactionHash } = await node.receipt(await node.send({ from, to, valueWei: 1n }))
		if (!isHostile(BigInt(blockNumber))) continue
		failing.numbers.add(BigInt(blockNumber))
		failing.hashes.add(transactionHash)
	}
	const registry = createCapabilitiesRegistry({ setting: 'auto', clock, log: silent })
	/** What is known, and how long it took. */
	const ask = async () => {
		const startedAtMs = performance.now()
		const capabilities = await registry.of(rpc, never)
		return { capabilities, tookMs: performance.now() - startedAtMs }
	}
	const pass = (ms: number) => {
		nowMs += ms
	}
	return { ask, pass, failing, gateway, patience }
}

test('behavior: a probe with a single block answered proves the source', async () => {
	// Those that are tried are the fullest, so that all of one transaction each are as good.
	const { ask, pass } = await open((number) => number % 2n === 0n)
	await ask()
	// Where the node stood still for those seconds it is asked again.
	const isProved = async () => {
		const { proved, sources } = (await ask()).capabilities
		if (!proved) pass(120_000)
		return proved && sources.includes('trace_block')
	}
	await expect.poll(isProved, { timeout: 120_000 }).toBe(true)
})

test('behavior: with none that is answered, it is trusted for now, but not its filter', async () => {
	const { ask, pass, failing, gateway } = await open(() => true, 2)
	const { capabilities, tookMs } = await ask()
	expect(capabilities).toMatchObject({ proved: false, passing: true, trusted: true })
	expect(capabilities.sources).toEqual(['trace_block', 'debug_traceBlockByNumber'])
	expect(capabilities.reasons.at(-1)).toMatch(/trusted for now$/)
	// What is old is asked for beside: a reader waits a moment only.
	pass(120_000)
	expectBelow((await ask()).tookMs, tookMs / 2)
	failing.numbers.clear()
	failing.hashes.clear()
	gateway.dialect = {}
	const isProved = async () => {
		pass(3_600_000)
		return (await ask()).capabilities.proved
	}
	await expect.poll(isProved, { timeout: 180_000, interval: 1_000 }).toBe(true)
	expect((await ask()).capabilities.sources).toContain('trace_filter')
}, 300_000)

test('behavior: the first trial, which a reader waits for, is shorter than one answer in a later one', async () => {
	const { ask, pass, patience } = await open(() => true, 10)
	expect((await ask()).capabilities).toMatchObject({ proved: false, passing: true })
	const first = patience.splice(0)
	expect(first).not.toEqual([])
	pass(120_000)
	await ask()
	expect(Math.max(...first)).toBeLessThan(Math.max(...patience))
})

test('behavior: a trial after a change of the client, which a reader waits for, is as short as the first', async () => {
	const { ask, pass, gateway, patience } = await open(() => false)
	expect((await ask()).capabilities.proved).toBe(true)
	const first = patience.splice(0)
	gateway.dialect = { clientVersion: 'Other/v2' }
	pass(11 * 60_000)
	expect((await ask()).capabilities.clientVersion).toBe('Other/v2')
	expect(Math.max(...patience)).toBe(Math.max(...first))
})
