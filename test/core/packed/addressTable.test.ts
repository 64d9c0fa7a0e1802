import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAddressTable } from '../../../src/core/packed/addressTable.js'
import type { Address } from '../../../src/model/glossary.js'
import { timesOf } from '../../support/processor.js'
import { testInSoak } from '../../support/soak.js'

const hex = (value: number | bigint): Address => `0x${value.toString(16).padStart(40, '0')}`
/** Few different ones, so that some come twice. */
const address = fc.oneof(
	fc.integer({ min: 0, max: 40 }).map(hex),
	fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }).map(hex),
	fc.integer({ min: 0, max: 40 }).map((low): Address => `0x${low.toString(16).padEnd(40, 'f')}`),
)

describe('an address table', () => {
	test('is a Map from addresses to numbers in the order of adding, whatever the seed', () => {
		fc.assert(
			fc.property(fc.array(address, { maxLength: 300 }), fc.array(address), fc.integer(), (added, asked, seed) => {
				const table = createAddressTable(seed)
				const model = new Map<Address, number>()
				for (const one of added) {
					const before = model.get(one)
					expect(table.add(one)).toBe(before ?? model.size)
					if (before === undefined) model.set(one, model.size)
				}
				const copy = table.copy()
				expect(copy.add(hex(2n ** 100n))).toBe(model.get(hex(2n ** 100n)) ?? model.size)
				expect(table.size).toBe(model.size)
				expect([...table.keys()]).toEqual([...model.keys()])
				for (const one of [...asked, ...added]) {
					expect(table.indexOf(one)).toBe(model.get(one) ?? -1)
					expect(table.has(one)).toBe(model.has(one))
				}
				for (const [one, index] of model) expect(table.at(index)).toBe(one)
			}),
		)
	})

	test.each([
		'',
		'0x',
		'0x1',
		`0x${'A'.repeat(40)}`,
		`0X${'a'.repeat(40)}`,
		`0x${'g'.repeat(40)}`,
		`0x${'ß'.repeat(40)}`,
		`0x${'a'.repeat(41)}`,
	])('knows nothing of %j', (text) => {
		const table = createAddressTable()
		table.add(`0x${'a'.repeat(40)}`)
		table.add(hex(0))
		expect(table.indexOf(text)).toBe(-1)
		expect(table.has(text as Address)).toBe(false)
		expect(() => table.add(text as Address)).toThrow(RangeError)
	})

	testInSoak('holds 200,000 at about the price of a Set', async () => {
		const all = Array.from({ length: 200_000 }, (_, index) => hex(BigInt(index) * 0x10001000100010001n))
		const fill = (held: { add(one: Address): unknown; has(one: Address): boolean; readonly size: number }) => {
			for (const one of all) held.add(one)
			for (const one of all) if (!held.has(one)) throw new Error(one)
			expect(held.size).toBe(all.length)
		}
		const times = await timesOf(
			10,
			() => fill(createAddressTable(7)),
			() => fill(new Set()),
		)
		expect(times).toBeLessThan(10)
	})
})
