import { nextSlice } from '../base/waits/slices.js'
import { LEAST_TURNS, MOST_BOOKS, MOST_TURNS, ROUND_BLOCKS, shareOfRound } from '../core/ledger/books.js'
import { createAddressTable } from '../core/packed/addressTable.js'
import { lengthOf } from '../core/spans.js'
import { recordOf } from '../kinds/all.js'
import type { BooksRound } from '../model/books.js'
import type { AddressSet, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { WatchIndex, WatchRules } from '../model/watch.js'

/** Rotates through untouched watches, so that each balance is checked before nodes prune its state (128 blocks). */
export interface AuditRotation {
	keptOf(watches: WatchIndex): Promise<AddressSet>
	/** The next of `keptOf`, as many as are due, and all with a threshold. `isOpening`: as many as fit one request. */
	next(part: Part, isOpening: boolean): readonly Address[]
	limited(): AddressSet
	/** The last round, if it took too long; null otherwise, or if no round has ended. */
	slow(): BooksRound | null
}

/** A longer round is reported. 120 blocks: most nodes keep the state of 128. 1 h: the intended limit. */
const SLOW = { blocks: 120, ms: 60 * 60_000 }
/** As many addresses fit a large request (10 million gas, 80 kB), with room for touched ones. */
const MOST_AT_ONCE = 1_900

/** Most addresses skipped to find the starting place; takes some milliseconds, once. */
const MOST_PASSED = 100_000

/** Watches sorted before yielding; they take some milliseconds. */
const AT_ONCE = 5_000

const noAddresses: AddressSet = createAddressTable()

export interface RotationOptions {
	readonly clock: Clock
	/** Default: `MOST_BOOKS`. */
	readonly mostBooks?: number
}

export function createAuditRotation({ clock, mostBooks = MOST_BOOKS }: RotationOptions): AuditRotation {
	let watched: WatchIndex | null = null
	let kept = noAddresses
	let limited = noAddresses
	let turns = turnsOf(listOrder)
	let lastMs = clock()
	let isFirst = true
	let last: BooksRound | null = null

	function listOrder(after: number): Iterator<Address> {
		const order = kept.keys()
		// With more than MOST_PASSED to skip, begin with the first: skipping would take too long.
		for (let passed = 0; passed < after && after <= MOST_PASSED; passed++) order.next()
		return order
	}

	return {
		async keptOf(watches) {
			if (watches === watched) return kept
			const sorted = await sort(watches, mostBooks)
			watched = watches
			kept = sorted.kept
			limited = sorted.limited
			last = null
			turns = turnsOf(listOrder)
			return kept
		},
		next({ span }, isOpening) {
			const elapsedMs = clock() - lastMs
			lastMs = clock()
			const share = shareOfRound(Number(lengthOf(span)), elapsedMs)
			const due = Math.max(isOpening ? MOST_AT_ONCE : LEAST_TURNS, Math.ceil(kept.size * share))
			// The next block waits for the books: the first turn after a start is small.
			const size = Math.min(kept.size, due, isFirst ? MOST_AT_ONCE : MOST_TURNS)
			isFirst = false
			const found: Address[] = []
			for (let all = limited.keys(), one = all.next(); one.done !== true; one = all.next()) found.push(one.value)
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

/** One round after another through all addresses. */
interface Turns {
	/** An iterator that skips this many addresses. */
	readonly from: (after: number) => Iterator<Address>
	order: Iterator<Address>
	/** When this round began, as block and time; null before its first turn. */
	began: { readonly block: bigint; readonly ms: number } | null
}

function turnsOf(from: Turns['from']): Turns {
	return { from, order: from(0), began: null }
}

/** The place at a block, as if each round began at a multiple of ROUND_BLOCKS: the same after a reload or a restart. */
function placeAt(block: bigint, size: number): number {
	return Math.floor((size * Number(block % BigInt(ROUND_BLOCKS))) / ROUND_BLOCKS)
}

interface Sorted {
	readonly kept: AddressSet
	readonly limited: AddressSet
}

/** Sorts a million watches without blocking. If all rules are alike, the watches are not read one by one. */
async function sort(watches: WatchIndex, mostBooks: number): Promise<Sorted> {
	const isTooMany = watches.size > mostBooks
	const rules = watches.rules?.()
	if (rules !== undefined && !rules.some(isLimited)) {
		if (isTooMany || !rules.some(needsBook)) return { kept: noAddresses, limited: noAddresses }
		if (rules.every(needsBook)) return { kept: watches, limited: noAddresses }
	}
	const [kept, limited] = [createAddressTable(), createAddressTable()]
	let seen = 0
	for (const [address, list] of watches) {
		const isOneLimited = list.some(isLimited)
		if (isOneLimited) limited.add(address)
		if (isOneLimited || (!isTooMany && list.some(needsBook))) kept.add(address)
		if (++seen % AT_ONCE === 0) await nextSlice()
	}
	return { kept, limited }
}

function needsBook({ kinds }: Pick<WatchRules, 'kinds'>): boolean {
	return kinds.some((kind) => recordOf(kind).books !== 'unused')
}

function isLimited({ thresholds, kinds }: Pick<WatchRules, 'thresholds' | 'kinds'>): boolean {
	return thresholds !== undefined && kinds.includes('balance')
}
