/**
 * The stored form of books: `[address, block, balanceWei, movedWei, moved, code, limits, at]`; `moved` is `movedAt`
 * less `block`, null if absent; `code` is 0 for no code, -1 if absent. What is absent at the end is left out. Integers
 * beyond 2^53 are decimal text. A removed book is `[address]`. The auditor writes 1,900 books at once at 100,000
 * watches: with a name for each field they would take twice the bytes.
 */

import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'

const NO_CODE = 0
const NOT_KNOWN = -1

type Cell = string | number | null

export type BookRow = readonly [address: Address, ...cells: Cell[]]

/** Null for a map of other values, and for one that only removes books. */
export function bookRows(map: Iterable<readonly [unknown, unknown]>): BookRow[] | null {
	for (const [, value] of map) {
		if (value === null) continue
		const isBook = typeof value === 'object' && 'movedWei' in value
		return isBook ? Array.from(map as Iterable<readonly [Address, Book | null]>, rowOf) : null
	}
	return null
}

/** Throws for rows that `bookRows` did not make. */
export function booksIn(rows: readonly BookRow[]): Map<Address, Book | null> {
	return new Map(rows.map(([address, ...cells]) => [address, bookIn(cells)]))
}

function rowOf([address, book]: readonly [Address, Book | null]): BookRow {
	if (book === null) return [address]
	const { block, balanceWei, movedWei, code: own, movedAt, compared, ...rest } = book
	// Does not compile if a field is not written here: it would be lost at the next start.
	rest satisfies Record<keyof typeof rest, never>
	const numbers = [cellOf(block), cellOf(balanceWei), cellOf(movedWei)]
	const moved = movedAt === undefined ? null : cellOf(movedAt - block)
	const code = own === undefined ? NOT_KNOWN : (own ?? NO_CODE)
	if (compared !== undefined) return [address, ...numbers, moved, code, compared.limits, cellOf(compared.at)]
	if (code !== NOT_KNOWN) return [address, ...numbers, moved, code]
	return moved === null ? [address, ...numbers] : [address, ...numbers, moved]
}

function cellOf(integer: bigint): Cell {
	const number = Number(integer)
	return Number.isSafeInteger(number) ? number : String(integer)
}

function bookIn([block, balanceWei, movedWei, moved, code, limits, at]: readonly Cell[]): Book | null {
	if (block === undefined) return null
	return {
		block: integerIn(block),
		balanceWei: integerIn(balanceWei),
		movedWei: integerIn(movedWei),
		...((code === NO_CODE || typeof code === 'string') && { code: code === NO_CODE ? null : code }),
		...(moved !== undefined && moved !== null && { movedAt: integerIn(block) + integerIn(moved) }),
		...(typeof limits === 'string' && { compared: { limits, at: integerIn(at) } }),
	}
}

function integerIn(cell: Cell | undefined): bigint {
	if (cell === undefined || cell === null) throw new Error('a book without its numbers')
	return BigInt(cell)
}
