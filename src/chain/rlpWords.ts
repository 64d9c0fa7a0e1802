/** Numbers and lists as RLP wants them. */

import type { Hex } from '../model/glossary.js'

/** The fewest bytes, big end first; none for 0. */
export function shortHex(number: bigint): Hex {
	if (number === 0n) return '0x'
	const digits = number.toString(16)
	return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`
}

export function bytesOf(number: bigint): Uint8Array {
	return Buffer.from(shortHex(number).slice(2), 'hex')
}

/** A list of entries that are encoded already. */
export function listOf(entries: readonly Uint8Array[]): Uint8Array {
	const length = entries.reduce((sum, { length: own }) => sum + own, 0)
	const size = bytesOf(BigInt(length))
	const head = length < 56 ? Uint8Array.of(0xc0 + length) : Buffer.concat([Uint8Array.of(0xf7 + size.length), size])
	return Buffer.concat([head, ...entries])
}
