/** Remembers blocks for which the books prove nothing; similar entries are merged. */

import type { BooksSummary, Unproved } from '../../model/books.js'

/** The latest 20 entries are kept, with at most 3 addresses each. */
const MOST_ENTRIES = 20
const MOST_NAMED = 3

export type UnprovedFacts = Required<Pick<BooksSummary, 'unproved' | 'unprovedCount'>>

export const nothingUnproved: UnprovedFacts = { unproved: [], unprovedCount: 0 }

/** Adds an entry. It is merged with one that has the same reason and the same watch or first block. */
export function withUnproved({ unproved, unprovedCount }: UnprovedFacts, more: Unproved): UnprovedFacts {
	const at = unproved.findIndex((one) => isAlike(one, more))
	const before = unproved[at]
	const entry = before === undefined ? more : merged(before, more)
	const others = unproved.filter((one) => one !== before)
	return { unproved: [...others, entry].slice(-MOST_ENTRIES), unprovedCount: unprovedCount + more.count }
}

function isAlike(one: Unproved, other: Unproved): boolean {
	// Entries about all watches are merged only if adjacent: otherwise the result would include proved blocks.
	if (one.addresses.length === 0 || other.addresses.length === 0) {
		const isNameless = one.addresses.length === other.addresses.length
		return isNameless && one.why === other.why && one.toBlock + 1 === other.fromBlock
	}
	return one.why === other.why && (one.fromBlock === other.fromBlock || one.addresses[0] === other.addresses[0])
}

function merged(one: Unproved, other: Unproved): Unproved {
	return {
		fromBlock: Math.min(one.fromBlock, other.fromBlock),
		toBlock: Math.max(one.toBlock, other.toBlock),
		count: one.count + other.count,
		addresses: [...new Set([...one.addresses, ...other.addresses])].slice(0, MOST_NAMED),
		why: one.why,
	}
}
