import { closes, movementBetween, withPostings } from '../core/ledger/books.js'
import type { Posting } from '../model/books.js'
import type { Block, BlockRef } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { ScannedAgain } from './scannedAgain.js'

export interface Written {
	readonly block: bigint
	readonly balanceWei: bigint
}

export interface Asks {
	readonly scanned: ScannedAgain
	needBlock(number: bigint): Promise<Block>
	balanceAt(block: BlockRef): Promise<bigint | null>
	postingsOf(block: Block): Promise<readonly Posting[] | string>
	/** The selections of postings that may have moved the balance. */
	postingCandidates(postings: readonly Posting[]): readonly (readonly Posting[])[]
}

/**
 * Whether the state of a block was changed without replacing the block, as the operator of a test node does
 * (anvil_setBalance). The book was closed with one balance, and `now` another is answered. True if the movements of the
 * block lead to the first and not to the second, and the second is answered twice. Otherwise the first answer may have
 * been wrong, and nothing is known.
 */
export async function isStateOverridden(
	address: Address,
	{ block: number, balanceWei }: Written,
	now: { readonly wei: bigint; readonly hash: string },
	{ scanned, needBlock, balanceAt, postingsOf, postingCandidates }: Asks,
): Promise<boolean> {
	if (number === 0n) return false
	const block = await needBlock(number)
	if (block.hash !== now.hash || !(await scanned.isKnown(number))) return false
	const openingWei = await balanceAt({ number: number - 1n, hash: block.parentHash })
	const postings = await postingsOf(block)
	// A stale replica, or a node that ignores the block parameter, answers all blocks with one state.
	if (openingWei === null || openingWei === now.wei || typeof postings === 'string') return false
	const frames = movementBetween(scanned.movements, address, number, number)
	const leadsTo = (wei: bigint) =>
		postingCandidates(postings).some((one) => closes(openingWei, withPostings(frames, one, address), wei))
	return leadsTo(balanceWei) && !leadsTo(now.wei) && (await balanceAt(block)) === now.wei
}
