import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAmount, parseAmount } from '../../src/base/amount.js'

const decimals = fc.integer({ min: 0, max: 77 })
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n })

describe('parseAmount and formatAmount', () => {
	test('printing and parsing give back every amount, at any number of decimals', () => {
		fc.assert(
			fc.property(amount, decimals, (wei, digits) => {
				expect(parseAmount(formatAmount(wei, digits), digits)).toBe(wei)
			}),
		)
	})

	test('parsing and printing give back every decimal, but for zeros that say nothing', () => {
		const whole = fc.stringMatching(/^(0|[1-9][0-9]{0,20})$/)
		const fraction = fc.stringMatching(/^([0-9]{0,17}[1-9])?$/)
		fc.assert(
			fc.property(whole, fraction, fc.nat(3), fc.nat(3), (before, after, zerosBefore, zerosAfter) => {
				const plain = after === '' ? before : `${before}.${after}`
				const padded = `${'0'.repeat(zerosBefore)}${before}.${after}${'0'.repeat(zerosAfter + 1)}`
				expect(formatAmount(parseAmount(plain, 18), 18)).toBe(plain)
				expect(formatAmount(parseAmount(padded, 18), 18)).toBe(plain)
			}),
		)
	})

	test('larger amounts print larger numbers: no digit is lost or moved', () => {
		fc.assert(
			fc.property(amount, decimals, (wei, digits) => {
				const text = formatAmount(wei, digits)
				const [whole = '', fraction = ''] = text.split('.')
				expect(BigInt(whole + fraction.padEnd(digits, '0'))).toBe(wei)
				expect(text).not.toMatch(/e|\.$|\.\d*0$/i)
			}),
		)
	})
})

describe('parseAmount', () => {
	test.each([
		['0.5', 18, 500000000000000000n],
		['1', 6, 1000000n],
		['007', 0, 7n],
		['1.10', 18, 1100000000000000000n],
		[' 2 ', 18, 2000000000000000000n],
		['250 gwei', 18, 250000000000n],
		['250gwei', 6, 250000000000n],
		['1 wei', 6, 1n],
		['0.5 ether', 18, 500000000000000000n],
		['1.5 XDAI', 18, 1500000000000000000n],
		['1.5 xdai', 6, 1500000n],
		['0.000000000000000001', 18, 1n],
		['1.0 wei', 18, 1n],
	])('%s with %i decimals', (text, digits, wei) => {
		expect(parseAmount(text, digits, 'XDAI')).toBe(wei)
	})

	test.each([
		['0.0000001', 6, /finer than one wei: this coin has 6 digits/],
		['0.1', 0, /no digits/],
		['1.5 wei', 18, /finer than one wei/],
		['-1', 18, /cannot be negative/],
		['1,5', 18, /write a point: 1\.5/],
		['1e18', 18, /without an exponent/],
		['0x10', 18, /decimal digits/],
		['5 doge', 18, /not a unit/],
		['.5', 18, /not an amount/],
		['1_000', 18, /not an amount/],
		['', 18, /not an amount/],
	])('error: %s with %i decimals', (text, digits, message) => {
		expect(() => parseAmount(text, digits, 'XDAI')).toThrow(message)
		expect(() => parseAmount(text, digits, 'XDAI')).toThrow(RangeError)
	})
})

describe('formatAmount', () => {
	test.each([
		[0n, 18, '0'],
		[1n, 18, '0.000000000000000001'],
		[1500000000000000000n, 18, '1.5'],
		[10n ** 30n, 18, '1000000000000'],
		[123n, 0, '123'],
		[-1500000n, 6, '-1.5'],
	])('%i with %i decimals', (wei, digits, text) => {
		expect(formatAmount(wei, digits)).toBe(text)
	})
})
