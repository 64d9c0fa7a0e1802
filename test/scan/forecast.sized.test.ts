// What `doctor` forecasts is what polls then ask: counted at the node, method by method.
import { expect, onTestFinished, test } from 'vitest'
import { inCalls } from '../../src/core/cost/cost.js'
import { forecastOf } from '../../src/core/cost/forecast.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { sized } from '../support/longRun.js'
import { openBench, watchOf } from './bench.js'

const methods = [
	'eth_getBlockByNumber',
	'trace_block',
	'trace_filter',
	'eth_call',
	'eth_getTransactionReceipt',
	'eth_getBlockReceipts',
	'eth_getLogs',
] as const
const polls = 10

const cases = [
	['a block between two polls', 1, false],
	['five of them, with tokens', 5, true],
	['five of them', 5, false],
	['a block between two polls, with tokens', 1, true],
] as const

test.each(cases.slice(0, sized(2, 4)))('behavior: %s', async (_, blocks, withTokens) => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const gateway = await startDialectGateway(node.url, {})
	onTestFinished(() => gateway.close())
	const [from, to] = (await node.accounts()) as [Address, Address]
	const mine = async () => {
		for (let block = 0; block < blocks; block++) await node.receipt(await node.send({ from, to, valueWei: 1n }))
	}
	const nobody: Address = `0x${'e'.repeat(40)}`
	const kinds = [...watchOf(nobody).kinds, 'token'] as const
	const watches = [watchOf(nobody, withTokens ? { kinds, tokens: 'all' } : {})]
	// No log is written here, so that every header rules out that one is missing.
	const bench = await openBench({ urls: [gateway.url], watches, network: { settle: 20 } })
	onTestFinished(() => bench.close())
	// Until blocks settle, and the endpoint was asked what it can do.
	for (let poll = 0; poll < 3 + 22 / blocks; poll++) {
		await mine()
		await bench.settle()
	}
	const before = methods.map(gateway.count)
	for (let poll = 0; poll < polls; poll++) {
		await mine()
		await bench.settle()
	}
	const asked = methods.map((method, at) => (gateway.count(method) - (before[at] ?? 0)) / polls)
	const pollsPerDay = 1_000_000
	const { calls } = forecastOf({
		source: 'trace_filter',
		hasWholeBlocks: true,
		pollsPerDay,
		blocksPerDay: pollsPerDay * blocks,
		addresses: 1,
		perList: 1_000,
		together: true,
		tags: 2,
		isToHead: true,
		settlesInJumps: false,
		balances: 'together',
		mayBePaid: true,
		logs: withTokens ? { isPrivate: false, mostLogProofs: 0, hasWitness: false } : null,
		price: inCalls,
	})
	const forecast = methods.map((method) => (calls[method] ?? 0) / pollsPerDay)
	for (const [at, method] of methods.entries()) {
		expect(asked[at], method).toBeGreaterThanOrEqual((forecast[at] ?? 0) - 0.6)
		expect(asked[at], method).toBeLessThanOrEqual((forecast[at] ?? 0) + 0.6)
	}
	const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0)
	expect(sum(asked) / sum(forecast)).toBeGreaterThan(0.85)
	expect(sum(asked) / sum(forecast)).toBeLessThan(1.15)
})
