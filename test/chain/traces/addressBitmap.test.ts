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

test('property: it says what the set says, in either case', () => {
	fc.assert(
		fc.property(fc.uniqueArray(fc.oneof(address, alike)), fc.array(fc.oneof(address, alike)), (members, others) => {
			const set = new Set(members)
			const isAsked = addressTestOf(set)
			for (const one of [...members, ...others]) {
				expect(isAsked(one)).toBe(set.has(one))
				expect(isAsked(one.toUpperCase().replace('0X', '0x'))).toBe(set.has(one))
			}
		}),
	)
})

test.each([undefined, null, 7, '', '0x', '0x12', {}, []])('error: %j names no address', (value) => {
	expect(addressTestOf(new Set(['0x0000000000000000000000000000000000000001' as Address]))(value)).toBe(false)
})
