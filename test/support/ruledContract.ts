// A contract that anybody rules: whoever calls it writes its storage; each function answers the slot of its selector.

import { keccak256 } from 'ox/Hash'
import { fromString } from 'ox/Hex'
import type { Address, Hash, Hex } from '../../src/model/glossary.js'
import { assemble } from './assembler.js'

/** Calldata is pairs of words, slot and value. */
export const ruledCode = assemble(`
	CALLDATASIZE 4 EQ @get JUMPI
	0
	next: DUP1 CALLDATASIZE GT ISZERO @end JUMPI
	      DUP1 32 ADD CALLDATALOAD DUP2 CALLDATALOAD SSTORE
	      64 ADD @next JUMP
	end:  STOP
	get:  0 CALLDATALOAD 224 SHR SLOAD 0 MSTORE 32 0 RETURN`)

export function word(value: bigint | Hex): Hash {
	return `0x${BigInt(value).toString(16).padStart(64, '0')}`
}

export function writing(...pairs: readonly (readonly [slot: bigint | Hex, value: bigint | Hex])[]): Hex {
	return `0x${pairs
		.flat()
		.map((value) => word(value).slice(2))
		.join('')}`
}

/** Where the answer of a function stands. */
export function slotOf(signature: string): Hex {
	return keccak256(fromString(signature)).slice(0, 10) as Hex
}

/** Slot of a key in a mapping, as Solidity computes it. */
export function mapped(key: Address | bigint, mapping: bigint): Hash {
	return keccak256(`0x${word(key).slice(2)}${word(mapping).slice(2)}`)
}

/** The storage of a Safe with these owners, from the first to the last, and modules. */
export function safeStorage(
	owners: readonly Address[],
	{ threshold = 1n, modules = [], singleton }: { threshold?: bigint; modules?: readonly Address[]; singleton: Address },
): readonly (readonly [Hex | bigint, Hex | bigint])[] {
	return [[0n, singleton], ...linked(owners, 2n), ...linked(modules, 1n), [3n, BigInt(owners.length)], [4n, threshold]]
}

export function linked(members: readonly Address[], mapping: bigint): readonly (readonly [Hex, Hex | bigint])[] {
	const ring = [1n, ...members, 1n]
	return ring.slice(1).map((next, at) => [mapped(ring[at] ?? 1n, mapping), next] as const)
}
