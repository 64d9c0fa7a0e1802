import { describe, expect, test } from 'vitest'
import { unprovedLogsInWords, withUnprovedLogs } from '../../../src/core/ledger/unprovedLogs.js'

const blocks = (...numbers: readonly number[]) => numbers.map((number) => ({ number: BigInt(number) }))

describe('blocks whose logs nothing proves', () => {
	test('default: near ones are one run, of which all are counted', () => {
		const first = withUnprovedLogs(undefined, blocks(10, 12, 400))
		const then = withUnprovedLogs(first, blocks(500, 1_500, 2_501))
		expect(then).toEqual({
			blocks: 6,
			runs: [
				{ fromBlock: 10, toBlock: 1_500, blocks: 5 },
				{ fromBlock: 2_501, toBlock: 2_501, blocks: 1 },
			],
		})
		expect(withUnprovedLogs(then, [])).toBe(then)
		expect(withUnprovedLogs(undefined, [])).toBeUndefined()
	})

	test('behavior: the latest twenty runs are kept, and all blocks are counted', () => {
		const many = withUnprovedLogs(
			undefined,
			Array.from({ length: 30 }, (_, at) => ({ number: BigInt(at * 5_000) })),
		)
		expect(many?.runs.map(({ fromBlock }) => fromBlock)).toEqual(
			Array.from({ length: 20 }, (_, at) => (at + 10) * 5_000),
		)
		expect(many?.blocks).toBe(30)
	})

	test('behavior: unproved blocks with all receipts read form a run of their own, with another remedy', () => {
		const first = withUnprovedLogs(undefined, blocks(10, 11))
		const then = withUnprovedLogs(
			first,
			[12n, 14n].map((number) => ({ number, why: 'receipts' })),
		)
		expect(then?.runs).toEqual([
			{ fromBlock: 10, toBlock: 11, blocks: 2 },
			{ fromBlock: 12, toBlock: 14, blocks: 2, why: 'receipts' },
		])
		const lines = then === undefined ? [] : [...unprovedLogsInWords(then)]
		expect(lines.map((line) => line.replace(/^tokens not proved: that no log /, ''))).toEqual([
			'of 2 blocks from 12 to 14 is missing: their receipts were read whole, but their headers name them in no way ' +
				'that this version knows; look for a newer one',
			'of 2 blocks from 10 to 11 is missing: one endpoint has given them, and their headers do not rule it out; a ' +
				'second endpoint proves such blocks',
		])
	})

	test('behavior: in words, the latest first', () => {
		const logs = withUnprovedLogs(undefined, blocks(7, 9, 90_000))
		const lines = logs === undefined ? [] : [...unprovedLogsInWords(logs)]
		expect(lines.map((line) => line.slice(0, 70))).toEqual([
			'tokens not proved: that no log of block 90000 is missing: one endpoint',
			'tokens not proved: that no log of 2 blocks from 7 to 9 is missing: one',
		])
	})
})
