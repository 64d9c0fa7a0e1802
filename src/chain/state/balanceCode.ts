/**
 * The balances of many addresses and a mark of the code of each, in one call. The answer has 32 bytes for each address,
 * in the same order: 8 bytes of the hash of the code, then the balance.
 */

import type { Address } from '../../model/glossary.js'
import { eachAddress, overrideCall, PLACES } from './codeOverride.js'

/**
 * (codehash(it) >> 192 << 192) | balance(it). The second access to an account costs 100 gas. EXTCODEHASH does not
 * follow a delegation (EIP-7702): its hash is that of 0xef0100 and the delegate.
 */
const CODE = eachAddress(
	[
		'803560601c', // it = calldataload(i) >> 96
		'803f60c01c60c01b', // codehash(it) >> 192 << 192
		'903117', // balance(it) | that
	].join(''),
)

/** For each address: a cold BALANCE 2,600 (3,000 by EIP-8038), its bytes up to 1,280 (EIP-7976), the loop. */
const GAS_EACH = 5_000n
const GAS_FIXED = 100_000n

/** Parameters of `eth_call`; `block` is a number or an EIP-1898 object. */
export function balanceCall(addresses: readonly Address[], block: unknown): readonly unknown[] {
	const data = addresses.map((address) => address.slice(2)).join('')
	const gas = GAS_FIXED + GAS_EACH * BigInt(addresses.length)
	return overrideCall({ place: PLACES.balances, code: CODE, data, gas }, block)
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
