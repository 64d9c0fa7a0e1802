/** What a private network's books stand on when lists are checked against them: balances known before a block. */

import { closes, deferred, type Movements, movementsOf, still } from '../core/books.js'
import type { Book } from '../model/books.js'
import type { AddressSet, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { BlockLists } from './accessLists.js'
import { summed } from './askBalances.js'
import type { BooksDraft } from './booksDraft.js'
import type { ListedRun } from './lateLists.js'
import type { BlockPostings } from './listedBalances.js'
import { keyOf } from './settle.js'

/**
 * Takes out of the books what was put by of blocks that are read again now. `listed`: blocks up to these without a
 * hole; a book that stands in there has put by nothing else. Gives what is to be put by again of blocks after these.
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
		const othersWei = book.movedWei - deferred({ ...book, movedWei: 0n }, moved.get(address) ?? still).movedWei
		if (isAlone) rest.set(address, othersWei)
		draft.set(address, { ...book, movedWei: isAlone ? 0n : othersWei })
	}
	return rest
}

/** What blocks after those that were read again moved is put by as before. */
export function giveBack(draft: BooksDraft, rest: ReadonlyMap<Address, bigint>): void {
	for (const [address, wei] of rest) {
		const book = draft.get(address)
		if (book !== null) draft.set(address, { ...book, movedWei: book.movedWei + wei })
	}
}

/** Balances before the part, of books that no block since left in doubt; they stand right before the part from here. */
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
 * Books that stand before a hole in the lists, and that what was put by since does not explain: nobody can tell where
 * it moved. Gives the first block of which that is so.
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

/** Balances before blocks, of those all whose transactions in the block are among those told. */
export function wholeOf(
	openings: ReadonlyMap<string, bigint>,
	{ transactions }: Part,
	postings: BlockPostings,
): ReadonlyMap<string, bigint> {
	const whole = new Map(openings)
	const hashes = new Set(transactions.map(({ txHash }) => txHash))
	for (const [number, list] of postings) {
		for (const { address, txHash } of list ?? [])
			if (txHash !== null && !hashes.has(txHash)) whole.delete(keyOf(address, number))
	}
	return whole
}
