/** Numbers as RLP wants them. */

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
