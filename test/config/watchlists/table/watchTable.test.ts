import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWatchTable } from '../../../../src/config/watchlists/table/watchTable.js'
import type { Address } from '../../../../src/model/glossary.js'
import type { Watch, WatchRules } from '../../../../src/model/watch.js'

const rules: readonly WatchRules[] = ['a.yaml', 'b.yaml', 'c.yaml'].map((watchlist, at) => ({
	network: 'base',
	tags: [`tag ${at}`],
	kinds: ['transfer'],
	direction: 'in',
	minValueWei: BigInt(at + 1),
	receivers: ['hook'],
	fromBlock: at === 0 ? null : BigInt(at),
	watchlist,
	// A field that the table has never heard of.
	...(at === 1 ? { later: { any: 1n } } : {}),
}))
const watch = fc.record({
	address: fc.integer({ min: 0, max: 20 }).map((one): Address => `0x${one.toString(16).padStart(40, '0')}`),
	label: fc.option(fc.string({ unit: 'grapheme', maxLength: 12 })),
	rules: fc.constantFrom(...rules),
})

describe('a watch table', () => {
	test('gives back what a Map of lists would', () => {
		fc.assert(
			fc.property(fc.array(watch, { maxLength: 60 }), (all) => {
				const table = createWatchTable(5)
				const model = new Map<Address, Watch[]>()
				for (const { address, label, rules: own } of all) {
					table.addOnceSince(table.length, address, label, own)
					model.set(address, [...(model.get(address) ?? []), { address, label, ...own }])
				}
				const { index } = table
				expect(table.length).toBe(all.length)
				expect(all.map((_, number) => table.at(number))).toEqual(
					all.map(({ address, label, rules: own }) => ({ address, label, ...own })),
				)
				expect(index.size).toBe(model.size)
				expect([...index]).toEqual([...model])
				expect([...index.keys()]).toEqual([...model.keys()])
				expect([...index.values()]).toEqual([...model.values()])
				for (const [address, list] of model) {
					expect(index.get(address)).toEqual(list)
				}
				expect(index.get(`0x${'f'.repeat(40)}`)).toBeUndefined()
				// Each address that stands there from a number on is found by its last watch, and not added again.
				const middle = Math.floor(all.length / 2)
				const own = rules[0] as WatchRules
				for (const address of model.keys()) {
					const last = all.findLastIndex((one, number) => number >= middle && one.address === address)
					const length = table.length
					if (last === -1) continue
					expect(table.addOnceSince(middle, address, 'again', own)).toBe(last)
					expect(table.length).toBe(length)
				}
				for (const [address, list] of model) {
					const length = table.length
					expect(table.addOnceSince(length, address, 'once', own)).toBe(-1)
					expect(table.at(length)).toEqual({ ...own, address, label: 'once' })
					expect(table.addOnceSince(length, address, 'twice', own)).toBe(length)
					expect(index.get(address)).toEqual([...list, table.at(length)])
				}
			}),
		)
	})

	test('behavior: ten thousand watches are found by number and by address', () => {
		const table = createWatchTable(5)
		const own = rules[0] as WatchRules
		const addressOf = (one: number): Address => `0x${(one % 9_000).toString(16).padStart(40, '0')}`
		for (let one = 0; one < 10_000; one++) table.addOnceSince(table.length, addressOf(one), `${one}`, own)
		const labels = Array.from({ length: 10_000 }, (_, one) => table.at(one).label)
		expect(labels).toEqual(Array.from({ length: 10_000 }, (_, one) => `${one}`))
		const found = [0, 999, 1_000, 4_095, 4_096, 8_999].map((one) => table.index.get(addressOf(one)))
		expect(found.map((watches) => watches?.map(({ label }) => label))).toEqual([
			['0', '9000'],
			['999', '9999'],
			['1000'],
			['4095'],
			['4096'],
			['8999'],
		])
		expect([table.length, table.index.size]).toEqual([10_000, 9_000])
	})
})
