import { setBack } from '../../core/ledger/books.js'
import type { Book, BookSet } from '../../model/books.js'
import type { BlockRef } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'

/**
 * The books to change when the blocks after `back` leave the chain. A book of an address that did not move in them is
 * set back, so that its next closing proves the blocks in their place. The others are dropped and opened anew.
 */
export function reopened(books: BookSet, back: BlockRef): ReadonlyMap<Address, Book | null> {
	const changed = new Map<Address, Book | null>()
	for (const address of books.beyond?.(back.number) ?? beyond(books, back.number)) {
		const book = books.get(address)
		const earlier = book === undefined ? null : setBack(book, back.number)
		if (earlier !== book) changed.set(address, earlier)
	}
	return changed
}

function* beyond(books: ReadonlyMap<Address, Book>, block: bigint): Iterable<Address> {
	for (const [address, book] of books) if (book.block > block || book.movedWei !== 0n) yield address
}
