import type { Book, BookSet } from '../model/books.js'
import type { Address } from '../model/glossary.js'

/** The books as they will be. */
export interface BooksDraft {
	readonly changes: ReadonlyMap<Address, Book | null>
	get(address: Address): Book | null
	set(address: Address, book: Book | null): void
	/** Whether two marks are of one code, be they of a book or of an answer. */
	isSameCode(one: string | null, other: string | null): boolean
}

export function draftOf(books: BookSet): BooksDraft {
	const changes = new Map<Address, Book | null>()
	const keptOf = (code: string | null) => (code === null ? null : (books.markOf?.(code) ?? code))
	return {
		changes,
		get: (address) => changes.get(address) ?? (changes.has(address) ? null : (books.get(address) ?? null)),
		set: (address, book) => {
			changes.set(address, book)
		},
		isSameCode: (one, other) => keptOf(one) === keptOf(other),
	}
}
