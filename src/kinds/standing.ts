/** Decides whether an announcement still stands if a look did not show its event. */

import type { Block, BlockRef, Span } from '../model/chain.js'
import type { Hash } from '../model/glossary.js'
import type { Announcement } from '../model/state.js'

/** `moved`: to another block, which this or a later look decides. `ask`: the question to answer first. */
export type Standing = 'here' | 'gone' | { readonly moved: BlockRef } | { readonly ask: Question }

export type Question = 'header' | 'transaction' | 'reading'

/** Answers collected after a look. A missing answer means that the question was not asked. */
export interface Answers {
	/** By block number; null: the node has no such block now, which proves nothing. */
	readonly header: ReadonlyMap<bigint, HeaderFacts | null>
	/** The block that contains a transaction; null: none does. */
	readonly transaction: ReadonlyMap<Hash, BlockRef | null>
	/** By alert id: whether reading its blocks again explains it. */
	readonly reading: ReadonlyMap<string, 'yes' | 'no' | 'later'>
}

export const noAnswers: Answers = { header: new Map(), transaction: new Map(), reading: new Map() }

export type HeaderFacts = BlockRef & Partial<Pick<Block, 'withdrawals' | 'hasUnreadWithdrawals' | 'txHashes'>>

export interface Missing {
	readonly answers: Answers
	/** Blocks of which the look shows every event of this kind; null: none. */
	readonly shown: Span | null
}

/** The block now at the announcement's number, if it is another one. */
export function replacement(
	{ block }: Announcement,
	{ answers }: Missing,
): { readonly is: HeaderFacts } | Exclude<Standing, 'gone'> {
	const now = answers.header.get(block.number)
	if (now === undefined) return { ask: 'header' }
	return now === null || now.hash === block.hash ? 'here' : { is: now }
}

/** For an event that belongs to its block: gone once another block replaces it. */
export function byHeader(entry: Announcement, missing: Missing): Standing {
	const now = replacement(entry, missing)
	return now !== 'here' && 'is' in now ? 'gone' : now
}

/**
 * For an event of a transaction. `isLasting`: while that stays in its block, a look that lacks the event is wrong. The
 * header says so on a private network too, and where the node has no index of transactions.
 */
export function byTransaction(
	{ txHash, block: { number, hash } }: Announcement,
	{ answers, shown }: Missing,
	isLasting: boolean,
): Standing {
	const now = answers.header.get(number)
	if (isLasting && now === undefined) return { ask: 'header' }
	if (isLasting && now?.hash === hash && now.txHashes?.includes(txHash)) return 'here'
	const block = answers.transaction.get(txHash)
	if (block === undefined) return { ask: 'transaction' }
	if (block === null) return 'gone'
	if (isLasting && block.hash === hash) return 'here'
	return shown === null || block.number > shown.to ? { moved: block } : 'gone'
}

/** For an event that a transaction or only the state shows; then the block's hash replaces the transaction's. */
export function byTransactionOrHeader(entry: Announcement, missing: Missing): Standing {
	const now = replacement(entry, missing)
	if (now === 'here' || !('is' in now)) return now
	return entry.txHash === entry.block.hash ? 'gone' : byTransaction(entry, missing, false)
}
