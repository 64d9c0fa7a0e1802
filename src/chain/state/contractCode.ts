/** Calls that read many contracts: the hashes of their code, their slots, their getters. */

import * as Keccak from 'ox/Hash'
import * as Text from 'ox/Hex'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import { hexBytes } from '../wire/wire.js'
import { eachAddress, overrideCall, PLACES } from './codeOverride.js'

const place = PLACES.contracts

const HASHES = eachAddress('803560601c3f') // codehash(calldataload(i) >> 96)

/** A cold account costs 2,600 gas, 3,000 with EIP-8038; the bytes of its address up to 1,280 (EIP-7976). */
const GAS_EACH = 4_800n
const GAS_FIXED = 100_000n

/** Addresses in one question. */
export const MOST_HASHES = 2_000

/** The hash of empty code (keccak-256 of nothing), and that of an account that does not exist. */
const NO_CODE: ReadonlySet<string> = new Set([codeHash('0x'), `0x${'0'.repeat(64)}`])
/** What the program sees of its own place, if the node lends it. */
const OWN = codeHash(HASHES)

export function codeHash(code: Hex): Hash {
	return Keccak.keccak256(code)
}

/** Parameters of `eth_call`; `block` is a number or an EIP-1898 object. The last answer proves that code was lent. */
export function hashesCall(addresses: readonly Address[], block: unknown): readonly unknown[] {
	const data = [...addresses, place].map(digits).join('')
	const gas = GAS_FIXED + GAS_EACH * BigInt(addresses.length + 1)
	return overrideCall({ place, code: HASHES, data, gas }, block)
}

/** In the order of the request, null for an address without code; null unless the code was lent. */
export function readHashes(raw: unknown, count: number): readonly (Hash | null)[] | null {
	const bytes = hexBytes(raw, 32 * (count + 1))
	if (bytes === null) return null
	const hashes = wordsIn(bytes)
	return hashes.pop() === OWN ? hashes.map((hash) => (NO_CODE.has(hash) ? null : hash)) : null
}

/**
 * common = calldata[2 .. 2 + calldata[0..2]]; the rest: 20 bytes of address, 2 bytes of length, the slots
 * for each contract: staticcall it with the common slots and its own; it must answer as many bytes
 * return all answers, one after another
 */
const SLOTS: Hex = `0x${[
	'60003560f01c', // common = calldataload(0) >> 240
	'8060020160005b', // i = common + 2, out = 0
	'81361115604c57', // while (calldatasize > i)
	'8260028237', // memory[out ..] = the common slots
	'816014013560f01c', // own = calldataload(i + 20) >> 240
	'8083601601838601378084', // memory[out + common ..] = calldata[i + 22 ..]
	'01', // length = common + own
	'80838181873560601c5afa', // staticcall(gas, calldataload(i) >> 96, out, length, out, length)
	'3d82141615605057', // its success, and returndatasize = length; else revert
	'906016018301925001600c56', // i += 22 + own, out += length
	'5b6000f3', // return(0, out)
	'5b60006000fd',
].join('')}`

/** Lent to each contract: for (i = 0; i < calldatasize; i += 32) memory[i] = sload(calldata[i]); return it */
const READER: Hex = '0x60005b8036111560155780355481526020016002565b6000f3'

/**
 * Lent to each contract: mapping = calldata[0], key = calldata[32]
 * for (i = 0; i < calldatasize; i += 32) memory[64 + i] = key = sload(keccak256(key, mapping)); return memory[64 ..]
 */
export const LINKS: Hex = `0x${[
	'600035602052', // memory[32] = mapping
	'602035600052', // memory[0] = key
	'6000', // i = 0
	'5b80361115602b57', // while (calldatasize > i)
	'604060002054', // sload(keccak256(memory[0 .. 64]))
	'806000528160400152', // memory[0] = memory[64 + i] = it
	'602001600e56', // i += 32
	'5b366040f3',
].join('')}`

/**
 * for each 24 bytes of calldata, address and selector: staticcall with 100,000 gas
 * memory[out] = it succeeded with 32 bytes, memory[out + 32] = its answer
 */
const GETTERS: Hex = `0x${[
	'600060005b', // i = 0, out = 0
	'81361115603f57', // while (calldatasize > i)
	'81601401358152', // memory[out] = the selector
	'60008160200152', // memory[out + 32] = 0
	'602081602001600483853560601c620186a0fa', // staticcall(100000, calldataload(i) >> 96, out, 4, out + 32, 32)
	'60203d14168152', // memory[out] = success and returndatasize = 32
	'6040019060180190600456', // out += 64, i += 24
	'5b6000f3',
].join('')}`

/** A cold slot costs 2,100 gas, 3,000 with EIP-8038; its bytes and the loop the rest. */
const GAS_SLOT = 6_000n
/** A cold account, the call and its bytes. */
const GAS_CONTRACT = 8_000n
/** Gas of one getter and of the call to it. */
const GAS_GETTER = 110_000n
/** Many nodes allow 10 million gas in a call, and all of them answer as much in a second. */
const MOST_GAS = 10_000_000n
export const MOST_GETTERS = Number(MOST_GAS / GAS_GETTER)

export function slotsGas(slots: number): bigint {
	return GAS_CONTRACT + GAS_SLOT * BigInt(slots)
}

/** Whether a question about contracts whose `slotsGas` add up to this fits one call. */
export function fitsOneCall(gas: bigint): boolean {
	return gas <= MOST_GAS
}

export interface SlotsOf {
	readonly address: Address
	readonly slots: readonly Hash[]
}

/** Parameters of `eth_call`. `reader`: lent to each contract; it answers as many words as it is given. */
export function slotsCall(
	common: readonly Hash[],
	contracts: readonly SlotsOf[],
	block: unknown,
	reader = READER,
): readonly unknown[] {
	const parts = [lengthOf(common), ...common.map(digits)]
	const others: Record<Address, { readonly code: Hex }> = {}
	let gas = GAS_FIXED
	for (const { address, slots } of contracts) {
		parts.push(digits(address), lengthOf(slots), ...slots.map(digits))
		others[address] = { code: reader }
		gas += slotsGas(common.length + slots.length)
	}
	return overrideCall({ place, code: SLOTS, data: parts.join(''), gas, others }, block)
}

/** Links of each list, in the order of the request; null unless the answer has exactly these. */
export function readLinks(raw: unknown, lists: number, links: number): readonly (readonly Hash[])[] | null {
	const bytes = hexBytes(raw, 32 * links * lists)
	if (bytes === null) return null
	const words = wordsIn(bytes)
	return Array.from({ length: lists }, (_, at) => words.slice(at * links, (at + 1) * links))
}

/** The words of each contract, the common slots first; null unless the answer has exactly these. No address twice. */
export function readSlots(
	raw: unknown,
	common: readonly Hash[],
	contracts: readonly SlotsOf[],
): ReadonlyMap<Address, ReadonlyMap<Hash, Hash>> | null {
	const count = contracts.reduce((sum, { slots }) => sum + common.length + slots.length, 0)
	const bytes = hexBytes(raw, 32 * count)
	if (bytes === null) return null
	const words = wordsIn(bytes).values()
	return new Map(
		contracts.map(({ address, slots }) => [
			address,
			new Map([...common, ...slots].map((slot) => [slot, words.next().value as Hash])),
		]),
	)
}

export interface Getter {
	readonly address: Address
	/** 4 bytes. */
	readonly selector: Hex
}

export function gettersCall(getters: readonly Getter[], block: unknown): readonly unknown[] {
	const data = getters.map(({ address, selector }) => digits(address) + digits(selector)).join('')
	const gas = GAS_FIXED + GAS_GETTER * BigInt(getters.length)
	return overrideCall({ place, code: GETTERS, data, gas }, block)
}

/** In the order of the request, null for a call that failed or answered otherwise than one word. */
export function readGetters(raw: unknown, count: number): readonly (Hash | null)[] | null {
	const bytes = hexBytes(raw, 64 * count)
	if (bytes === null) return null
	const words = wordsIn(bytes)
	return Array.from({ length: count }, (_, at) =>
		BigInt(words[2 * at] ?? 0) === 1n ? (words[2 * at + 1] ?? null) : null,
	)
}

export function selectorOf(signature: string): Hex {
	return Keccak.keccak256(Text.fromString(signature)).slice(0, 10) as Hex
}

function digits(hex: Hex): string {
	return hex.slice(2)
}

/** In bytes, of two bytes. */
function lengthOf(slots: readonly Hash[]): string {
	return (32 * slots.length).toString(16).padStart(4, '0')
}

function wordsIn(bytes: Hex): Hash[] {
	return Array.from({ length: (bytes.length - 2) / 64 }, (_, at): Hash => `0x${bytes.slice(2 + 64 * at, 66 + 64 * at)}`)
}
