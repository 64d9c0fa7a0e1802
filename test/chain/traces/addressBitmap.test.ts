import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressTestOf } from '../../../src/chain/traces/addressBitmap.js'
import type { Address } from '../../../src/model/glossary.js'

const address = fc
	.array(fc.constantFrom(...'0123456789abcdef'), { minLength: 40, maxLength: 40 })
	.map((digits) => `0x${digits.join('')}` as Address)
/** Addresses that end alike, so that the bitmap alone cannot tell them apart. */
const alike = fc
	.constantFrom('00000', 'fffff', 'abcde')
	.chain((end) => address.map((one) => `${one.slice(0, -5)}${end}` as Address))

test('property: a bitmap of addresses says the same as the set, in either case of letters', async () => {
	const lists = [fc.uniqueArray(fc.oneof(address, alike)), fc.array(fc.oneof(address, alike))] as const
	await fc.assert(
		fc.asyncProperty(...lists, async (members, others) => {
			const set = new Set(members)
			const isAsked = await addressTestOf(set)
			for (const one of [...members, ...others]) {
				expect(isAsked(one)).toBe(set.has(one))
				expect(isAsked(one.toUpperCase().replace('0X', '0x'))).toBe(set.has(one))
			}
		}),
	)
})

test('behavior: made of a million addresses, it lets others have their slices', async () => {
	// Not a Set: its keys are made as they are asked for.
	const million = {
		size: 1_000_000,
		has: () => true,
		*keys() {
			for (let n = 0; n < 1_000_000; n++) yield `0x${n.toString(16).padStart(40, '0')}` as Address
		},
	}
	let slices = 0
	let isDone = false
	const others = async () => {
		for (; !isDone; slices += 1) await new Promise((resolve) => setImmediate(resolve))
	}
	const waiting = others()
	const isAsked = await addressTestOf(million)
	isDone = true
	await waiting
	expect(isAsked(`0x${(999_999).toString(16).padStart(40, '0')}`)).toBe(true)
	// 5 ms each.
	expect(slices).toBeGreaterThan(10)
})

test.each([undefined, null, 7, '', '0x', '0x12', {}, []])('error: %j names no address', async (value) => {
	const set = new Set(['0x0000000000000000000000000000000000000001' as Address])
	expect((await addressTestOf(set))(value)).toBe(false)
})
