import { deferred, movementsOf } from '../core/books.js'
import { isOpen } from '../core/gaps.js'
import type { Book } from '../model/books.js'
import type { Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { NetworkState } from '../model/state.js'

/**
 * Books that wait since before a gap, with what it is now known to have moved: those that were closed after it have its
 * difference in them already, and told as unexplained.
 */
export function withGap({ books, gaps }: NetworkState, part: Part): ReadonlyMap<Address, Book> {
	const changed = new Map<Address, Book>()
	for (const [number, moved] of movementsOf(part.transactions, books)) {
		const gap = gaps.get(number)
		if (gap === undefined || !isOpen(gap)) continue
		for (const [address, movement] of moved) {
			const book = changed.get(address) ?? books.get(address)
			if (book !== undefined && book.block < number) changed.set(address, deferred(book, movement))
		}
	}
	return changed
}
