import { describe, expect, test } from 'vitest'
import {
	areBlocksCheaper,
	areReceiptsCheaperTogether,
	denser,
	inCalls,
	isCheaperWhole,
	nothingKnown,
} from '../../../src/core/cost/cost.js'
import { providerOf } from '../../../src/core/cost/prices.js'

const priceAt = (host: string) => providerOf(host)?.creditsOf ?? inCalls
const infura = priceAt('mainnet.infura.io')
const alchemy = priceAt('eth-mainnet.g.alchemy.com:443')

describe('who bills', () => {
	test.each([
		['mainnet.infura.io', 'Infura'],
		['eth-mainnet.g.alchemy.com:443', 'Alchemy'],
		['some-name.ETHEREUM-hoodi.quiknode.pro', 'QuickNode'],
		['infura.io.example.org', undefined],
		['evilinfura.io', undefined],
		['127.0.0.1:8545', undefined],
	])('%s: %s', (endpoint, name) => {
		expect(providerOf(endpoint)?.name).toBe(name)
	})

	test('a method that is not named has the price of plain ones', () => {
		expect([infura('eth_getBlockByNumber'), infura('trace_block'), alchemy('eth_chainId')]).toEqual([80, 300, 0])
	})
})

describe('the trees of one block, or the whole of it', () => {
	// trees × trace_transaction against trace_block, and a plain call for each 400 rows.
	test.each([
		['one tree', inCalls, 1, null, false],
		['two trees of a block of which nothing is known', inCalls, 2, null, true],
		['two trees of a large block: 1 + 3 calls', inCalls, 2, 1_200, false],
		['five trees of it', inCalls, 5, 1_200, true],
		['one tree at Alchemy, where a tree costs two blocks', alchemy, 1, 10, true],
		['one tree at Alchemy, and a block of 1,200 rows: 40 against 20 + 60', alchemy, 1, 1_200, false],
		['two trees at Infura, and a block of 1,200 rows: 600 against 300 + 240', infura, 2, 1_200, true],
	] as const)('%s', (_, price, trees, rows, isWhole) => {
		expect(isCheaperWhole(trees, rows, price)).toBe(isWhole)
	})
})

describe('receipts of a block at once', () => {
	test.each([
		['one of two', inCalls, 1, 2, false],
		['two of two', inCalls, 2, 2, true],
		['two of two hundred: 2 against 1 + 1', inCalls, 2, 200, false],
		['three of two hundred', inCalls, 3, 200, true],
		['twelve at Infura: 960 against 1,000 and their weight', infura, 12, 12, false],
		['thirteen at Infura', infura, 13, 13, true],
	] as const)('%s', (_, price, needed, transactions, isWhole) => {
		expect(areReceiptsCheaperTogether(needed, transactions, price)).toBe(isWhole)
	})
})

describe('a span by lists, or by whole blocks', () => {
	const span = { blocks: 100, lists: 1, together: true, readsHeaders: false }

	test('default: by lists while nothing is known, and where blocks seldom hold a hit', () => {
		expect(areBlocksCheaper(span, nothingKnown, inCalls)).toBe(false)
		expect(areBlocksCheaper(span, { hitBlocks: 0.1, trees: 0.1, rows: 1_000 }, inCalls)).toBe(false)
	})

	test('behavior: by blocks where nearly each holds hits', () => {
		expect(areBlocksCheaper(span, { hitBlocks: 1, trees: 4, rows: 10 }, inCalls)).toBe(true)
		// Blocks of 1,200 rows weigh four calls each: four trees and a header are not more.
		expect(areBlocksCheaper({ ...span, blocks: 1_000 }, { hitBlocks: 0.9, trees: 3, rows: 1_200 }, inCalls)).toBe(false)
	})

	test('behavior: one block alone is read whole where two lists would be asked for', () => {
		expect(areBlocksCheaper({ ...span, blocks: 1, together: false }, nothingKnown, inCalls)).toBe(true)
		expect(areBlocksCheaper({ ...span, blocks: 1 }, nothingKnown, inCalls)).toBe(false)
	})

	test('behavior: headers that are read in any case make neither way dearer', () => {
		// 4 headers and 4 blocks against 4 or 5 lists and 4 headers.
		const few = { ...span, blocks: 4, together: false, readsHeaders: true }
		expect(areBlocksCheaper(few, nothingKnown, inCalls)).toBe(false)
		expect(areBlocksCheaper({ ...few, blocks: 1 }, nothingKnown, inCalls)).toBe(true)
		// Each block is hit: 2 + 100 headers, a list and 99 trees against 200; or 100 headers, where each is read.
		const dense = { hitBlocks: 1, trees: 0.99, rows: 0 }
		expect(areBlocksCheaper(span, dense, inCalls)).toBe(true)
		expect(areBlocksCheaper({ ...span, readsHeaders: true }, dense, inCalls)).toBe(false)
	})

	test('behavior: many lists cost the node a pass each', () => {
		expect(areBlocksCheaper({ ...span, lists: 8 }, nothingKnown, inCalls)).toBe(true)
		expect(areBlocksCheaper({ ...span, lists: 3 }, nothingKnown, inCalls)).toBe(false)
	})
})

test('what blocks held lately counts more than what they held before, by their number', () => {
	const one = denser(null, { hitBlocks: 1, trees: 2, rows: null }, 1)
	expect(one).toEqual({ hitBlocks: 1, trees: 2, rows: null })
	const two = denser(one, { hitBlocks: 0, trees: 0, rows: 40 }, 1)
	expect(two.hitBlocks).toBeCloseTo(0.97)
	expect(two.rows).toBe(40)
	const three = denser(two, { hitBlocks: 0, trees: 0, rows: null }, 100)
	expect(three.hitBlocks).toBeLessThan(0.05)
	expect(three.rows).toBe(40)
})
