// Transactions of a stranger that are cheap to send and dear to read, on a real node, with contracts of our own.

import { describe, expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { processorMs } from '../support/processor.js'
import { createAddress } from '../support/puppet.js'
import { expectShortTurns } from '../support/soak.js'
import { alertOf, openBench, watchOf } from './bench.js'

const treasury: Address = '0x1234567890123456789012345678901234567890'
/** Pays the watch 7 wei and stops. */
const pay = `6000600060006000600773${treasury.slice(2)}5af100`
/** While more than 60,000 gas are left: a static call of the identity contract with nothing. Then it pays. */
const manyCalls = `0x5b600060006000600060045afa5061ea605a11600057${pay}`
/** Calls itself with all of its gas; the deepest fail, the others pay on the way back. */
const deepCalls = `0x60006000600060006000305af150${pay}`

/** Init code that leaves `runtime`. */
function initOf(runtime: string): Hex {
	const code = runtime.slice(2)
	const length = (code.length / 2).toString(16).padStart(4, '0')
	return `0x61${length}80600c6000396000f3${code}` as Hex
}

interface Traced {
	readonly result: { readonly calls?: readonly unknown[] }
}

/** All calls but the last, which pays, five times. */
function fivefold(one: Traced): Traced {
	const calls = one.result.calls ?? []
	const leaves = calls.slice(0, -1)
	return { ...one, result: { ...one.result, calls: [...Array(5).fill(leaves).flat(), ...calls.slice(-1)] } }
}

/** As the first transaction of its sender. */
async function deploy(node: TestAnvil, from: Address, runtime: string): Promise<Address> {
	await node.receipt(await node.send({ from, data: initOf(runtime), gas: 1_000_000n }))
	return createAddress(from, 0n)
}

interface Seen {
	readonly alerts: number
	/** Milliseconds of the processor until the alerts stood in the state, as on a core at rest. */
	readonly usedMs: number
	/** The longest of them in which nothing else had a turn. */
	readonly blockedMs: number
	readonly grewMb: number
}

async function watchBlock(
	url: string,
	source: 'trace_block' | 'debug_traceBlockByNumber' | 'trace_filter',
	play: () => Promise<void>,
): Promise<Seen> {
	const bench = await openBench({ urls: [url], watches: [watchOf(treasury)], source, timeoutMs: 60_000 })
	try {
		await bench.settle()
		await play()
		const longest = measureBlocking()
		const before = process.memoryUsage().rss
		const usedMs = await processorMs(() => bench.settle())
		const blockedMs = longest()
		const told = (await bench.posted()).map(alertOf)
		expect(new Set(told.map(({ valueWei }) => valueWei))).toEqual(new Set(['7']))
		const grewMb = (process.memoryUsage().rss - before) / 1024 ** 2
		const seen = { alerts: told.length, usedMs, blockedMs, grewMb }
		if (process.env.FIGURES !== undefined) console.log(source, JSON.stringify(seen))
		return seen
	} finally {
		await bench.close()
	}
}

/** The processor's time, not the wall's: other programs that run on this machine are not our doing. */
function measureBlocking(): () => number {
	let longestUs = 0
	let last = process.cpuUsage()
	const look = () => {
		const { user, system } = process.cpuUsage(last)
		longestUs = Math.max(longestUs, user + system)
		last = process.cpuUsage()
	}
	const timer = setInterval(look, 1)
	return () => {
		look()
		clearInterval(timer)
		return longestUs / 1_000
	}
}

const sources = ['debug_traceBlockByNumber', 'trace_block', 'trace_filter'] as const

describe('a hostile transaction', () => {
	// Anvil itself takes a minute to tell of 100,000 in one transaction, so it is asked for 20,000.
	test.each(sources)('behavior: 20,000 empty calls of a precompiled contract, read by %s', async (source) => {
		const node = await startTestAnvil(['--gas-limit', '60000000'])
		onTestFinished(() => node.stop())
		const [from] = (await node.accounts()) as [Address]
		const many = await deploy(node, from, manyCalls)
		const { alerts, usedMs, blockedMs } = await watchBlock(node.url, source, async () => {
			await node.receipt(await node.send({ from, to: many, valueWei: 7n, gas: 3_300_000n }))
		})
		expect(alerts).toBe(1)
		expectShortTurns(blockedMs, usedMs)
	})

	test('behavior: 100,000 of them: what Anvil reports 20,000, five times in one tree', async () => {
		const node = await startTestAnvil(['--gas-limit', '60000000'])
		onTestFinished(() => node.stop())
		const gateway = await startDialectGateway(node.url, {
			twist: (method, _params, result) =>
				method === 'debug_traceBlockByNumber' ? (result as Traced[]).map(fivefold) : undefined,
		})
		onTestFinished(() => gateway.close())
		const [from] = (await node.accounts()) as [Address]
		const many = await deploy(node, from, manyCalls)
		const { alerts, usedMs, blockedMs } = await watchBlock(gateway.url, 'debug_traceBlockByNumber', async () => {
			await node.receipt(await node.send({ from, to: many, valueWei: 7n, gas: 3_300_000n }))
		})
		expect(alerts).toBe(1)
		expectShortTurns(blockedMs, usedMs)
	})

	test.each(sources)('behavior: as deep as the EVM goes, read by %s', async (source) => {
		const node = await startTestAnvil(['--gas-limit', '60000000000'])
		onTestFinished(() => node.stop())
		const [from] = (await node.accounts()) as [Address]
		const deep = await deploy(node, from, deepCalls)
		const { alerts, usedMs, blockedMs } = await watchBlock(node.url, source, async () => {
			await node.receipt(await node.send({ from, to: deep, valueWei: 10_000n, gas: 30_000_000_000n }))
		})
		expect(alerts).toBeGreaterThan(1)
		expectShortTurns(blockedMs, usedMs)
	})
})
