/**
 * A program for the EVM that answers with the balances of many addresses: the question carries the addresses, 20 bytes
 * each, and the answer 32 bytes for each of them, in the same order. It stands nowhere on chain: nodes run it at an
 * address of its own by the state override of `eth_call`.
 */
import type { Address, Hex } from '../../model/glossary.js'
import { hexOf } from '../wire.js'

/** Anywhere: the code is lent to it for one call. */
const PLACE: Address = '0x00000000000000000000000000747261636577a7'

/**
 * for (i = 0; i < calldatasize; i += 20) memory[i * 8 / 5] = balance(calldata[i] >> 96)
 * return memory[0 .. i * 8 / 5]
 *
 * The loop begins at 2 and ends at 31. No PUSH0, so that it runs before Shanghai too.
 */
const CODE: Hex = `0x${[
	'6000', // i = 0
	'5b80361115601f57', // while (calldatasize > i)
	'803560601c31', // balance(calldataload(i) >> 96)
	'816008026005900452', // mstore(i * 8 / 5, it)
	'601401600256', // i += 20
	'5b600802600590046000f3', // return(0, i * 8 / 5)
].join('')}`

/**
 * Gas for each address: a cold BALANCE is 2,600, 3,000 with EIP-8038; its bytes cost up to 1,280 (EIP-7976); the rest
 * is the loop. Stated, because nodes without it take their own maximum, which some networks refuse (go-ethereum#32625).
 */
const GAS_EACH = 5_000n
const GAS_FIXED = 100_000n

/** Addresses in one question: 10 million gas, below every limit known; 80 kB of question. */
export const MOST_ADDRESSES = 2_000

/** Parameters of `eth_call`; `block` is a number or an EIP-1898 object. */
export function balanceCall(addresses: readonly Address[], block: unknown): readonly unknown[] {
	const data: Hex = `0x${addresses.map((address) => address.slice(2)).join('')}`
	const gas = hexOf(GAS_FIXED + GAS_EACH * BigInt(addresses.length))
	return [{ to: PLACE, data, gas }, block, { [PLACE]: { code: CODE } }]
}

/** The balances, in the order of the question; null for anything that is not exactly as long as it must be. */
export function readBalances(raw: unknown, count: number): readonly bigint[] | null {
	if (typeof raw !== 'string' || raw.length !== 2 + 64 * count || !/^0x[0-9a-f]*$/i.test(raw)) return null
	return Array.from({ length: count }, (_, index) => BigInt(`0x${raw.slice(2 + 64 * index, 66 + 64 * index)}`))
}
