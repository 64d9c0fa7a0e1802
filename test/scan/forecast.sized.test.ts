// What `doctor` forecasts is what polls then ask: counted at the node, method by method.
import { expect, onTestFinished, test } from 'vitest'
import { inCalls } from '../../src/core/cost/cost.js'
import { forecastOf } from '../../src/core/cost/forecast.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { sized } from '../support/longRun.js'
import { ruledCode, slotOf, word, writing } from '../support/ruledContract.js'
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

// EIP-1967.
const adminSlot: Hash = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103'

const contractCases = [
	['a block between two polls', 1, true],
	['five of them', 5, true],
	['a block between two polls, slot by slot', 1, false],
] as const

test.each(contractCases.slice(0, sized(1, 3)))(
	'behavior: contracts, %s: with and without a call to one of them',
	async (_, blocks, isTogether) => {
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		const isRefused = (method: string, params: readonly unknown[]) => method === 'eth_call' && params.length > 2
		const twist = (method: string, params: readonly unknown[]) =>
			isRefused(method, params) ? { error: 'no' } : undefined
		const gateway = await startDialectGateway(node.url, isTogether ? {} : { twist })
		onTestFinished(() => gateway.close())
		const [from, to] = (await node.accounts()) as [Address, Address]
		const contracts = Array.from({ length: 3 }, (_, at): Address => `0x${(at + 1).toString(16).padStart(40, 'c')}`)
		const admin: Address = `0x${'ad'.padStart(40, '0')}`
		for (const one of [...contracts, admin]) await node.rpc('anvil_setCode', [one, ruledCode])
		for (const one of contracts) await node.rpc('anvil_setStorageAt', [one, adminSlot, word(admin)])
		await node.rpc('anvil_setStorageAt', [admin, word(slotOf('owner()')), word(from)])
		const watches = contracts.map((one) => watchOf(one, { kinds: ['transfer', 'control', 'code'] }))
		const bench = await openBench({ urls: [gateway.url], watches, network: { settle: 2 }, books: false })
		onTestFinished(() => bench.close())
		const mine = async (data: `0x${string}` | null) => {
			for (let block = 0; block < blocks; block++) {
				const target = data !== null && block === 0 ? contracts[1] : to
				await node.receipt(
					await node.send({ from, to: target as Address, valueWei: data === null ? 0n : 1n, ...(data && { data }) }),
				)
			}
		}
		// Only what is asked about contracts; the rest is counted above.
		const ofContracts = ['eth_call', 'eth_getCode', 'eth_getStorageAt', 'eth_getLogs'] as const
		const few = 4
		const counted = async (data: `0x${string}` | null) => {
			const before = ofContracts.map(gateway.count)
			for (let poll = 0; poll < few; poll++) {
				await mine(data)
				await bench.settle()
			}
			return ofContracts.map((method, at) => (gateway.count(method) - (before[at] ?? 0)) / few)
		}
		// Until blocks settle, and the contracts were looked at for the first time.
		await counted(null)
		await counted(null)
		const quiet = await counted(null)
		// A slot that no list knows.
		const touched = await counted(writing([77n, 1n]))
		const pollsPerDay = 1_000_000
		const facts = {
			source: 'trace_filter',
			hasWholeBlocks: true,
			pollsPerDay,
			blocksPerDay: pollsPerDay * blocks,
			addresses: 3,
			perList: 1_000,
			together: true,
			tags: 2,
			isToHead: true,
			settlesInJumps: false,
			balances: null,
			mayBePaid: true,
			logs: null,
			price: inCalls,
		} as const
		// Of each: 20 slots of standards, five of a Safe, eight functions that answer, and `owner()` of the admin.
		const contractFacts = { count: 3, isTogether, isByNumber: false, slots: 25, functions: 9, followed: 1 }
		const { calls, perTouchedBlock } = forecastOf({ ...facts, contracts: contractFacts })
		for (const [at, method] of ofContracts.entries())
			expect(quiet[at], method).toBeCloseTo((calls[method] ?? 0) / pollsPerDay, 1)
		const sum = (counts: readonly number[]) => counts.reduce((total, one) => total + one, 0)
		const without = forecastOf(facts).perTouchedBlock.calls
		expect(sum(touched) - sum(quiet)).toBe(perTouchedBlock.calls - without)
	},
)
