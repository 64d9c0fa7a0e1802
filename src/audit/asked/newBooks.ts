import { closedAt } from '../../core/ledger/books.js'
import type { Accounts, Book, BookSet } from '../../model/books.js'
import type { AddressSet, BlockRef } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { codeIn } from '../closeBooks.js'

/** Most books opened at once: they fit into one request. */
const MOST_OPENED = 2_000
/** With more watches, new ones are not searched for; the rotation opens their books. */
const MOST_LOOKED_AT = 20_000

export interface NewBooks {
	readonly kept: AddressSet
	/** Watches with thresholds. Their books are opened with the next block, since this function announces no crossing. */
	readonly limited: AddressSet
	readonly books: BookSet
	/** First block of an address. Books with an earlier first block are opened late, and reported as such. */
	readonly since: (address: Address) => bigint
}

/** Opens the books of watches that begin after block `at`, at that block: nodes may prune its state later. */
export async function newBooks(
	at: BlockRef,
	{ kept, limited, books, since }: NewBooks,
	accounts: Pick<Accounts, 'balances'>,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, Book>> {
	if (kept.size > MOST_LOOKED_AT || kept.size <= books.size) return new Map()
	const all: Address[] = []
	for (let keys = kept.keys(), one = keys.next(); one.done !== true; one = keys.next()) all.push(one.value)
	const fresh = all.filter((one) => !books.has(one) && !limited.has(one) && since(one) > at.number)
	if (fresh.length === 0 || fresh.length > MOST_OPENED) return new Map()
	const balances = await accounts.balances(fresh, at, signal)
	return new Map([...balances].map(([address, wei]) => [address, closedAt(at.number, wei, codeIn(balances, address))]))
}
