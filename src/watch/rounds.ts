import { MOST_KEPT } from '../core/books.js'
import { lengthOf } from '../core/spans.js'
import type { AddressSet, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Kind, Watch, WatchIndex } from '../model/watch.js'

/**
 * Whose books are closed although nothing touched them: each in its turn, and all of them before their state is
 * forgotten.
 */
export interface Rounds {
	/** Those of whom anything unexplained is to be told. */
	keptOf(watches: WatchIndex): AddressSet
	/**
	 * The next ones, as many as this part makes due, and all whose balance has a threshold. Of the watches last asked for
	 * by `keptOf`. `isOpening`: some have no book yet; then as many as one question bears.
	 */
	next(part: Part, isOpening: boolean): readonly Address[]
	/** Those whose balance has a threshold. */
	limited(): AddressSet
}

/** Everybody's turn comes within so many blocks: half of what most nodes remember. */
const ROUND_BLOCKS = 64
/** And within this time, on a chain that is slow. */
const ROUND_MS = 45 * 60_000
/** As many fit into a small question. */
const LEAST = 200
/** And into a large one, 10 million gas and 80 kB, with some that are touched. */
const MOST_AT_ONCE = 1_900

export function createRounds({ clock }: { readonly clock: Clock }): Rounds {
	let watched: WatchIndex | null = null
	let kept = new Set<Address>()
	let order: readonly Address[] = []
	/** Those with a threshold. */
	let limited = new Set<Address>()
	let at = 0
	let lastMs = clock()

	return {
		keptOf(watches) {
			if (watches === watched) return kept
			watched = watches
			kept = new Set()
			order = []
			const isTooMany = watches.size > MOST_KEPT
			limited = new Set()
			for (const [address, list] of watches) {
				const isLimited = list.some((watch) => watch.thresholds !== undefined && watch.kinds.includes('balance'))
				if (isLimited) limited.add(address)
				if (isLimited || (!isTooMany && list.some(needsBook))) kept.add(address)
			}
			order = [...kept]
			at = 0
			return kept
		},
		next({ span }, isOpening) {
			const elapsedMs = clock() - lastMs
			lastMs = clock()
			const share = Math.max(Number(lengthOf(span)) / ROUND_BLOCKS, elapsedMs / ROUND_MS)
			const size = Math.min(order.length, Math.max(isOpening ? MOST_AT_ONCE : LEAST, Math.ceil(order.length * share)))
			const turns: Address[] = [...limited]
			for (let taken = 0; taken < size; taken++) {
				const address = order[at]
				at = at + 1 >= order.length ? 0 : at + 1
				if (address !== undefined) turns.push(address)
			}
			return limited.size === 0 ? turns : [...new Set(turns)]
		},
		limited: () => limited,
	}
}

/** What the books alone find. */
const FOUND: readonly Kind[] = ['unexplained', 'delegation', 'income']

function needsBook({ kinds }: Watch): boolean {
	return FOUND.some((kind) => kinds.includes(kind))
}
