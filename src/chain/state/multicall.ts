/**
 * Balances of many addresses in one `eth_call` without a state override: Multicall3 has the same address on most chains
 * (mds1/multicall) and calls itself for each. It gives no code. Its `aggregate(Call[])` takes pairs of a target and
 * call data, and returns the block's number (on Arbitrum that of another chain) and what each call returned.
 */
import type { Address, Hex } from '../../model/glossary.js'
import { hexOf } from '../wire/wire.js'
import type { AccountState } from './balanceCode.js'

const MULTICALL3: Address = '0xca11bde05977b3631167028862be2a173976ca11'
/** The first bytes of keccak-256 of `aggregate((address,bytes)[])` and of `getEthBalance(address)`. */
const AGGREGATE = '252dba42'
const GET_BALANCE = '4d2301cc'

/** For each: its 192 bytes up to 12,300 (EIP-7976), a cold BALANCE 2,600 to 3,000, the call and copying 2,000. */
const GAS_EACH = 20_000n
const GAS_FIXED = 200_000n

/** Parameters of `eth_call`; `block` is a number or an EIP-1898 object. */
export function multicallCall(addresses: readonly Address[], block: unknown): readonly unknown[] {
	const target = MULTICALL3.slice(2).padStart(64, '0')
	// Each call is its target, the place of its data, and the length of its data: 36 bytes, which take two words.
	const calls = addresses.map((address) => {
		const data = `${GET_BALANCE}${address.slice(2).padStart(64, '0')}`.padEnd(128, '0')
		return `${target}${word(64)}${word(36)}${data}`
	})
	const begins = addresses.map((_, index) => word(32 * addresses.length + 160 * index))
	const data: Hex = `0x${AGGREGATE}${word(32)}${word(addresses.length)}${begins.join('')}${calls.join('')}`
	const gas = hexOf(GAS_FIXED + GAS_EACH * BigInt(addresses.length))
	return [{ to: MULTICALL3, data, gas }, block]
}

/** In the order of the request; null unless the answer has exactly the words expected, each where it must be. */
export function readMulticall(raw: unknown, count: number): readonly AccountState[] | null {
	if (typeof raw !== 'string' || !/^0x[0-9a-f]*$/i.test(raw)) return null
	const words = 3 + 3 * count
	if (raw.length !== 2 + 64 * words) return null
	const wordAt = (index: number) => BigInt(`0x${raw.slice(2 + 64 * index, 66 + 64 * index)}`)
	// The block's number, the place of the list, and its length.
	if (wordAt(1) !== 64n || wordAt(2) !== BigInt(count)) return null
	const states: AccountState[] = []
	for (let index = 0; index < count; index++) {
		const begin = 32 * count + 64 * index
		if (wordAt(3 + index) !== BigInt(begin)) return null
		const at = 3 + begin / 32
		if (wordAt(at) !== 32n) return null
		states.push({ wei: wordAt(at + 1) })
	}
	return states
}

function word(number: number): string {
	return number.toString(16).padStart(64, '0')
}
