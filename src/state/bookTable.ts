/**
 * Books, packed: some dozen bytes each and the place to find it by, instead of 200. They stand in pieces of many, and a
 * change makes those pieces anew that it touches; the others are shared with the table before.
 */

import { randomBytes } from 'node:crypto'
import { type AddressTable, createAddressTable } from '../core/addressTable.js'
import { finish, type Steps, stepItems } from '../core/steps.js'
import type { Book, BookSet } from '../model/books.js'
import type { Address } from '../model/glossary.js'
import { ADDRESS_BYTES, bookAt, eachPacked, keyOf, RUN_HEAD_BYTES, skim } from './bookFormat.js'
import { type BookPiece, blankEntries, fillEntries, PIECE_BITS, packedPlaces, pieceOf, putBook } from './bookPiece.js'
import { freshKey, type MarkKey, markOf } from './codeMark.js'

export interface BookTable extends BookSet {
	/** Of the marks of code; whatever is packed beside it has it too. */
	readonly key: MarkKey
	markOf(code: string): string
	after(changes: ReadonlyMap<Address, Book | null>): BookTable
	afterSteps(changes: ReadonlyMap<Address, Book | null>): Steps<BookTable>
	/** The books of some addresses each, as `unpackBooks` reads them. */
	pieces(): Iterable<Uint8Array>
	/** Where an address stands, from 0 on, in the order in which they came; -1: it never had a book. */
	placeOf(address: Address): number
	/** The books from a place to before another, as `unpackBooks` reads them; null: there are none. */
	packed(from: number, to: number): Buffer | null
}

const SLOT_MASK = (1 << PIECE_BITS) - 1

export function bookTableOf(books: ReadonlyMap<Address, Book>): BookTable {
	if ('pieces' in books) return books as BookTable
	return tableOf(freshPlaces(), [], freshKey()).after(books)
}

function freshPlaces(): AddressTable {
	return createAddressTable(randomBytes(4).readUInt32LE())
}

/** A table made of what `packBooks` made, in order: what comes later counts, and nobody else has it before `done`. */
export interface BookGatherer {
	/** Throws RangeError for what is not whole, or has marks of another key. */
	add(packed: Buffer): void
	/** 20 bytes each. */
	remove(addresses: Buffer): void
	/** How many places are taken. */
	size(): number
	done(): BookTable
}

/** `expected`: about so many. */
export function createBookGatherer(expected = 0): BookGatherer {
	const places = freshPlaces()
	places.reserve(expected)
	const pieces: (BookPiece | undefined)[] = []
	let at = -1
	const entries = blankEntries()
	let key: MarkKey | null = null

	function turnTo(piece: number): void {
		if (piece === at) return
		if (at !== -1) pieces[at] = pieceOf(entries)
		while (pieces.length < piece) pieces.push(undefined)
		at = piece
		fillEntries(entries, pieces[piece])
	}

	return {
		add(packed) {
			if (packed.length === RUN_HEAD_BYTES) return
			key ??= keyOf(packed)
			if (keyOf(packed) !== key) throw new RangeError('marks of two keys')
			eachPacked(packed, (address, found, block) => {
				const place = places.addBytes(packed, address)
				turnTo(place >> PIECE_BITS)
				entries.put(place & SLOT_MASK, found.head, block, packed, found.from, found.to)
			})
		},
		remove(addresses) {
			for (let address = 0; address + ADDRESS_BYTES <= addresses.length; address += ADDRESS_BYTES) {
				const place = places.addBytes(addresses, address)
				turnTo(place >> PIECE_BITS)
				entries.take(place & SLOT_MASK)
			}
		},
		size: () => places.size,
		done() {
			if (at !== -1) pieces[at] = pieceOf(entries)
			return tableOf(places, pieces, key ?? freshKey())
		},
	}
}

/** `places` only grows, and may be ahead of the pieces: tables share it. */
function tableOf(places: AddressTable, pieces: readonly (BookPiece | undefined)[], key: MarkKey): BookTable {
	const size = pieces.reduce((sum, piece) => sum + (piece?.size ?? 0), 0)
	let made: { readonly changes: object; readonly table: BookTable } | null = null

	function bookOf(address: Address): Book | undefined {
		const place = places.indexOf(address)
		const piece = place === -1 ? undefined : pieces[place >> PIECE_BITS]
		if (piece === undefined) return undefined
		const found = { head: 0, block: 0, from: 0, to: 0 }
		for (let at = 0; at < piece.bytes.length; at = found.to) {
			skim(piece.bytes, at + 1, found)
			if (piece.bytes[at] === (place & SLOT_MASK)) return bookAt(piece.bytes, found, BigInt(piece.lowest + found.block))
		}
		return undefined
	}

	function* entriesIn(number: number): Iterable<[Address, Book]> {
		const piece = pieces[number]
		if (piece === undefined) return
		const found = { head: 0, block: 0, from: 0, to: 0 }
		for (let at = 0; at < piece.bytes.length; at = found.to) {
			const slot = piece.bytes[at] ?? 0
			skim(piece.bytes, at + 1, found)
			const address = places.at((number << PIECE_BITS) + slot)
			yield [address, bookAt(piece.bytes, found, BigInt(piece.lowest + found.block))]
		}
	}

	function* entries(): MapIterator<[Address, Book]> {
		for (let number = 0; number < pieces.length; number++) yield* entriesIn(number)
		return undefined
	}

	const table: BookTable = {
		size,
		key,
		markOf: (code) => markOf(code, key),
		has: (address) => bookOf(address) !== undefined,
		get: bookOf,
		after: (changes) => finish(table.afterSteps(changes)),
		*afterSteps(changes) {
			if (changes.size === 0) return table
			// Whoever sums the books up asks for it before it is written, and packing many takes long.
			if (made?.changes === changes) return made.table
			const moved: { readonly place: number; readonly book: Book | null }[] = []
			let seen = 0
			for (const [address, book] of changes) {
				if (++seen % stepItems === 0) yield
				const known = places.indexOf(address)
				if (known === -1 && book === null) continue
				moved.push({ place: known === -1 ? places.add(address) : known, book })
			}
			// Piece by piece, so that one is unpacked at a time.
			moved.sort((one, other) => one.place - other.place)
			const next = [...pieces]
			const entries = blankEntries()
			for (let at = 0, border = stepItems; at < moved.length; ) {
				if (at >= border) {
					border = at + stepItems
					yield
				}
				const number = (moved[at]?.place ?? 0) >> PIECE_BITS
				fillEntries(entries, pieces[number])
				for (let one = moved[at]; one !== undefined && one.place >> PIECE_BITS === number; one = moved[++at]) {
					if (one.book === null) entries.take(one.place & SLOT_MASK)
					else putBook(entries, one.place & SLOT_MASK, one.book, key)
				}
				while (next.length < number) next.push(undefined)
				next[number] = pieceOf(entries)
			}
			made = { changes, table: tableOf(places, next, key) }
			return made.table
		},
		facts(most) {
			let lowest: number | null = null
			let waiting = 0
			const some: Address[] = []
			for (const [number, piece] of pieces.entries()) {
				if (piece === undefined) continue
				if (lowest === null || piece.lowest < lowest) lowest = piece.lowest
				waiting += piece.waiting
				if (piece.waiting === 0 || some.length >= most) continue
				for (const [address, { movedWei }] of entriesIn(number)) if (movedWei !== 0n) some.push(address)
			}
			return { lowest: lowest === null ? null : BigInt(lowest), waiting, some: some.slice(0, most) }
		},
		*beyond(block) {
			for (const [number, piece] of pieces.entries()) {
				if (piece === undefined || (piece.waiting === 0 && piece.highest <= Number(block))) continue
				for (const [address, book] of entriesIn(number)) {
					if (book.movedWei !== 0n || book.block > block) yield address
				}
			}
		},
		some(from, most) {
			const addresses: Address[] = []
			let number = from
			while (number < pieces.length && addresses.length < most) {
				for (const [address] of entriesIn(number++)) addresses.push(address)
			}
			return { addresses, next: number < pieces.length ? number : 0 }
		},
		placeAfter(count) {
			let [from, passed] = [0, count]
			for (; from < pieces.length && passed >= (pieces[from]?.size ?? 0); from++) passed -= pieces[from]?.size ?? 0
			return from < pieces.length ? { from, passed } : { from: 0, passed: 0 }
		},
		*pieces() {
			for (let number = 0; number < pieces.length; number++) {
				const packed = packedPlaces(places, pieces, number << PIECE_BITS, (number + 1) << PIECE_BITS, key)
				if (packed !== null) yield packed
			}
		},
		placeOf: (address) => places.indexOf(address),
		packed: (from, to) => packedPlaces(places, pieces, from, to, key),
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
