/** Numbers and lists in the form of RLP. */

import type { Hex } from '../../model/glossary.js'

/** The fewest bytes, big-endian; none for 0. */
export function shortHex(number: bigint): Hex {
	if (number === 0n) return '0x'
	const digits = number.toString(16)
	return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`
}

export function bytesOf(number: bigint): Uint8Array {
	return Buffer.from(shortHex(number).slice(2), 'hex')
}

/** Bytes of any length, as fast as copying: an attacker can log megabytes. */
export function itemOf(hex: Hex): Uint8Array {
	const bytes = Buffer.from(hex.slice(2), 'hex')
	if (bytes.length === 1 && (bytes[0] ?? 0) < 0x80) return bytes
	return Buffer.concat([headOf(bytes.length, 0x80), bytes])
}

/** A list of entries that are encoded already. */
export function rlpList(entries: readonly Uint8Array[]): Uint8Array {
	const length = entries.reduce((sum, { length: own }) => sum + own, 0)
	return Buffer.concat([headOf(length, 0xc0), ...entries])
}

/** `base`: 0x80 for bytes, 0xc0 for lists. */
function headOf(length: number, base: number): Uint8Array {
	if (length < 56) return Uint8Array.of(base + length)
	const size = bytesOf(BigInt(length))
	return Buffer.concat([Uint8Array.of(base + 55 + size.length), size])
}
