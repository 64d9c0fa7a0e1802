/**
 * A book in bytes: some dozen, beside the 20 of its address. Many share the block that theirs is counted from
 * and the key of their marks (`codeMark.ts`), which stand before them.
 *
 * head (whether something moved, whether its code is known, whether it has code; bytes of its balance), block less the
 * base in base 128, balance, what moved (its length with a sign, its bytes), the mark of its code.
 */

import type { Book } from '../model/books.js'
import type { Address } from '../model/glossary.js'
import { KEY_BYTES, MARK_BYTES, type MarkKey, markOf } from './codeMark.js'

const [MOVED, KNOWN, CODE, LENGTH] = [0x80, 0x40, 0x20, 0x1f]
/** So many bytes or more stand after a byte of their own. */
const MUCH = LENGTH
/** Of a sum that is negative. */
const NEGATIVE = 0x80
/** Head, block, balance, what moved, mark. */
export const MOST_BYTES = 1 + 8 + 33 + 33 + MARK_BYTES
export const ADDRESS_BYTES = 20
/** The block that books are counted from: a number of 8 bytes. */
export const BASE_BYTES = 8
/** Before the books of a run. */
export const RUN_HEAD_BYTES = BASE_BYTES + KEY_BYTES

/** Where the parts of a book stand, as it was found by `skim`. */
export interface Skimmed {
	head: number
	/** Less the base. */
	block: number
	/** From behind the block to its end. */
	from: number
	to: number
}

/**
 * Finds the parts of a book without making one; `into` is written. Its end may be beyond that of the bytes.
 * `markBytes`: others in earlier versions.
 */
export function skim(bytes: Uint8Array, at: number, into: Skimmed, markBytes = MARK_BYTES): void {
	const head = bytes[at] ?? 0
	let next = at + 1
	let block = 0
	for (let scale = 1; ; scale *= 128) {
		const digit = bytes[next++] ?? 0
		block += (digit % 128) * scale
		if (digit < 128) break
	}
	into.head = head
	into.block = block
	into.from = next
	const short = head & LENGTH
	next += short < MUCH ? short : 1 + (bytes[next] ?? 0)
	if ((head & MOVED) !== 0) next += 1 + ((bytes[next] ?? 0) % NEGATIVE)
	if ((head & CODE) !== 0) next += markBytes
	into.to = next
}

export function isMoved(head: number): boolean {
	return (head & MOVED) !== 0
}

/** Its block is left to others. */
export function bookAt(bytes: Buffer, { head, from, to }: Skimmed, block: bigint, markBytes = MARK_BYTES): Book {
	let at = from
	const take = (length: number) => {
		at += length
		if (at > to || to > bytes.length) throw new RangeError('books are not whole')
		return bytes.toString('hex', at - length, at)
	}
	const short = head & LENGTH
	const balanceWei = weiOf(take(short < MUCH ? short : bytes.readUInt8(at++)))
	let movedWei = 0n
	if ((head & MOVED) !== 0) {
		const length = bytes.readUInt8(at++)
		movedWei = weiOf(take(length % NEGATIVE)) * (length < NEGATIVE ? 1n : -1n)
	}
	const code = (head & CODE) === 0 ? null : take(markBytes)
	return { block, balanceWei, movedWei, ...((head & KNOWN) !== 0 && { code }) }
}

/**
 * Writes a book with its block, less the base; gives its end. `key`: null writes marks whole, as earlier versions did.
 */
export function writeBook(
	bytes: Buffer,
	at: number,
	{ balanceWei, movedWei, code }: Book,
	block: number,
	key: MarkKey | null,
): number {
	const balance = hexOf(balanceWei)
	const length = balance.length / 2
	const flags = (movedWei === 0n ? 0 : MOVED) | (code === undefined ? 0 : KNOWN) | (code == null ? 0 : CODE)
	let next = writeHead(bytes, at, flags | Math.min(length, MUCH), block)
	if (length >= MUCH) next = bytes.writeUInt8(length, next)
	next += bytes.write(balance, next, 'hex')
	if (movedWei !== 0n) {
		const moved = hexOf(movedWei < 0n ? -movedWei : movedWei)
		next = bytes.writeUInt8(moved.length / 2 + (movedWei < 0n ? NEGATIVE : 0), next)
		next += bytes.write(moved, next, 'hex')
	}
	return code == null ? next : next + bytes.write(key === null ? code : markOf(code, key), next, 'hex')
}

export function writeHead(bytes: Uint8Array, at: number, head: number, block: number): number {
	let next = at
	bytes[next++] = head
	for (let left = block; ; left = Math.floor(left / 128)) {
		bytes[next++] = (left % 128) + (left < 128 ? 0 : 128)
		if (left < 128) return next
	}
}

/** Bytes of a head and its block. */
export function headLength(block: number): number {
	let length = 2
	for (let left = block; left >= 128; left = Math.floor(left / 128)) length++
	return length
}

/** The block that all of them are counted from, the key of their marks, then each address with its book. */
export function packBooks(books: ReadonlyMap<Address, Book>, key: MarkKey): Buffer {
	let base: bigint | null = null
	for (const { block } of books.values()) if (base === null || block < base) base = block
	const bytes = Buffer.allocUnsafe(RUN_HEAD_BYTES + books.size * (ADDRESS_BYTES + MOST_BYTES))
	let at = writeRunHead(bytes, Number(base ?? 0n), key)
	for (const [address, book] of books) {
		at += bytes.write(address.slice(2), at, 'hex')
		at = writeBook(bytes, at, book, Number(book.block - (base ?? 0n)), key)
	}
	return Buffer.from(bytes.subarray(0, at))
}

/** Gives its end. */
export function writeRunHead(bytes: Buffer, base: number, key: MarkKey): number {
	return bytes.writeBigUInt64BE(key, bytes.writeDoubleBE(base, 0))
}

/** The key of the marks of a run. Throws RangeError. */
export function keyOf(bytes: Buffer): MarkKey {
	return bytes.readBigUInt64BE(BASE_BYTES)
}

/** Throws RangeError for what was not made so. */
export function unpackBooks(bytes: Buffer): ReadonlyMap<Address, Book> {
	const books = new Map<Address, Book>()
	eachPacked(bytes, (at, found, block) => {
		const address: Address = `0x${bytes.toString('hex', at, at + ADDRESS_BYTES)}`
		books.set(address, bookAt(bytes, found, BigInt(block)))
	})
	return books
}

/**
 * Where each address stands, with the parts of its book, which are written anew for the next, and its block. Throws
 * RangeError for what `packBooks` did not make.
 */
export function eachPacked(bytes: Buffer, act: (at: number, found: Skimmed, block: number) => void): void {
	const found: Skimmed = { head: 0, block: 0, from: 0, to: 0 }
	const base = bytes.readDoubleBE(0)
	for (let at = RUN_HEAD_BYTES; at < bytes.length; at = found.to) {
		skim(bytes, at + ADDRESS_BYTES, found)
		if (found.to > bytes.length) throw new RangeError('books are not whole')
		act(at, found, base + found.block)
	}
}

/** Whole bytes; none for 0. */
function hexOf(wei: bigint): string {
	if (wei === 0n) return ''
	const digits = wei.toString(16)
	return digits.length % 2 === 0 ? digits : `0${digits}`
}

function weiOf(hex: string): bigint {
	return hex === '' ? 0n : BigInt(`0x${hex}`)
}
