import type { Book } from '../model/books.js'
import type { Address } from '../model/glossary.js'

/** The books as they will be. */
export interface BooksDraft {
	readonly changes: ReadonlyMap<Address, Book | null>
	get(address: Address): Book | null
	set(address: Address, book: Book | null): void
}

export function draftOf(books: ReadonlyMap<Address, Book>): BooksDraft {
	const changes = new Map<Address, Book | null>()
	return {
		changes,
		get: (address) => changes.get(address) ?? (changes.has(address) ? null : (books.get(address) ?? null)),
		set: (address, book) => {
			changes.set(address, book)
		},
	}
}
