/** Summarises how far the books of a network are, in numbers and a few addresses. */

import { inSteps } from '../base/waits/slices.js'
import type { UnprovedFacts } from '../core/ledger/unproved.js'
import type { BookSet, BooksProgress, BooksSummary } from '../model/books.js'
import type { AddressSet } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { BooksDraft } from './booksDraft.js'

const MOST_NAMED = 20
/** At most this many watches are searched for ones without a book, since the search does not yield. */
const MOST_LOOKED_AT = 10_000

/** The books with changes applied; the changes must be final. Yields while it applies many. */
export async function afterwards(books: BookSet, changes: BooksDraft['changes']): Promise<BookSet> {
	if (changes.size === 0) return books
	if (books.afterSteps !== undefined) return await inSteps(books.afterSteps(changes))
	const after = new Map(books)
	for (const [address, book] of changes) {
		if (book === null) after.delete(address)
		else after.set(address, book)
	}
	return after
}

export function summaryOf(
	kept: AddressSet,
	books: BookSet,
	reason: string | null,
	unproved: UnprovedFacts,
): BooksSummary {
	const { lowest, waiting, some } = books.facts?.(MOST_NAMED) ?? factsOf(books)
	const unopened = Math.max(0, kept.size - books.size)
	const open = [...some, ...(unopened > 0 ? withoutBook(kept, books, MOST_NAMED - some.length) : [])]
	const counts = { closed: books.size, kept: kept.size, open, openCount: waiting + unopened, unopened }
	return { closedTo: lowest === null ? null : Number(lowest), ...counts, reason, ...unproved }
}

function factsOf(books: BookSet): BooksProgress {
	let lowest: bigint | null = null
	const waiting: Address[] = []
	for (const [address, { block, movedWei }] of books) {
		if (lowest === null || block < lowest) lowest = block
		if (movedWei !== 0n) waiting.push(address)
	}
	return { lowest, waiting: waiting.length, some: waiting.slice(0, MOST_NAMED) }
}

function withoutBook(kept: AddressSet, books: BookSet, most: number): readonly Address[] {
	const first: Address[] = []
	const keys = kept.keys()
	for (let next = keys.next(); next.done !== true && first.length < MOST_LOOKED_AT; next = keys.next())
		first.push(next.value)
	return first.filter((address) => !books.has(address)).slice(0, Math.max(0, most))
}
