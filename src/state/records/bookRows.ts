/**
 * The stored form of books: `[address, block, balanceWei, movedWei, code, movedAt, limits, at]`. Integers above 2^53
 * are decimal text. An absent field is -1, or left out at the end; a removed book is `[address]`. The auditor writes
 * 1,900 books at once at 100,000 watches: with a name for each field they would take twice the bytes.
 */

import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'

const ABSENT = -1

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
	const { block, balanceWei, movedWei, code = ABSENT, movedAt, compared, ...rest } = book
	// Does not compile if a field is not written here: it would be lost at the next start.
	rest satisfies Record<keyof typeof rest, never>
	const numbers = [cellOf(block), cellOf(balanceWei), cellOf(movedWei)]
	const changed = movedAt === undefined ? ABSENT : cellOf(movedAt)
	if (compared !== undefined) return [address, ...numbers, code, changed, compared.limits, cellOf(compared.at)]
	if (movedAt !== undefined) return [address, ...numbers, code, changed]
	return code === ABSENT ? [address, ...numbers] : [address, ...numbers, code]
}

function cellOf(integer: bigint): Cell {
	const number = Number(integer)
	return Number.isSafeInteger(number) ? number : String(integer)
}

function bookIn([block, balanceWei, movedWei, code, movedAt, limits, at]: readonly Cell[]): Book | null {
	if (block === undefined) return null
	return {
		block: integerIn(block),
		balanceWei: integerIn(balanceWei),
		movedWei: integerIn(movedWei),
		...((code === null || typeof code === 'string') && { code }),
		...(movedAt !== undefined && movedAt !== ABSENT && { movedAt: integerIn(movedAt) }),
		...(typeof limits === 'string' && { compared: { limits, at: integerIn(at) } }),
	}
}

function integerIn(cell: Cell | undefined): bigint {
	if (cell === undefined || cell === null) throw new Error('a book without its numbers')
	return BigInt(cell)
}
