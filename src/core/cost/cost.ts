/** The room calculates which of several exact ways to read the chain takes the fewest calls. */

/** Averages per block, over recent blocks, for the watched addresses. */
export interface Density {
	/** Share of blocks with a matching transaction: 0 to 1. */
	readonly hitBlocks: number
	/** Transactions whose whole call tree was needed. */
	readonly trees: number
	/** Rows of a whole block; null if none was read yet. */
	readonly rows: number | null
}

export const nothingKnown: Density = { hitBlocks: 0, trees: 0, rows: null }

/** This many rows cost as much as one plain call: about 300 kB, and the node's work for them. */
const ROWS_PER_CALL = 400
/** The factor by which earlier observations lose weight with each block. */
const KEPT_PER_BLOCK = 0.97

/** Density after an answer of `blocks` blocks; `rows` null leaves its rows as they were. */
export function denser(old: Density | null, seen: Density, blocks: number): Density {
	if (old === null) return seen
	const kept = KEPT_PER_BLOCK ** blocks
	const mixed = (before: number, now: number) => now + kept * (before - now)
	return {
		hitBlocks: mixed(old.hitBlocks, seen.hitBlocks),
		trees: mixed(old.trees, seen.trees),
		rows: seen.rows === null ? old.rows : old.rows === null ? seen.rows : mixed(old.rows, seen.rows),
	}
}

/** The cost of reading one block whole, without its header. */
function costOfBlock(rows: number | null): number {
	return 1 + (rows ?? 0) / ROWS_PER_CALL
}

/** Whether this number of trees of one block costs more than the whole block. */
export function isCheaperWhole(trees: number, rows: number | null): boolean {
	return trees > costOfBlock(rows)
}

export interface SpanQuestion {
	readonly blocks: number
	/** Number of address lists; senders and recipients are asked for apart. */
	readonly lists: number
	/** Whether each header is needed in any case: it may contain withdrawals, or rule out logs. */
	readonly readsHeaders: boolean
}

/** Each further list makes the node pass over the span again, which costs as much as this many whole blocks. */
const BLOCKS_PER_PASS = 16

/** Whether reading each block of a span whole costs less than lists plus completing what the lists find. */
export function areBlocksCheaper(
	{ blocks, lists, readsHeaders }: SpanQuestion,
	{ hitBlocks, trees, rows }: Density,
): boolean {
	const block = costOfBlock(rows)
	const passes = BLOCKS_PER_PASS * (lists - 1) * (1 + block)
	const headers = readsHeaders ? blocks : Math.min(2, blocks) + blocks * hitBlocks
	const completion = Math.min(trees, hitBlocks * block)
	const byLists = headers + 2 * lists + passes + blocks * completion
	return byLists > blocks * (1 + block)
}

/** Most blocks of one part that are drawn and read whole, among those whose header does not exclude another log. */
const DRAWN = 16

/** All, unless a second endpoint gave the same logs; each then costs as much as near the head. */
export function mostProvedOf(hasWitness: boolean): number {
	return hasWitness ? DRAWN : Number.POSITIVE_INFINITY
}

/** Whether all receipts of a block cost less than the needed ones. A receipt costs as much as one or two rows. */
export function areReceiptsCheaperTogether(needed: number, transactions: number): boolean {
	return needed > 1 + (2 * transactions) / ROWS_PER_CALL
}
