/** Determines the balances before a block that lists are checked against, for the books of a private network. */

import { closes, deferred, type Movements, movementsOf, still, summed } from '../../core/ledger/books.js'
import type { Book } from '../../model/books.js'
import type { AddressSet } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { BlockLists } from '../accessLists.js'
import type { BooksDraft } from '../booksDraft.js'
import type { ListedRun } from './lateLists.js'

/**
 * Subtracts from the books the deferred movements of blocks that were now read again. `listed`: the contiguous range of
 * checked blocks; a book closed in it has deferred only what comes after it. Returns, by address, what later blocks
 * moved; `giveBack` adds it again.
 */
export function takeBack(
	draft: BooksDraft,
	again: readonly ListedRun[],
	kept: AddressSet,
	listed: { readonly to: bigint; readonly from: bigint } | null,
): ReadonlyMap<Address, bigint> {
	const rest = new Map<Address, bigint>()
	const first = again[0]?.part.span.from
	if (first === undefined) return rest
	const parts = again.map(({ part }) => part)
	const transactions = parts.flatMap((part) => part.transactions)
	const moved = summed(
		movementsOf(
			transactions,
			kept,
			parts.flatMap(({ blocks }) => [...blocks.values()]),
		),
	)
	const named = again.flatMap(({ lists }) => (lists ?? []).flatMap(({ changes }) => [...changes.balances.keys()]))
	for (const address of new Set([...moved.keys(), ...named])) {
		const book = draft.get(address)
		if (book === null || book.movedWei === 0n) continue
		const isAlone = listed !== null && listed.to + 1n === first && book.block >= listed.from - 1n
		const othersWei = book.movedWei - deferred({ ...book, movedWei: 0n }, moved.get(address) ?? still, first).movedWei
		if (isAlone) rest.set(address, othersWei)
		draft.set(address, { ...book, movedWei: isAlone ? 0n : othersWei })
	}
	return rest
}

/** Adds the deferred movements of later blocks again, after the reread blocks were closed. */
export function giveBack(draft: BooksDraft, rest: ReadonlyMap<Address, bigint>): void {
	for (const [address, wei] of rest) {
		const book = draft.get(address)
		if (book !== null) draft.set(address, { ...book, movedWei: book.movedWei + wei })
	}
}

/** Balances before the part, of books closed up to it without a hole; moves these to the block before it. */
export function openingsOf(
	draft: BooksDraft,
	movements: Movements,
	from: bigint,
	listedFrom: bigint,
): ReadonlyMap<Address, bigint> {
	const openings = new Map<Address, bigint>()
	for (const moved of movements.values()) {
		for (const address of moved.keys()) {
			const book = draft.get(address)
			if (book === null || openings.has(address)) continue
			if (book.block < listedFrom - 1n || book.movedWei !== 0n) continue
			openings.set(address, book.balanceWei)
			draft.set(address, { ...book, block: from - 1n })
		}
	}
	return openings
}

/**
 * Drops the books before a hole in the lists whose deferred movements do not explain the balance: where the difference
 * arose cannot be determined. Returns the first block of the unproved range, by address.
 */
export function openAnew(
	draft: BooksDraft,
	movements: Movements,
	openings: ReadonlyMap<Address, bigint>,
	lists: BlockLists,
): ReadonlyMap<Address, bigint> {
	const opened = new Map<Address, bigint>()
	const seen = new Set<Address>()
	for (const { block, changes } of lists) {
		for (const [address, movement] of movements.get(block.number) ?? []) {
			if (openings.has(address) || seen.has(address)) continue
			const book = draft.get(address)
			const closing = changes.balances.get(address)?.at(-1)
			if (book === null) continue
			if (closing === undefined) {
				if (!closes(book.balanceWei, movement, book.balanceWei)) drop(address, book)
				continue
			}
			seen.add(address)
			if (!closes(book.balanceWei + book.movedWei, movement, closing.wei)) drop(address, book)
		}
	}
	return opened

	function drop(address: Address, book: Book): void {
		seen.add(address)
		opened.set(address, book.block + 1n)
		draft.set(address, null)
	}
}
