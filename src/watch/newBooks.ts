import { closedAt } from '../core/books.js'
import type { Accounts, Book, BookSet } from '../model/books.js'
import type { AddressSet, BlockRef } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import { codeIn } from './settle.js'

/** One question. */
const MOST_OPENED = 2_000
/** Among more watches the new ones are not looked for: theirs are opened with the blocks, each in its turn. */
const MOST_LOOKED_AT = 20_000

export interface NewBooks {
	readonly kept: AddressSet
	/** Those with thresholds: what they have is told of the block that opens their books, and none is told of here. */
	readonly limited: AddressSet
	readonly books: BookSet
	/** First block of an address. Books that were to be kept of earlier blocks are opened late, and said to be. */
	readonly since: (address: Address) => bigint
}

/** Books of watches that begin after this block, opened at it: its state may be forgotten, or changed, later. */
export async function newBooks(
	at: BlockRef,
	{ kept, limited, books, since }: NewBooks,
	accounts: Pick<Accounts, 'balances'>,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, Book>> {
	const isFew = kept.size <= MOST_LOOKED_AT && kept.size > books.size
	const fresh: Address[] = []
	for (let all = kept.keys(), one = all.next(); isFew && one.done !== true; one = all.next()) {
		const address = one.value
		if (!books.has(address) && !limited.has(address) && since(address) > at.number) fresh.push(address)
	}
	if (fresh.length === 0 || fresh.length > MOST_OPENED) return new Map()
	const balances = await accounts.balances(fresh, at, signal)
	return new Map([...balances].map(([address, wei]) => [address, closedAt(at.number, wei, codeIn(balances, address))]))
}
