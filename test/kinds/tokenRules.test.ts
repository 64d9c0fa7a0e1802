// Which tokens a watch is told of: the contract is chosen, and the amount reaches the least of the known token.
import { expect, test } from 'vitest'
import { tokenRefusal } from '../../src/kinds/tokenRules.js'
import type { TokenEvent } from '../../src/model/token.js'
import { address, blockRef, hash } from '../core/build.js'

const contract = address(0x404)
const known = new Map([[contract, { address: contract, symbol: 'USDC', decimals: 6, minAmountRaw: 100n }]])
const moved = (amountRaw: bigint, standard: TokenEvent['standard'] = 'erc20'): TokenEvent => ({
	...{ kind: 'token', standard, contract, from: address(9), to: address(1), amountRaw, tokenId: null },
	...{ operator: null, initiator: address(9), txHash: hash(7), txIndex: 0, trace: 'log_0', block: blockRef(10) },
})

test.each([
	[99n, 'min_amount'],
	[100n, null],
	[101n, null],
] as const)('args: %s of a token with min_amount 100 -> %s', (amountRaw, refusal) => {
	for (const tokens of ['known', 'all', new Set([contract])] as const)
		expect(tokenRefusal({ tokens }, moved(amountRaw), known)).toBe(refusal)
})

test('behavior: an item of an ERC-721 is not measured by min_amount', () => {
	expect(tokenRefusal({}, moved(1n, 'erc721'), known)).toBeNull()
})

test.each([
	['known', 'zero'],
	['all', null],
	['none', 'tokens'],
] as const)('args: a transfer of zero, with tokens: %s -> %s', (tokens, refusal) => {
	const free = new Map([[contract, { address: contract, symbol: 'USDC', decimals: 6, minAmountRaw: null }]])
	expect(tokenRefusal({ tokens }, moved(0n), free)).toBe(refusal)
})
