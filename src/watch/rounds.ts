import { createAddressTable } from '../core/addressTable.js'
import { LEAST_TURNS, MOST_KEPT, MOST_TURNS, ROUND_BLOCKS, shareOfRound } from '../core/books.js'
import { lengthOf } from '../core/spans.js'
import type { BookSet, BooksRound } from '../model/books.js'
import type { AddressSet, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Kind, WatchIndex, WatchRules } from '../model/watch.js'
import { yieldNow } from './inSteps.js'

/**
 * Whose books are closed although nothing touched them: each in its turn, and all of them before their state is
 * forgotten.
 */
export interface Rounds {
	/** Those of whom anything unexplained is to be told. */
	keptOf(watches: WatchIndex): Promise<AddressSet>
	/**
	 * The next ones, as many as this part makes due, and all whose balance has a threshold. Of the watches last asked for
	 * by `keptOf`. `isOpening`: some have no book yet; then as many as one question bears. Else in the order of `books`,
	 * where it has one: what is closed together is written together.
	 */
	next(part: Part, isOpening: boolean, books?: BookSet): readonly Address[]
	/** Those whose balance has a threshold. */
	limited(): AddressSet
	/** How long a round takes, where that is too long; null where it is not, or not known. */
	slow(): BooksRound | null
}

/** A round that takes longer is said to: what most nodes remember, and what we mean to keep. */
const SLOW = { blocks: 120, ms: 60 * 60_000 }
/** As many fit into a large question, 10 million gas and 80 kB, with some that are touched. */
const MOST_AT_ONCE = 1_900

/** Passed before the first turn: some milliseconds, once. */
const MOST_PASSED = 100_000

/** Looked at in one breath: some milliseconds. */
const AT_ONCE = 5_000

const nobody: AddressSet = createAddressTable()

export function createRounds({ clock }: { readonly clock: Clock }): Rounds {
	let watched: WatchIndex | null = null
	let kept = nobody
	/** Those with a threshold. */
	let limited = nobody
	/** As last given. */
	let held: BookSet | undefined
	let inList = turnsOf(listOrder)
	let inBooks = turnsOf(bookOrder)
	let lastMs = clock()
	let isFirst = true
	let last: BooksRound | null = null

	function* bookOrder(after: number): Generator<Address> {
		let { from, passed } = held?.placeAfter?.(after) ?? { from: 0, passed: 0 }
		for (let isEnd = false; !isEnd; isEnd = from === 0) {
			const { addresses, next } = held?.some?.(from, 1) ?? { addresses: [], next: 0 }
			for (const address of addresses.slice(passed)) if (kept.has(address)) yield address
			from = next
			passed = 0
		}
	}

	function listOrder(after: number): Iterator<Address> {
		const order = kept.keys()
		// Of very many the first come first: to pass them takes its time.
		for (let passed = 0; passed < after && after <= MOST_PASSED; passed++) order.next()
		return order
	}

	return {
		async keptOf(watches) {
			if (watches === watched) return kept
			const sorted = await sort(watches)
			watched = watches
			kept = sorted.kept
			limited = sorted.limited
			last = null
			inList = turnsOf(listOrder)
			inBooks = turnsOf(bookOrder)
			return kept
		},
		next({ span }, isOpening, books) {
			const elapsedMs = clock() - lastMs
			lastMs = clock()
			const share = shareOfRound(Number(lengthOf(span)), elapsedMs)
			const due = Math.max(isOpening ? MOST_AT_ONCE : LEAST_TURNS, Math.ceil(kept.size * share))
			// The next block waits for the books: after a start the first come soon.
			const size = Math.min(kept.size, due, isFirst ? MOST_AT_ONCE : MOST_TURNS)
			isFirst = false
			const found: Address[] = []
			for (let all = limited.keys(), one = all.next(); one.done !== true; one = all.next()) found.push(one.value)
			held = books
			const turns = !isOpening && books?.some !== undefined ? inBooks : inList
			if (turns.began === null) turns.order = turns.from(placeAt(span.from, kept.size))
			for (let taken = 0; taken < size; taken++) {
				turns.began ??= { block: span.to, ms: lastMs }
				const { began } = turns
				let next = turns.order.next()
				if (next.done === true) {
					last = { blocks: Number(span.to - began.block), minutes: Math.round((lastMs - began.ms) / 60_000) }
					turns.order = turns.from(0)
					turns.began = { block: span.to, ms: lastMs }
					next = turns.order.next()
				}
				if (next.done !== true) found.push(next.value)
			}
			return limited.size === 0 ? found : [...new Set(found)]
		},
		limited: () => limited,
		slow: () => (last !== null && (last.blocks > SLOW.blocks || last.minutes * 60_000 > SLOW.ms) ? last : null),
	}
}

/** One way through all of them, again and again. */
interface Turns {
	/** After so many. */
	readonly from: (after: number) => Iterator<Address>
	order: Iterator<Address>
	/** Where and when this round began; null before its first turn. */
	began: { readonly block: bigint; readonly ms: number } | null
}

function turnsOf(from: Turns['from']): Turns {
	return { from, order: from(0), began: null }
}

/**
 * Where a round stands at a block if all begin with the first one: so it is found again by a program that lives for one
 * poll, and after a reload.
 */
function placeAt(block: bigint, size: number): number {
	return Math.floor((size * Number(block % BigInt(ROUND_BLOCKS))) / ROUND_BLOCKS)
}

interface Sorted {
	readonly kept: AddressSet
	readonly limited: AddressSet
}

/** Step by step: there may be a million. Where all are alike, they are not looked at one by one. */
async function sort(watches: WatchIndex): Promise<Sorted> {
	const isTooMany = watches.size > MOST_KEPT
	const rules = watches.rules?.()
	if (rules !== undefined && !rules.some(isLimited)) {
		if (isTooMany || !rules.some(needsBook)) return { kept: nobody, limited: nobody }
		if (rules.every(needsBook)) return { kept: watches, limited: nobody }
	}
	const [kept, limited] = [createAddressTable(), createAddressTable()]
	let seen = 0
	for (const [address, list] of watches) {
		const isOneLimited = list.some(isLimited)
		if (isOneLimited) limited.add(address)
		if (isOneLimited || (!isTooMany && list.some(needsBook))) kept.add(address)
		if (++seen % AT_ONCE === 0) await yieldNow()
	}
	return { kept, limited }
}

/** What the books alone find. */
const FOUND: readonly Kind[] = ['unexplained', 'delegation', 'income']

function needsBook({ kinds }: Pick<WatchRules, 'kinds'>): boolean {
	return FOUND.some((kind) => kinds.includes(kind))
}

function isLimited({ thresholds, kinds }: Pick<WatchRules, 'thresholds' | 'kinds'>): boolean {
	return thresholds !== undefined && kinds.includes('balance')
}
