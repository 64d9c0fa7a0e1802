/**
 * Marks of code as books keep them: 4 bytes, of the 8 that were asked for. What code is seen with another mark is
 * another, so that nothing is told which is not. Code that is another under the same mark would not be seen: whoever
 * signs a delegation can search for a delegate of a mark that he knows, and 4 bytes are searched in minutes. So the
 * mark hangs on a key of the table that nobody outside of the state knows. By multiply-shift (Dietzfelbinger, Hagerup,
 * Katajainen, Penttonen: A reliable randomized algorithm for the closest-pair problem, 1997) two codes, whoever chose
 * them, have one mark under at most 2 of 2^32 keys.
 */

import { randomBytes } from 'node:crypto'

export const MARK_BYTES = 4
export const KEY_BYTES = 8

const DIGITS = 2 * MARK_BYTES
const SHIFT = BigInt(8 * (KEY_BYTES - MARK_BYTES))

/** Odd, of 64 bits. */
export type MarkKey = bigint

export function freshKey(): MarkKey {
	return randomBytes(KEY_BYTES).readBigUInt64BE() | 1n
}

/** Of 16 hex digits of the hash of code, 8; what is a mark already stays. */
export function markOf(code: string, key: MarkKey): string {
	if (code.length === DIGITS) return code
	const product = BigInt.asUintN(64, key * BigInt(`0x${code}`))
	return (product >> SHIFT).toString(16).padStart(DIGITS, '0')
}
