import { describe, expect, test } from 'vitest'
import {
	areBlocksCheaper,
	areReceiptsCheaperTogether,
	denser,
	isCheaperWhole,
	nothingKnown,
} from '../../../src/core/cost/cost.js'

describe('the trees of one block, or the whole of it', () => {
	// trees × trace_transaction against trace_block, and a plain call for each 400 rows.
	test.each([
		['one tree', 1, null, false],
		['two trees of a block of which nothing is known', 2, null, true],
		['two trees of a large block: 1 + 3 calls', 2, 1_200, false],
		['five trees of it', 5, 1_200, true],
	] as const)('%s', (_, trees, rows, isWhole) => {
		expect(isCheaperWhole(trees, rows)).toBe(isWhole)
	})
})

describe('receipts of a block at once', () => {
	test.each([
		['one of two', 1, 2, false],
		['two of two', 2, 2, true],
		['two of two hundred: 2 against 1 + 1', 2, 200, false],
		['three of two hundred', 3, 200, true],
	] as const)('%s', (_, needed, transactions, isWhole) => {
		expect(areReceiptsCheaperTogether(needed, transactions)).toBe(isWhole)
	})
})

describe('a span by lists, or by whole blocks', () => {
	const span = { blocks: 100, lists: 1, readsHeaders: false }

	test('default: by lists while nothing is known, and where blocks seldom hold a hit', () => {
		expect(areBlocksCheaper(span, nothingKnown)).toBe(false)
		expect(areBlocksCheaper(span, { hitBlocks: 0.1, trees: 0.1, rows: 1_000 })).toBe(false)
	})

	test('behavior: by blocks where nearly each holds hits', () => {
		expect(areBlocksCheaper(span, { hitBlocks: 1, trees: 4, rows: 10 })).toBe(true)
		// Blocks of 1,200 rows weigh four calls each: four trees and a header are not more.
		expect(areBlocksCheaper({ ...span, blocks: 1_000 }, { hitBlocks: 0.9, trees: 3, rows: 1_200 })).toBe(false)
	})

	test('behavior: a single block is read whole, since each list is asked for twice', () => {
		expect(areBlocksCheaper({ ...span, blocks: 1 }, nothingKnown)).toBe(true)
		expect(areBlocksCheaper({ ...span, blocks: 3 }, nothingKnown)).toBe(false)
	})

	test('behavior: headers that are read in any case make neither way dearer', () => {
		// 4 headers and 4 blocks against 2 calls for the list and 4 headers.
		const few = { ...span, blocks: 4, readsHeaders: true }
		expect(areBlocksCheaper(few, nothingKnown)).toBe(false)
		expect(areBlocksCheaper({ ...few, blocks: 1 }, nothingKnown)).toBe(true)
		// Each block is hit: 102 headers, 2 lists and 97 trees against 200; or 100 headers, where each is read.
		const dense = { hitBlocks: 1, trees: 0.97, rows: 0 }
		expect(areBlocksCheaper(span, dense)).toBe(true)
		expect(areBlocksCheaper({ ...span, readsHeaders: true }, dense)).toBe(false)
	})

	test('behavior: many lists cost the node a pass each', () => {
		expect(areBlocksCheaper({ ...span, lists: 8 }, nothingKnown)).toBe(true)
		expect(areBlocksCheaper({ ...span, lists: 3 }, nothingKnown)).toBe(false)
	})
})

test('the latest blocks count more than earlier ones when the density of hits is estimated, by their number', () => {
	const one = denser(null, { hitBlocks: 1, trees: 2, rows: null }, 1)
	expect(one).toEqual({ hitBlocks: 1, trees: 2, rows: null })
	const two = denser(one, { hitBlocks: 0, trees: 0, rows: 40 }, 1)
	expect(two.hitBlocks).toBeCloseTo(0.97)
	expect(two.rows).toBe(40)
	const three = denser(two, { hitBlocks: 0, trees: 0, rows: null }, 100)
	expect(three.hitBlocks).toBeLessThan(0.05)
	expect(three.rows).toBe(40)
})
