import { deferred, type Movements } from '../core/ledger/books.js'
import type { Book, BookSet } from '../model/books.js'
import type { Address } from '../model/glossary.js'

/** Changes to the books that are not yet written. */
export interface BooksDraft {
	readonly changes: ReadonlyMap<Address, Book | null>
	get(address: Address): Book | null
	set(address: Address, book: Book | null): void
}

export function draftOf(books: BookSet): BooksDraft {
	const changes = new Map<Address, Book | null>()
	return {
		changes,
		get: (address) => changes.get(address) ?? (changes.has(address) ? null : (books.get(address) ?? null)),
		set: (address, book) => {
			changes.set(address, book)
		},
	}
}

/** Adds the movements to the books, to be proved once balances are known. */
export function deferAll(draft: BooksDraft, movements: Movements): void {
	for (const [number, moved] of movements) {
		for (const [address, movement] of moved) {
			const book = draft.get(address)
			if (book !== null) draft.set(address, deferred(book, movement, number))
		}
	}
}
