import { closes, movementBetween, withPostings } from '../core/books.js'
import type { Posting } from '../model/books.js'
import type { Block, BlockRef } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { ScannedAgain } from './scannedAgain.js'

/** A balance that a book was closed with. */
export interface Written {
	readonly block: bigint
	readonly balanceWei: bigint
}

export interface Asks {
	readonly scanned: ScannedAgain
	needBlock(number: bigint): Promise<Block>
	balanceAt(block: BlockRef): Promise<bigint | null>
	postingsOf(block: Block): Promise<readonly Posting[] | string>
	/** Which of the postings may be meant: all, or fewer. */
	readings(postings: readonly Posting[]): readonly (readonly Posting[])[]
}

/**
 * Whether the state of a block that stands was changed under it, as a test node's operator does (anvil_setBalance): a
 * book was closed with one balance, `now` another is answered. What came before still leads to the first and not to the
 * second, and the second is answered twice. Without that the first may have been the fault, and nothing is known.
 */
export async function isRewritten(
	address: Address,
	{ block: number, balanceWei }: Written,
	now: { readonly wei: bigint; readonly hash: string },
	{ scanned, needBlock, balanceAt, postingsOf, readings }: Asks,
): Promise<boolean> {
	if (number === 0n) return false
	const block = await needBlock(number)
	if (block.hash !== now.hash || !(await scanned.isKnown(number))) return false
	const openingWei = await balanceAt({ number: number - 1n, hash: block.parentHash })
	const postings = await postingsOf(block)
	// A stale replica, or a node that heeds no block, answers all of them with one state.
	if (openingWei === null || openingWei === now.wei || typeof postings === 'string') return false
	const frames = movementBetween(scanned.movements, address, number, number)
	const leadsTo = (wei: bigint) =>
		readings(postings).some((one) => closes(openingWei, withPostings(frames, one, address), wei))
	return leadsTo(balanceWei) && !leadsTo(now.wei) && (await balanceAt(block)) === now.wei
}
