/** How far the books of a network are, in numbers and a few names. */

import type { UnprovedFacts } from '../core/unproved.js'
import type { BooksSummary } from '../model/books.js'
import type { AddressSet } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { BooksDraft } from './booksDraft.js'

const MOST_NAMED = 20

export function summaryOf(
	kept: AddressSet,
	draft: Pick<BooksDraft, 'get'>,
	reason: string | null,
	unproved: UnprovedFacts,
): BooksSummary {
	let closedTo: bigint | null = null
	let closed = 0
	let openCount = 0
	const open: Address[] = []
	for (const keys = kept.keys(), next = () => keys.next(); ; ) {
		const { value: address, done } = next()
		if (done === true || address === undefined) break
		const book = draft.get(address)
		if (book !== null) {
			closed++
			if (closedTo === null || book.block < closedTo) closedTo = book.block
		}
		if (book !== null && book.movedWei === 0n) continue
		openCount++
		if (open.length < MOST_NAMED) open.push(address)
	}
	const counts = { closed, kept: kept.size, open, openCount, unopened: kept.size - closed }
	return { closedTo: closedTo === null ? null : Number(closedTo), ...counts, reason, ...unproved }
}
