import { expect, test } from 'vitest'
import { type ForecastFacts, forecastOf } from '../../../src/core/cost/forecast.js'
import { providerOf } from '../../../src/core/cost/prices.js'

const facts: ForecastFacts = {
	source: 'trace_filter',
	hasWholeBlocks: true,
	pollsPerDay: 7_200,
	blocksPerDay: 7_200,
	addresses: 10,
	perList: 1_000,
	together: true,
	tags: 2,
	isToHead: true,
	settlesInJumps: true,
	balances: 'together',
	mayBePaid: false,
	logs: null,
	price: null,
}

test('default: a poll for each block costs the head, the block, its balances, and a share of the second look', () => {
	const { calls, callsPerDay, creditsPerDay, perTouchedBlock } = forecastOf(facts)
	// 3 of the head; the block's header is that of the head; 225 second looks of 32 blocks: two headers, one list.
	expect(calls).toMatchObject({
		eth_getBlockByNumber: 7_200 * 3 + 225 * 2 + 120,
		trace_block: 7_200 + 24,
		trace_filter: 225,
		eth_call: 7_200,
	})
	expect(callsPerDay).toBe(Object.values(calls).reduce((sum, count) => sum + count, 0))
	expect(creditsPerDay).toBeNull()
	expect(perTouchedBlock).toEqual({ calls: 5, credits: null })
})

test('behavior: where blocks may pay withdrawals each header is read, and none of them twice', () => {
	const { calls, perTouchedBlock } = forecastOf({ ...facts, mayBePaid: true })
	// 225 second looks of 32 blocks: all their headers.
	expect(calls).toMatchObject({ eth_getBlockByNumber: 7_200 * 3 + 7_200 + 120, trace_filter: 225, trace_block: 7_224 })
	expect(perTouchedBlock.calls).toBe(4)
})

test('behavior: with delegations each block is asked for once more, where they are few', () => {
	const blocks = (more: Partial<ForecastFacts>) => forecastOf({ ...facts, ...more }).calls['eth_getBlockByNumber'] ?? 0
	expect(blocks({ readsTransactions: true })).toBe(blocks({}) + 7_200)
	const slow = { pollsPerDay: 360 }
	expect(blocks({ ...slow, readsTransactions: true })).toBe(blocks(slow))
})

test('behavior: books of many watches take as many questions as their turns fill', () => {
	const asked = (more: Partial<ForecastFacts>) => forecastOf({ ...facts, ...more }).calls['eth_call'] ?? 0
	expect(asked({ addresses: 10_000 })).toBe(7_200)
	// 15,625 a block, 2,000 in a question.
	expect(asked({ addresses: 1_000_000 })).toBe(7_200 * 8)
	// More than 16,000 are not asked for in a poll, however long it was.
	expect(asked({ addresses: 1_000_000, pollsPerDay: 24 })).toBe(24 * 8)
	expect(asked({ addresses: 100_000, balances: 'multicall' })).toBe(7_200 * 4)
})

test('behavior: credits are those of each method', () => {
	const infura = providerOf('mainnet.infura.io')?.creditsOf ?? null
	const { calls, creditsPerDay, perTouchedBlock } = forecastOf({ ...facts, price: infura })
	const { eth_getBlockByNumber = 0, trace_block = 0, trace_filter = 0, eth_call = 0, web3_clientVersion = 0 } = calls
	const plain = eth_getBlockByNumber + eth_call + web3_clientVersion
	expect(creditsPerDay).toBe(80 * plain + 300 * (trace_block + trace_filter))
	// Two receipts, a header, a balance; a tree.
	expect(perTouchedBlock).toEqual({ calls: 5, credits: 4 * 80 + 300 })
})

test('behavior: polls that are more seldom ask of more blocks at once', () => {
	const { calls } = forecastOf({ ...facts, pollsPerDay: 720 })
	expect(calls['trace_block']).toBe(24)
	expect(calls['trace_filter']).toBe(720 + 225)
	expect(calls['eth_call']).toBe(720)
})

test('behavior: a chain that is faster than the schedule, and nothing watched', () => {
	expect(forecastOf({ ...facts, addresses: 0 }).calls['trace_block']).toBe(24)
	expect(forecastOf({ ...facts, source: null }).perTouchedBlock).toEqual({ calls: 0, credits: null })
	const debug = forecastOf({ ...facts, source: 'debug_traceBlockByNumber', hasWholeBlocks: false, tags: 0 })
	expect(debug.calls['debug_traceBlockByNumber']).toBe(14_400)
})
