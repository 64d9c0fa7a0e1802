// A contract that anybody rules: a call writes its storage, logs an event, or both. Each function answers the slot of
// its selector.

import { keccak256 } from 'ox/Hash'
import { fromString } from 'ox/Hex'
import type { Hex } from '../../src/model/glossary.js'
import { assemble } from './assembler.js'
import { word } from './ruledContract.js'

/** Words: number of topics, four topics, bytes of data; then the data, and pairs of slot and value. */
export const scribeCode = assemble(`
	CALLDATASIZE 4 EQ @get JUMPI
	160 CALLDATALOAD 192 ADD
	next: DUP1 CALLDATASIZE GT ISZERO @log JUMPI
	      DUP1 32 ADD CALLDATALOAD DUP2 CALLDATALOAD SSTORE
	      64 ADD @next JUMP
	log:  160 CALLDATALOAD 192 0 CALLDATACOPY
	      0 CALLDATALOAD 1 EQ @one JUMPI
	      0 CALLDATALOAD 2 EQ @two JUMPI
	      0 CALLDATALOAD 3 EQ @three JUMPI
	      0 CALLDATALOAD 4 EQ @four JUMPI STOP
	one:  32 CALLDATALOAD 160 CALLDATALOAD 0 LOG1 STOP
	two:  64 CALLDATALOAD 32 CALLDATALOAD 160 CALLDATALOAD 0 LOG2 STOP
	three: 96 CALLDATALOAD 64 CALLDATALOAD 32 CALLDATALOAD 160 CALLDATALOAD 0 LOG3 STOP
	four: 128 CALLDATALOAD 96 CALLDATALOAD 64 CALLDATALOAD 32 CALLDATALOAD 160 CALLDATALOAD 0 LOG4 STOP
	get:  0 CALLDATALOAD 224 SHR SLOAD 0 MSTORE 32 0 RETURN`)

export type Pair = readonly [slot: Hex | bigint, value: Hex | bigint]

export interface Event {
	readonly event: string
	/** Without the first. */
	readonly topics?: readonly (Hex | bigint)[]
	readonly data?: readonly (Hex | bigint)[]
}

/** Calldata that writes, then logs. */
export function scribing(pairs: readonly Pair[], logged: Event | null = null): Hex {
	const { event = '', topics = [], data = [] } = logged ?? {}
	const all = logged === null ? [] : [keccak256(fromString(event)), ...topics]
	const head = [BigInt(all.length), ...Array.from({ length: 4 }, (_, at) => all[at] ?? 0n), BigInt(32 * data.length)]
	return `0x${[...head, ...data, ...pairs.flat()].map((value) => word(value).slice(2)).join('')}`
}
