/**
 * The room keeps books by pure arithmetic: what the frames of a transaction move for an address, and whether that
 * explains a balance. The balance after is the balance before, plus what came in, less what went out, less fees, plus
 * what the chain itself pays. Where the rules depend on a fork and the trace does not show which fork is in force, both
 * sums are tried: each is a complete explanation with its cause, never a difference made to fit.
 */

import type { Amounts, Book, BookSet, Posting } from '../../model/books.js'
import type { AddressSet, Block, BlockRef, Frame, Part, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { NetworkState } from '../../model/state.js'
import { judge } from '../events/effective.js'

/** What blocks move for one address. */
export interface Movement {
	/** Incoming less outgoing wei, over all frames that count. */
	readonly wei: bigint
	/** Fees and payments of the chain, signed; see `Posting`. */
	readonly posted: Amounts
	/** Amounts that self-destructs may have burnt, one for each, in order; none is 0. */
	readonly burnsWei: readonly bigint[]
}

export const still: Movement = { wei: 0n, posted: [0n, 0n], burnsWei: [] }

/** By block, then by address. */
export type Movements = ReadonlyMap<bigint, ReadonlyMap<Address, Movement>>

/** With more watches on a network than this, no books are kept: all of them are in memory. */
export const MOST_BOOKS = 100_000

/** Why no books are kept; follows "no books are kept: ". */
export const tooManyInWords = `there are more than ${MOST_BOOKS.toLocaleString('en')} watches`

/** Most watches without movements whose balances are requested in one poll: eight requests. */
export const MOST_TURNS = 16_000
/** Least number of them: they fit into one small request. */
export const LEAST_TURNS = 200
/** Blocks within which each balance is checked once: half of the state that most nodes keep. */
export const ROUND_BLOCKS = 64
/** On a slow chain, the time within which each balance is checked once. */
const ROUND_MS = 45 * 60_000

/** The share of all watches that is due after this number of blocks and this time. */
export function shareOfRound(blocks: number, elapsedMs: number): number {
	return Math.max(blocks / ROUND_BLOCKS, elapsedMs / ROUND_MS)
}

/** Balances in one request with code passed to `eth_call`: 10 million gas, below every known limit; 80 kB. */
export const MOST_TOGETHER = 2_000
/** Balances in one request by Multicall3: 10 million gas; 100 kB. */
export const MOST_IN_MULTICALL = 500

/** With more self-destructs of one address in one span than this, combinations of their sums are not tried. */
const MOST_BURNS = 6

/** The movements of the addresses: frames, known fees, and withdrawals listed in headers. */
export function movementsOf(
	transactions: readonly TxTrace[],
	addresses: AddressSet,
	headers: Iterable<Block> = [],
): Movements {
	const blocks = new Map<bigint, Map<Address, Movement>>()
	for (const tx of transactions) {
		const block = blocks.get(tx.block.number) ?? new Map<Address, Movement>()
		for (const [address, movement] of movementsIn(tx, addresses)) {
			block.set(address, plus(block.get(address) ?? still, movement))
		}
		if (block.size > 0) blocks.set(tx.block.number, block)
	}
	for (const { number, withdrawals = [] } of headers) {
		for (const { address, wei } of withdrawals) {
			if (!addresses.has(address)) continue
			const block = blocks.get(number) ?? new Map<Address, Movement>()
			block.set(address, plus(block.get(address) ?? still, { ...still, posted: [wei, wei] }))
			blocks.set(number, block)
		}
	}
	return blocks
}

/** What one transaction moves for the addresses; addresses without a movement are left out. */
export function movementsIn(tx: TxTrace, addresses: AddressSet): ReadonlyMap<Address, Movement> {
	const moved = new Map<Address, Movement>()
	const add = (address: Address | null, movement: Partial<Movement>) => {
		if (address === null || !addresses.has(address)) return
		moved.set(address, plus(moved.get(address) ?? still, { ...still, ...movement }))
	}
	const verdicts = tx.succeeded === false ? [] : judge(tx)
	const ended = new Set<Address>()
	for (const { frame, counts, reason } of verdicts) {
		if (counts) {
			add(frame.from, { wei: -frame.valueWei })
			add(frame.to, { wei: frame.valueWei })
		}
		const ends = frame.type === 'suicide' && (counts || reason === 'to-itself' || reason === 'no-value')
		if (ends && frame.from !== null && addresses.has(frame.from)) ended.add(frame.from)
	}
	for (const address of ended) {
		const burntWei = burntOf(
			address,
			verdicts.filter(({ counts, reason }) => counts || reason === 'to-itself' || reason === 'no-value'),
		)
		if (burntWei > 0n) add(address, { burnsWei: [burntWei] })
	}
	if (tx.fee !== undefined) add(tx.fee.payer, { posted: [-tx.fee.wei[0], -tx.fee.wei[1]] })
	return moved
}

/**
 * The amount lost if a self-destructed contract is really removed: what it sent to itself, and what it received after
 * its first self-destruct. Before Cancun it is removed; since then only if it was created in the same transaction
 * (EIP-6780).
 */
function burntOf(address: Address, verdicts: readonly { readonly frame: Frame; readonly counts: boolean }[]): bigint {
	let burntWei = 0n
	/** What it received since its last self-destruct; null before the first. */
	let sinceWei: bigint | null = null
	for (const { frame, counts } of verdicts) {
		const isEnd = frame.type === 'suicide' && frame.from === address
		if (isEnd) {
			if (frame.to === address) burntWei += frame.valueWei
			sinceWei = 0n
			continue
		}
		if (sinceWei === null || !counts) continue
		if (frame.to === address) sinceWei += frame.valueWei
		if (frame.from === address) sinceWei -= frame.valueWei
	}
	return burntWei + (sinceWei ?? 0n)
}

export function plus(one: Movement, other: Movement): Movement {
	return {
		wei: one.wei + other.wei,
		posted: [one.posted[0] + other.posted[0], one.posted[1] + other.posted[1]],
		burnsWei: other.burnsWei.length === 0 ? one.burnsWei : [...one.burnsWei, ...other.burnsWei],
	}
}

/** All movements of these blocks for one address; `from` and `to` are included. */
export function movementBetween(movements: Movements, address: Address, from: bigint, to: bigint): Movement {
	let sum = still
	for (const [block, moved] of movements) {
		const movement = moved.get(address)
		if (movement !== undefined && from <= block && block <= to) sum = plus(sum, movement)
	}
	return sum
}

/** The sum over all blocks, by address. */
export function summed(movements: Movements): ReadonlyMap<Address, Movement> {
	const sums = new Map<Address, Movement>()
	for (const moved of movements.values()) {
		for (const [address, movement] of moved) sums.set(address, plus(sums.get(address) ?? still, movement))
	}
	return sums
}

/** Replaces the fees in a movement by postings of the same blocks, which contain all fees. */
export function withPostings({ wei, burnsWei }: Movement, postings: readonly Posting[], address: Address): Movement {
	let posted: Amounts = [0n, 0n]
	for (const posting of postings) {
		if (posting.address === address) posted = [posted[0] + posting.wei[0], posted[1] + posting.wei[1]]
	}
	return { wei, posted, burnsWei }
}

/** Every possible sum of the movement; the simplest first. */
export function sumsOf({ wei, posted, burnsWei }: Movement): readonly bigint[] {
	let sums = [...new Set(posted)].map((amount) => wei + amount)
	if (burnsWei.length > MOST_BURNS) return sums
	for (const burnWei of burnsWei) sums = [...sums, ...sums.map((sum) => sum - burnWei)]
	return sums
}

export function closes(openingWei: bigint, movement: Movement, closingWei: bigint): boolean {
	const difference = closingWei - openingWei
	return sumsOf(movement).includes(difference)
}

/** A book closed at this block, with nothing deferred. */
export function closedAt(block: bigint, balanceWei: bigint, code?: string | null, movedAt = block): Book {
	return { block, balanceWei, movedWei: 0n, ...(code !== undefined && { code }), movedAt }
}

/** Adds a movement for a later closing: its blocks, up to `block`, were scanned without a balance. */
export function deferred(book: Book, movement: Movement, block: bigint): Book {
	if (movement === still) return book
	const [sum = 0n] = sumsOf(movement)
	const { movedAt } = book
	const later = movedAt !== undefined && movedAt < block ? { movedAt: block } : {}
	return { ...book, movedWei: book.movedWei + sum, ...later }
}

/** The book at an earlier block; null: not known, since the address moved later. What it deferred came before. */
export function setBack(book: Book, block: bigint): Book | null {
	if (book.movedAt === undefined || book.movedAt > block) return null
	if (book.block <= block) return book
	const { compared, ...before } = book
	return { ...before, block, ...(compared !== undefined && compared.at <= block && { compared }) }
}

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

function* beyond(books: BookSet, block: bigint): Iterable<Address> {
	for (const [address, book] of books) if (book.block > block || book.movedWei !== 0n) yield address
}

/** Adds what a gap moved to the books closed before it; later ones contain it, and it was announced as unexplained. */
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
