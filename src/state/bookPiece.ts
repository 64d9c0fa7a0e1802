/** Up to 256 books in one run of bytes: of each its number in the piece and the book. They are changed by a new run. */

import type { AddressTable } from '../core/addressTable.js'
import type { Book } from '../model/books.js'
import {
	ADDRESS_BYTES,
	headLength,
	isMoved,
	MOST_BYTES,
	RUN_HEAD_BYTES,
	skim,
	writeBook,
	writeHead,
	writeRunHead,
} from './bookFormat.js'
import type { MarkKey } from './codeMark.js'

export const PIECE_BITS = 8
const MOST = 1 << PIECE_BITS

export interface BookPiece {
	/** Of each book its number in the piece, then the book; its block is counted from `lowest`. */
	readonly bytes: Buffer
	readonly size: number
	/** Of the blocks that its books are closed at. */
	readonly lowest: number
	readonly highest: number
	/** How many hold what moved and is not proved yet. */
	readonly waiting: number
}

/** The books of a piece while it is changed, each where its bytes are. */
export interface Entries {
	/** `from` to `to`: what stands behind the block. */
	put(slot: number, head: number, block: number, source: Uint8Array, from: number, to: number): void
	take(slot: number): void
	readonly heads: Int16Array
	readonly blocks: Float64Array
	readonly sources: (Uint8Array | undefined)[]
	readonly froms: Float64Array
	readonly tos: Float64Array
}

const NONE = -1

export function blankEntries(): Entries {
	const heads = new Int16Array(MOST).fill(NONE)
	const [blocks, froms, tos] = [new Float64Array(MOST), new Float64Array(MOST), new Float64Array(MOST)]
	const sources: (Uint8Array | undefined)[] = new Array(MOST)
	return {
		heads,
		blocks,
		sources,
		froms,
		tos,
		put(slot, head, block, source, from, to) {
			heads[slot] = head
			blocks[slot] = block
			sources[slot] = source
			froms[slot] = from
			tos[slot] = to
		},
		take(slot) {
			heads[slot] = NONE
		},
	}
}

/** Whatever they were before, they are those of this piece. */
export function fillEntries(entries: Entries, piece: BookPiece | undefined): void {
	entries.heads.fill(NONE)
	if (piece === undefined) return
	const { bytes, lowest } = piece
	const found = { head: 0, block: 0, from: 0, to: 0 }
	for (let at = 0; at < bytes.length; at = found.to) {
		skim(bytes, at + 1, found)
		entries.put(bytes[at] ?? 0, found.head, lowest + found.block, bytes, found.from, found.to)
	}
}

export function putBook(entries: Entries, slot: number, book: Book, key: MarkKey): void {
	const bytes = Buffer.allocUnsafe(MOST_BYTES)
	// Its block is said beside it.
	const to = writeBook(bytes, 0, book, 0, key)
	entries.put(slot, bytes[0] ?? 0, Number(book.block), bytes, headLength(0), to)
}

/** Undefined: no book is left. */
export function pieceOf({ heads, blocks, sources, froms, tos }: Entries): BookPiece | undefined {
	let [size, waiting, lowest, highest, length] = [0, 0, Number.POSITIVE_INFINITY, 0, 0]
	for (let slot = 0; slot < MOST; slot++) {
		const head = heads[slot] ?? NONE
		if (head === NONE) continue
		const block = blocks[slot] ?? 0
		size++
		if (isMoved(head)) waiting++
		if (block < lowest) lowest = block
		if (block > highest) highest = block
	}
	if (size === 0) return undefined
	for (let slot = 0; slot < MOST; slot++) {
		if (heads[slot] === NONE) continue
		length += 1 + headLength((blocks[slot] ?? 0) - lowest) + (tos[slot] ?? 0) - (froms[slot] ?? 0)
	}
	// Of its own: a piece of a slab that others share would keep all of it.
	const bytes = Buffer.allocUnsafeSlow(length)
	let at = 0
	for (let slot = 0; slot < MOST; slot++) {
		const head = heads[slot] ?? NONE
		const source = sources[slot]
		if (head === NONE || source === undefined) continue
		bytes[at++] = slot
		at = writeHead(bytes, at, head, (blocks[slot] ?? 0) - lowest)
		for (let from = froms[slot] ?? 0; from < (tos[slot] ?? 0); from++) bytes[at++] = source[from] ?? 0
	}
	return { bytes, size, lowest, highest, waiting }
}

/** The books from a place to before another as `packBooks` makes them; null: there are none. */
export function packedPlaces(
	places: AddressTable,
	pieces: readonly (BookPiece | undefined)[],
	from: number,
	to: number,
	key: MarkKey,
): Buffer | null {
	const found = { head: 0, block: 0, from: 0, to: 0 }
	function each(act: (place: number, bytes: Buffer, block: number) => void): void {
		for (let number = from >> PIECE_BITS; number << PIECE_BITS < to; number++) {
			const { bytes, lowest } = pieces[number] ?? nothing
			for (let at = 0; at < bytes.length; at = found.to) {
				skim(bytes, at + 1, found)
				const place = (number << PIECE_BITS) + (bytes[at] ?? 0)
				if (from <= place && place < to) act(place, bytes, lowest + found.block)
			}
		}
	}

	let [lowest, length] = [Number.POSITIVE_INFINITY, RUN_HEAD_BYTES]
	each((_place, _bytes, block) => {
		if (block < lowest) lowest = block
	})
	if (lowest === Number.POSITIVE_INFINITY) return null
	each((_place, _bytes, block) => {
		length += ADDRESS_BYTES + headLength(block - lowest) + found.to - found.from
	})
	const packed = Buffer.allocUnsafe(length)
	let at = writeRunHead(packed, lowest, key)
	each((place, bytes, block) => {
		places.writeTo(place, packed, at)
		at = writeHead(packed, at + ADDRESS_BYTES, found.head, block - lowest)
		at += bytes.copy(packed, at, found.from, found.to)
	})
	return packed
}

const nothing: Pick<BookPiece, 'bytes' | 'lowest'> = { bytes: Buffer.alloc(0), lowest: 0 }
