/**
 * Programs for the EVM that read many accounts in one call. They are not deployed: nodes run them at an address of
 * their own by the state override of `eth_call`. There is no PUSH0, so that they run before Shanghai too.
 */

import type { Address, Hex } from '../../model/glossary.js'
import { hexOf } from '../wire/wire.js'

/** Arbitrary addresses with one ending for each purpose: they have the code for one call only. */
export const PLACES = {
	balances: '0x00000000000000000000000000747261636577a7',
	contracts: '0x00000000000000000000000000747261636577a8',
} as const satisfies Record<string, Address>

export interface OverrideCall {
	readonly place: Address
	readonly code: Hex
	/** Digits of the call data. */
	readonly data: string
	/** It is stated, because nodes without it take their own maximum, which some networks refuse (go-ethereum#32625). */
	readonly gas: bigint
	/** Code of other addresses during the call. */
	readonly others?: Readonly<Record<Address, { readonly code: Hex }>>
}

/** Parameters of `eth_call`; `block` is a number or an EIP-1898 object. */
export function overrideCall(
	{ place, code, data, gas, others = {} }: OverrideCall,
	block: unknown,
): readonly unknown[] {
	return [{ to: place, data: `0x${data}`, gas: hexOf(gas) }, block, { ...others, [place]: { code } }]
}

/**
 * A program that replaces the 20 bytes of each address by a word, in the same order:
 *
 * for (i = 0; i < calldatasize; i += 20) memory[i * 8 / 5] = word(calldata[i] >> 96)
 * return memory[0 .. i * 8 / 5]
 *
 * `word`: code that finds `i` on the stack and leaves the word above it.
 */
export function eachAddress(word: string): Hex {
	const loop = 2
	const end = loop + 23 + word.length / 2
	return `0x${[
		'6000', // i = 0
		`5b8036111560${hexByte(end)}57`, // while (calldatasize > i)
		word,
		'816008026005900452', // mstore(i * 8 / 5, it)
		`60140160${hexByte(loop)}56`, // i += 20
		'5b600802600590046000f3', // return(0, i * 8 / 5)
	].join('')}`
}

function hexByte(value: number): string {
	return value.toString(16).padStart(2, '0')
}
