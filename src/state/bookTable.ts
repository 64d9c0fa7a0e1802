/**
 * Books, packed: some 30 bytes each and the place to find it by, instead of 200. They stand in pieces of a few, and a
 * change makes those pieces anew that it touches; the others are shared with the table before.
 */

import { randomBytes } from 'node:crypto'
import { type AddressTable, createAddressTable } from '../core/addressTable.js'
import type { Book, BookSet } from '../model/books.js'
import type { Address } from '../model/glossary.js'

export interface BookTable extends BookSet {
	after(changes: ReadonlyMap<Address, Book | null>): BookTable
	/** The books of a few addresses each, as `unpackBooks` reads them. */
	pieces(): Iterable<Uint8Array>
}

interface Piece {
	readonly bytes: Buffer
	readonly size: number
	/** Of the blocks that its books are closed at. */
	readonly lowest: bigint
	/** How many hold what moved and is not proved yet. */
	readonly waiting: number
}

const PIECE_BITS = 6

export function bookTableOf(books: ReadonlyMap<Address, Book>): BookTable {
	if ('pieces' in books) return books as BookTable
	return tableOf(createAddressTable(randomBytes(4).readUInt32LE()), []).after(books)
}

/** `places` only grows, and may be ahead of the pieces: tables share it. */
function tableOf(places: AddressTable, pieces: readonly (Piece | undefined)[]): BookTable {
	const size = pieces.reduce((sum, piece) => sum + (piece?.size ?? 0), 0)
	let last: { readonly piece: Piece; readonly books: ReadonlyMap<Address, Book> } | null = null

	function booksIn(piece: Piece | undefined): ReadonlyMap<Address, Book> {
		if (piece === undefined) return none
		if (last?.piece !== piece) last = { piece, books: unpackBooks(piece.bytes) }
		return last.books
	}

	function bookOf(address: Address): Book | undefined {
		const place = places.indexOf(address)
		return place === -1 ? undefined : booksIn(pieces[place >> PIECE_BITS]).get(address)
	}

	function* entries(): MapIterator<[Address, Book]> {
		for (const piece of pieces) if (piece !== undefined) yield* unpackBooks(piece.bytes)
		return undefined
	}

	const table: BookTable = {
		size,
		has: (address) => bookOf(address) !== undefined,
		get: bookOf,
		after(changes) {
			if (changes.size === 0) return table
			const touched = new Map<number, Map<Address, Book>>()
			for (const [address, book] of changes) {
				const known = places.indexOf(address)
				if (known === -1 && book === null) continue
				const at = (known === -1 ? places.add(address) : known) >> PIECE_BITS
				let books = touched.get(at)
				if (books === undefined) {
					books = new Map(booksIn(pieces[at]))
					touched.set(at, books)
				}
				if (book === null) books.delete(address)
				else books.set(address, book)
			}
			const next = [...pieces]
			for (const [at, books] of touched) {
				while (next.length < at) next.push(undefined)
				next[at] = books.size === 0 ? undefined : pieceOf(books)
			}
			return tableOf(places, next)
		},
		facts(most) {
			let lowest: bigint | null = null
			let waiting = 0
			const some: Address[] = []
			for (const piece of pieces) {
				if (piece === undefined) continue
				if (lowest === null || piece.lowest < lowest) lowest = piece.lowest
				waiting += piece.waiting
				if (piece.waiting === 0 || some.length >= most) continue
				for (const [address, { movedWei }] of booksIn(piece)) if (movedWei !== 0n) some.push(address)
			}
			return { lowest, waiting, some: some.slice(0, most) }
		},
		*pieces() {
			for (const piece of pieces) if (piece !== undefined) yield piece.bytes
		},
		*keys(): MapIterator<Address> {
			for (const [address] of entries()) yield address
			return undefined
		},
		*values(): MapIterator<Book> {
			for (const [, book] of entries()) yield book
			return undefined
		},
		entries,
		forEach(act) {
			for (const [address, book] of entries()) act(book, address, table as unknown as Map<Address, Book>)
		},
		[Symbol.iterator]: entries,
	}
	return table
}

const none: ReadonlyMap<Address, Book> = new Map()

function pieceOf(books: ReadonlyMap<Address, Book>): Piece {
	let lowest: bigint | null = null
	let waiting = 0
	for (const { block, movedWei } of books.values()) {
		if (lowest === null || block < lowest) lowest = block
		if (movedWei !== 0n) waiting++
	}
	return { bytes: packBooks(books, lowest ?? 0n), size: books.size, lowest: lowest ?? 0n, waiting }
}

/** Of a book: whether something moved, whether its code is known, whether it has code; and bytes of its balance. */
const [MOVED, KNOWN, CODE, LENGTH] = [0x80, 0x40, 0x20, 0x1f]
/** So many bytes or more stand after a byte of their own. */
const MUCH = LENGTH
/** Of a sum that is negative. */
const NEGATIVE = 0x80
const MARK_BYTES = 8
/** Address, head, block, balance, what moved, mark. */
const MOST_EACH = 20 + 1 + 8 + 33 + 33 + MARK_BYTES

/** The block that all of them are counted from, then each book. */
function packBooks(books: ReadonlyMap<Address, Book>, base: bigint): Buffer {
	const bytes = Buffer.allocUnsafe(8 + books.size * MOST_EACH)
	let at = bytes.writeDoubleBE(Number(base), 0)
	for (const [address, { block, balanceWei, movedWei, code }] of books) {
		const balance = hexOf(balanceWei)
		const length = balance.length / 2
		at += bytes.write(address.slice(2), at, 'hex')
		const flags = (movedWei === 0n ? 0 : MOVED) | (code === undefined ? 0 : KNOWN) | (code == null ? 0 : CODE)
		at = bytes.writeUInt8(flags | Math.min(length, MUCH), at)
		for (let left = Number(block - base); ; left = Math.floor(left / 128)) {
			at = bytes.writeUInt8((left % 128) + (left < 128 ? 0 : 128), at)
			if (left < 128) break
		}
		if (length >= MUCH) at = bytes.writeUInt8(length, at)
		at += bytes.write(balance, at, 'hex')
		if (movedWei !== 0n) {
			const moved = hexOf(movedWei < 0n ? -movedWei : movedWei)
			at = bytes.writeUInt8(moved.length / 2 + (movedWei < 0n ? NEGATIVE : 0), at)
			at += bytes.write(moved, at, 'hex')
		}
		if (code != null) at += bytes.write(code, at, MARK_BYTES, 'hex')
	}
	return Buffer.from(bytes.subarray(0, at))
}

/** Throws RangeError for what `pieces` did not make. */
export function unpackBooks(bytes: Buffer): ReadonlyMap<Address, Book> {
	const books = new Map<Address, Book>()
	const base = BigInt(bytes.readDoubleBE(0))
	let at = 8
	const take = (length: number) => {
		at += length
		if (at > bytes.length) throw new RangeError('books are not whole')
		return bytes.toString('hex', at - length, at)
	}
	while (at < bytes.length) {
		const address: Address = `0x${take(20)}`
		const head = bytes.readUInt8(at++)
		let block = 0
		for (let scale = 1; ; scale *= 128) {
			const digit = bytes.readUInt8(at++)
			block += (digit % 128) * scale
			if (digit < 128) break
		}
		const short = head & LENGTH
		const balanceWei = weiOf(take(short < MUCH ? short : bytes.readUInt8(at++)))
		let movedWei = 0n
		if ((head & MOVED) !== 0) {
			const length = bytes.readUInt8(at++)
			movedWei = weiOf(take(length % NEGATIVE)) * (length < NEGATIVE ? 1n : -1n)
		}
		const code = (head & CODE) === 0 ? null : take(MARK_BYTES)
		books.set(address, { block: base + BigInt(block), balanceWei, movedWei, ...((head & KNOWN) !== 0 && { code }) })
	}
	return books
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
