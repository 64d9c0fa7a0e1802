import { expect, test } from 'vitest'
import { imitatedToken } from '../../src/kinds/tokenImitation.js'
import type { Address } from '../../src/model/glossary.js'
import type { KnownToken } from '../../src/model/token.js'

const usdc = `0x${'a1'.repeat(20)}` as Address
const tokenOf = (address: Address, symbol: string): [Address, KnownToken] => [
	address,
	{ address, symbol, decimals: 6, minAmountRaw: null },
]
const known = new Map([
	tokenOf(usdc, 'USDC'),
	tokenOf(`0x${'b2'.repeat(20)}`, 'stETH'),
	tokenOf(`0x${'c3'.repeat(20)}`, 'WETH'),
	tokenOf(`0x${'d4'.repeat(20)}`, 'GFVQ'),
])

// As the program keeps what contracts call themselves: letters beyond ASCII by their numbers.
test.each([
	['USDC', 'USDC'],
	['usdc', 'USDC'],
	[' U.S.D.C ', 'USDC'],
	['USD\\u{421}', 'USDC'],
	['U\\u{405}DC', 'USDC'],
	['\\u{ff35}SDC', 'USDC'],
	['\\u{54d}SDC', 'USDC'],
	['\\u{a4f4}\\u{a4e2}\\u{a4d3}\\u{a4da}', 'USDC'],
	['\\u{1d1c}\\u{a731}\\u{1d05}\\u{1d04}', 'USDC'],
	['S\\u{13a2}\\u{13ac}\\u{13a2}\\u{13bb}', 'stETH'],
	['\\u{1d414}\\u{1d412}\\u{1d403}\\u{1d402}', 'USDC'],
	['US\\u{110}C', 'USDC'],
	['\\u{51c}ETH', 'WETH'],
	['\\u{50c}\\u{3dc}\\u{474}\\u{51a}', 'GFVQ'],
	['\\u{262}\\u{a730}\\u{1d20}\\u{a7af}', 'GFVQ'],
	['$USDC', null],
	['USDC.e', null],
	['USDT', null],
	['STETH', 'stETH'],
	['ETH', 'ETH'],
	['\\u{395}TH', 'ETH'],
	['\\u{110000}', null],
	['\\u{4f60}', null],
	['', null],
	[null, null],
])('default: %j is called like %j', (symbol, like) => {
	expect(imitatedToken(symbol, known, 'ETH')?.symbol ?? null).toBe(like)
})

test('default: the contract that is meant is named, and the coin has none', () => {
	expect(imitatedToken('usdc', known, 'ETH')?.of?.address).toBe(usdc)
	expect(imitatedToken('eth', known, 'ETH')?.of).toBeNull()
})
