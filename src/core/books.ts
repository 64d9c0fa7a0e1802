/**
 * Books, by pure arithmetic: what the frames of a transaction move for an address, and whether that explains a balance.
 *
 * The balance after is the balance before, plus what came in, less what went out, less fees, plus what the chain itself
 * pays. Where the rules of a fork decide and nothing in a trace says which fork is in force, both sums are tried: each
 * is a whole explanation with its cause, never a difference made to fit.
 */

import type { Amounts, Book, Posting } from '../model/books.js'
import type { AddressSet, Block, Frame, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import { judge } from './effective.js'

/** What blocks move for one address. */
export interface Movement {
	/** In less out, over all frames that count. */
	readonly wei: bigint
	/** Fees and payments of the chain, signed; see `Posting`. */
	readonly posted: Amounts
	/** What may have been burnt by self-destructs, one amount for each of them, in order; none is 0. */
	readonly burnsWei: readonly bigint[]
}

export const still: Movement = { wei: 0n, posted: [0n, 0n], burnsWei: [] }

/** By block, then by address. */
export type Movements = ReadonlyMap<bigint, ReadonlyMap<Address, Movement>>

/** With more watches of a network no books are kept: nobody has tried it. */
export const MOST_KEPT = 2_000_000

/** Watches that nothing touched whose balances are asked for in one poll, at most: eight questions. */
export const MOST_TURNS = 16_000
/** And so many at least: they fit into a small question. */
export const LEAST_TURNS = 200
/** Everybody's turn comes within so many blocks: half of what most nodes remember. */
export const ROUND_BLOCKS = 64
/** And within this time, on a chain that is slow. */
const ROUND_MS = 45 * 60_000

/** What part of all have their turn after so many blocks, which took so long. */
export function shareOfRound(blocks: number, elapsedMs: number): number {
	return Math.max(blocks / ROUND_BLOCKS, elapsedMs / ROUND_MS)
}

/** Balances in one question by code that is lent to `eth_call`: 10 million gas, below every limit known; 80 kB. */
export const MOST_TOGETHER = 2_000
/** And by Multicall3: 10 million gas; 100 kB. */
export const MOST_IN_MULTICALL = 500

/** More self-destructs of one address in one span than this, and the sums are not tried. */
const MOST_BURNS = 6

/**
 * What the frames of these transactions, the fees that are known of them, and the withdrawals that headers list move
 * for the addresses.
 */
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

/** What one transaction moves for the addresses; those whom it does not move are left out. */
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
 * What is lost if a contract that destroyed itself really goes: what it sent to itself, and what it was paid after it
 * had given everything away. Before Cancun it goes; since then only one made in the same transaction (EIP-6780).
 */
function burntOf(address: Address, verdicts: readonly { readonly frame: Frame; readonly counts: boolean }[]): bigint {
	let burntWei = 0n
	/** What it has got since it last gave all away; null before it did so. */
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

/** All that these blocks move for one address; `from` and `to` are included. */
export function movementBetween(movements: Movements, address: Address, from: bigint, to: bigint): Movement {
	let sum = still
	for (const [block, moved] of movements) {
		const movement = moved.get(address)
		if (movement !== undefined && from <= block && block <= to) sum = plus(sum, movement)
	}
	return sum
}

/** A movement with postings of the same blocks in the place of the fees that it held before: they name all of them. */
export function withPostings({ wei, burnsWei }: Movement, postings: readonly Posting[], address: Address): Movement {
	let posted: Amounts = [0n, 0n]
	for (const posting of postings) {
		if (posting.address === address) posted = [posted[0] + posting.wei[0], posted[1] + posting.wei[1]]
	}
	return { wei, posted, burnsWei }
}

/** Every sum that the movement may come to; the plainest first. */
export function sumsOf({ wei, posted, burnsWei }: Movement): readonly bigint[] {
	let sums = [...new Set(posted)].map((amount) => wei + amount)
	if (burnsWei.length > MOST_BURNS) return sums
	for (const burnWei of burnsWei) sums = [...sums, ...sums.map((sum) => sum - burnWei)]
	return sums
}

/** Whether what moved explains the balance now. */
export function closes(openingWei: bigint, movement: Movement, closingWei: bigint): boolean {
	const difference = closingWei - openingWei
	return sumsOf(movement).includes(difference)
}

/** A book closed here, with nothing outstanding. */
export function closedAt(block: bigint, balanceWei: bigint, code?: string | null): Book {
	return { block, balanceWei, movedWei: 0n, ...(code !== undefined && { code }) }
}

/** What was scanned while no balance could be asked for is put by. */
export function deferred(book: Book, movement: Movement): Book {
	const [sum = 0n] = sumsOf(movement)
	return sum === 0n ? book : { ...book, movedWei: book.movedWei + sum }
}
