/**
 * A program for the EVM that returns the balances of many addresses and a mark of the code of each. The call data has
 * 20 bytes for each address; the answer has 32 bytes for each, in the same order: 8 bytes of the hash of the code, then
 * the balance. It is not deployed: nodes run it at an address of its own by the state override of `eth_call`.
 */
import type { Address, Hex } from '../../model/glossary.js'
import { hexOf } from '../wire/wire.js'

/** An arbitrary address: it has the code for one call only. */
const PLACE: Address = '0x00000000000000000000000000747261636577a7'

/**
 * for (i = 0; i < calldatasize; i += 20)
 *   memory[i * 8 / 5] = (codehash(calldata[i] >> 96) >> 192 << 192) | balance(calldata[i] >> 96)
 * return memory[0 .. i * 8 / 5]
 *
 * The loop begins at 2 and ends at 41. There is no PUSH0, so that it runs before Shanghai too. The second access to an
 * account costs 100 gas. EXTCODEHASH does not follow a delegation (EIP-7702): its hash is that of 0xef0100 and the
 * delegate.
 */
const CODE: Hex = `0x${[
	'6000', // i = 0
	'5b80361115602957', // while (calldatasize > i)
	'803560601c', // calldataload(i) >> 96
	'803f60c01c60c01b', // codehash(it) >> 192 << 192
	'903117', // balance(it) | that
	'816008026005900452', // mstore(i * 8 / 5, it)
	'601401600256', // i += 20
	'5b600802600590046000f3', // return(0, i * 8 / 5)
].join('')}`

/**
 * Gas for each address: a cold BALANCE is 2,600, 3,000 with EIP-8038; its bytes cost up to 1,280 (EIP-7976); the rest
 * is the loop. It is stated, because nodes without it take their own maximum, which some networks refuse
 * (go-ethereum#32625).
 */
const GAS_EACH = 5_000n
const GAS_FIXED = 100_000n

/** Parameters of `eth_call`; `block` is a number or an EIP-1898 object. */
export function balanceCall(addresses: readonly Address[], block: unknown): readonly unknown[] {
	const data: Hex = `0x${addresses.map((address) => address.slice(2)).join('')}`
	const gas = hexOf(GAS_FIXED + GAS_EACH * BigInt(addresses.length))
	return [{ to: PLACE, data, gas }, block, { [PLACE]: { code: CODE } }]
}

export interface AccountState {
	readonly wei: bigint
	/** 16 hex digits of the hash of its code; null: it has none. Absent: not asked. */
	readonly code?: string | null
}

const BALANCE_BITS = 192n
/** The hash of empty code (keccak-256 of nothing), and that of an account that does not exist. */
const NO_CODE = new Set(['c5d2460186f7233c', '0'.repeat(16)])

/** In the order of the request; null unless the answer has exactly the expected length. */
export function readStates(raw: unknown, count: number): readonly AccountState[] | null {
	if (typeof raw !== 'string' || raw.length !== 2 + 64 * count || !/^0x[0-9a-f]*$/i.test(raw)) return null
	return Array.from({ length: count }, (_, index) => {
		const word = raw.slice(2 + 64 * index, 66 + 64 * index).toLowerCase()
		const mark = word.slice(0, 16)
		return { wei: BigInt.asUintN(Number(BALANCE_BITS), BigInt(`0x${word}`)), code: NO_CODE.has(mark) ? null : mark }
	})
}
