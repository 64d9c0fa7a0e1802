import { deferred, movementsOf } from '../../core/ledger/books.js'
import type { Book } from '../../model/books.js'
import type { Part } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { NetworkState } from '../../model/state.js'

/**
 * Adds the movements of a gap that could now be read to the books closed before it. Books closed after it already
 * contain the difference, which was announced as unexplained.
 */
export function withGap({ books, gaps }: NetworkState, part: Part): ReadonlyMap<Address, Book> {
	const changed = new Map<Address, Book>()
	for (const [number, moved] of movementsOf(part.transactions, books)) {
		const gap = gaps.get(number)
		if (gap?.readAtMs === undefined) continue
		for (const [address, movement] of moved) {
			const book = changed.get(address) ?? books.get(address)
			if (book !== undefined && book.block < number) changed.set(address, deferred(book, movement, number))
		}
	}
	return changed
}
