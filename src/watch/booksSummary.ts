/** How far the books of a network are, in numbers and a few names. */

import type { UnprovedFacts } from '../core/unproved.js'
import type { Book, BookSet, BooksSummary } from '../model/books.js'
import type { AddressSet } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { BooksDraft } from './booksDraft.js'
import { inSteps } from './inSteps.js'

const MOST_NAMED = 20
/** Those without a book are looked for among so many: with many watches that is no work for one breath. */
const MOST_LOOKED_AT = 10_000

/** The books as they will be: with changes that change no more. Many are packed in steps. */
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

function factsOf(books: ReadonlyMap<Address, Book>): ReturnType<NonNullable<BookSet['facts']>> {
	let lowest: bigint | null = null
	const waiting: Address[] = []
	for (const [address, { block, movedWei }] of books) {
		if (lowest === null || block < lowest) lowest = block
		if (movedWei !== 0n) waiting.push(address)
	}
	return { lowest, waiting: waiting.length, some: waiting.slice(0, MOST_NAMED) }
}

function withoutBook(kept: AddressSet, books: BookSet, most: number): readonly Address[] {
	const found: Address[] = []
	const keys = kept.keys()
	for (let looked = 0; looked < MOST_LOOKED_AT && found.length < most; looked++) {
		const { value: address, done } = keys.next()
		if (done === true || address === undefined) break
		if (!books.has(address)) found.push(address)
	}
	return found
}
