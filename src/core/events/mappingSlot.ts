import * as Keccak from 'ox/Hash'
import type { Address, Hash } from '../../model/glossary.js'

/** Slot of a key in a mapping of addresses, as Solidity computes it. */
export function mappingSlot(key: Address, mapping: bigint): Hash {
	return Keccak.keccak256(`0x${key.slice(2).padStart(64, '0')}${mapping.toString(16).padStart(64, '0')}`)
}
