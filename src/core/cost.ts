/** Which of several exact ways to the same facts costs least: in credits where they are known, else in calls. */

/** Of one call of a method. */
export type PriceOf = (method: string) => number

export const inCalls: PriceOf = () => 1

/** What blocks have lately held for the addresses, each for one block on average. */
export interface Density {
	/** Blocks in which a transaction was hit: 0 to 1. */
	readonly hitBlocks: number
	/** Transactions of which the whole tree was needed. */
	readonly trees: number
	/** Rows of a whole block; null where none was read yet. */
	readonly rows: number | null
}

export const nothingKnown: Density = { hitBlocks: 0, trees: 0, rows: null }

/** Rows that weigh as much as one plain call: some 300 kB, and the node's work for them. */
const ROWS_PER_CALL = 400
/** What was seen before counts so much less with each block. */
const KEPT_PER_BLOCK = 0.97

/** Density after an answer of so many blocks that held so much for each; `rows` null leaves it as it was. */
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

/** One block read whole, without its header. */
function costOfBlock(rows: number | null, price: PriceOf): number {
	return price('trace_block') + ((rows ?? 0) / ROWS_PER_CALL) * price('eth_getBlockByNumber')
}

/** Whether so many trees of one block cost more than the whole block. */
export function isCheaperWhole(trees: number, rows: number | null, price: PriceOf): boolean {
	return trees * price('trace_transaction') > costOfBlock(rows, price)
}

/** What is asked of one span. */
export interface SpanQuestion {
	readonly blocks: number
	/** Lists of addresses that are asked for. */
	readonly lists: number
	/** Both sides go into one question. */
	readonly together: boolean
	/** Each header is asked for however the traces are read: it may pay withdrawals, or rule out logs. */
	readonly readsHeaders: boolean
}

/** A list beyond the first costs the node another pass over the same blocks: as much as so many blocks read whole. */
const BLOCKS_PER_PASS = 16

/** Whether a span costs less when each of its blocks is read whole than by lists, and what those find completed. */
export function areBlocksCheaper(
	{ blocks, lists, together, readsHeaders }: SpanQuestion,
	{ hitBlocks, trees, rows }: Density,
	price: PriceOf,
): boolean {
	const header = price('eth_getBlockByNumber')
	const block = costOfBlock(rows, price)
	const questions = (together ? 1 : 2) * lists * price('trace_filter')
	const passes = BLOCKS_PER_PASS * (lists - 1) * (header + block)
	const headers = readsHeaders ? blocks : Math.min(2, blocks) + blocks * hitBlocks
	const completion = Math.min(trees * price('trace_transaction'), hitBlocks * block)
	const byLists = headers * header + questions + passes + blocks * completion
	return byLists > blocks * (header + block)
}

/** Of the blocks of one part of which a header does not rule out one more log, so many are drawn and read whole. */
const DRAWN = 16

/**
 * How many are proved by their receipts. `setting` null: all, where no second endpoint has given the same. Each of them
 * costs what it would have cost near the head.
 */
export function mostProvedOf(setting: number | null, hasWitness: boolean): number {
	return setting ?? (hasWitness ? DRAWN : Number.POSITIVE_INFINITY)
}

/** A receipt weighs what a row does, or two: one whole block of them against one by one. */
export function areReceiptsCheaperWhole(needed: number, transactions: number, price: PriceOf): boolean {
	const each = price('eth_getBlockByNumber') / ROWS_PER_CALL
	const whole = price('eth_getBlockReceipts') + 2 * transactions * each
	return needed * price('eth_getTransactionReceipt') > whole
}
