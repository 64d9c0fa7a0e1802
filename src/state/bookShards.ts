/**
 * The books of a network in memory: plain records in 1,024 shards. A change copies only the shards that it touches and
 * shares the others with the set before, so that a poll does not copy 100,000 entries to change 20.
 */

import { finish, type Steps, stepItems } from '../core/steps.js'
import type { Book, BookSet } from '../model/books.js'
import type { Address } from '../model/glossary.js'

type Changes = Pick<ReadonlyMap<Address, Book | null>, 'size'> & Iterable<readonly [Address, Book | null]>

/** An immutable set of books; every set that a store returns is one. */
export interface Books extends BookSet {
	after(changes: Changes): Books
	afterSteps(changes: Changes): Steps<Books>
}

interface Shard {
	readonly books: ReadonlyMap<Address, Book>
	/** Lowest and highest block that its books are closed at. */
	readonly lowest: bigint
	readonly highest: bigint
	/** Number of books with unproved movements. */
	readonly waiting: number
}

type Shards = readonly (Shard | undefined)[]

const SHARDS = 1_024
const noShards: Shards = new Array<Shard | undefined>(SHARDS).fill(undefined)

/** From the last three hex digits. */
function shardOf(address: Address): number {
	return Number.parseInt(address.slice(-3), 16) % SHARDS
}

export function booksOf(books: BookSet): Books {
	return 'afterSteps' in books ? (books as Books) : setOf(noShards, 0).after(books)
}

export const noBooks: Books = setOf(noShards, 0)

function setOf(shards: Shards, size: number): Books {
	let made: { readonly changes: Changes; readonly books: Books } | null = null

	const bookOf = (address: Address) => shards[shardOf(address)]?.books.get(address)

	function* afterSteps(changes: Changes): Steps<Books> {
		if (changes.size === 0) return set
		// The poll asks for a summary of the changed books before the commit applies the same changes.
		if (made?.changes === changes) return made.books
		const copies = new Map<number, Map<Address, Book>>()
		let [after, seen] = [size, 0]
		for (const [address, book] of changes) {
			if (++seen % stepItems === 0) yield
			const number = shardOf(address)
			const copy = copies.get(number) ?? new Map(shards[number]?.books)
			copies.set(number, copy)
			const before = copy.size
			if (book === null) copy.delete(address)
			else copy.set(address, book)
			after += copy.size - before
		}
		const next = [...shards]
		for (const [number, books] of copies) next[number] = shardWith(books)
		made = { changes, books: setOf(next, after) }
		return made.books
	}

	const set: Books = {
		size,
		has: (address) => bookOf(address) !== undefined,
		get: bookOf,
		after: (changes) => finish(afterSteps(changes)),
		afterSteps,
		facts(most) {
			let lowest: bigint | null = null
			let waiting = 0
			const some: Address[] = []
			for (const shard of shards) {
				if (shard === undefined) continue
				if (lowest === null || shard.lowest < lowest) lowest = shard.lowest
				waiting += shard.waiting
				if (shard.waiting === 0 || some.length >= most) continue
				for (const [address, { movedWei }] of shard.books) if (movedWei !== 0n) some.push(address)
			}
			return { lowest, waiting, some: some.slice(0, most) }
		},
		*beyond(block) {
			for (const shard of shards) {
				if (shard === undefined || (shard.waiting === 0 && shard.highest <= block)) continue
				for (const [address, book] of shard.books) if (book.movedWei !== 0n || book.block > block) yield address
			}
		},
		some(from, most) {
			const addresses: Address[] = []
			let number = Number(from)
			while (number < SHARDS && addresses.length < most) addresses.push(...(shards[number++]?.books.keys() ?? []))
			return { addresses, next: number < SHARDS ? String(number) : '' }
		},
		*keys(): MapIterator<Address> {
			for (const [address] of set) yield address
			return undefined
		},
		*[Symbol.iterator]() {
			for (const shard of shards) if (shard !== undefined) yield* shard.books
		},
	}
	return set
}

function shardWith(books: ReadonlyMap<Address, Book>): Shard | undefined {
	let [lowest, highest, waiting]: [bigint | null, bigint, number] = [null, 0n, 0]
	for (const { block, movedWei } of books.values()) {
		if (lowest === null || block < lowest) lowest = block
		if (block > highest) highest = block
		if (movedWei !== 0n) waiting++
	}
	return lowest === null ? undefined : { books, lowest, highest, waiting }
}
