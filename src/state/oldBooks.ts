/**
 * Runs of books as they were written up to November 2026: marks of code of 8 bytes, and no key before them. What is
 * here never changes any more.
 */

import type { Book } from '../model/books.js'
import type { Address } from '../model/glossary.js'
import {
	ADDRESS_BYTES,
	BASE_BYTES,
	bookAt,
	MOST_BYTES,
	packBooks,
	type Skimmed,
	skim,
	writeBook,
} from './bookFormat.js'
import type { MarkKey } from './codeMark.js'

const MARK_BYTES = 8

/** Marks are of 16 digits. Throws RangeError for what was not made so. */
export function unpackOldBooks(bytes: Buffer): Map<Address, Book> {
	const books = new Map<Address, Book>()
	const found: Skimmed = { head: 0, block: 0, from: 0, to: 0 }
	const base = bytes.readDoubleBE(0)
	for (let at = BASE_BYTES; at < bytes.length; at = found.to) {
		skim(bytes, at + ADDRESS_BYTES, found, MARK_BYTES)
		const address: Address = `0x${bytes.toString('hex', at, at + ADDRESS_BYTES)}`
		books.set(address, bookAt(bytes, found, BigInt(base + found.block), MARK_BYTES))
	}
	return books
}

/** Marks are of 16 digits. */
export function packOldBooks(books: ReadonlyMap<Address, Book>): Buffer {
	let base: bigint | null = null
	for (const { block } of books.values()) if (base === null || block < base) base = block
	const bytes = Buffer.allocUnsafe(BASE_BYTES + books.size * (ADDRESS_BYTES + MOST_BYTES + MARK_BYTES))
	let at = bytes.writeDoubleBE(Number(base ?? 0n), 0)
	for (const [address, book] of books) {
		at += bytes.write(address.slice(2), at, 'hex')
		at = writeBook(bytes, at, book, Number(book.block - (base ?? 0n)), null)
	}
	return Buffer.from(bytes.subarray(0, at))
}

/** The same books as they are packed now. */
export function renewedBooks(bytes: Buffer, key: MarkKey): Buffer {
	return packBooks(unpackOldBooks(bytes), key)
}
