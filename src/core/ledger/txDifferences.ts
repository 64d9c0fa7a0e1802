/**
 * Compares frames with block access lists (EIP-7928), transaction by transaction. A list states the balance of each
 * account after each transaction of the block that changed it; the header commits to the list.
 */

import type { Amounts, BlockChanges, Posting } from '../../model/books.js'
import type { TxTrace } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import { closes, type Movement, movementsIn, plus, still } from './books.js'

/** A transaction that moved a balance by another amount than its frames show. */
export interface TxDifference {
	/** Index in the block. */
	readonly txIndex: number
	/** Null: no frame shows the transaction. */
	readonly txHash: Hash | null
	/** The amount by the list, and the amount by the frames. */
	readonly movedWei: bigint
	readonly seenWei: bigint
}

export interface TracedBlock {
	readonly transactions: readonly TxTrace[]
	/** All transactions of the block, in order, since not every source gives the index of a transaction. */
	readonly txHashes: readonly Hash[]
	/** The author's income belongs to no transaction. */
	readonly author: Address | null
	/** Withdrawals to the watch, paid after all transactions. */
	readonly paidWei: bigint
	/** What receipts say that the transactions moved, instead of the fees in `transactions`; null: not asked for. */
	readonly postings: readonly Posting[] | null
}

/** What frames and receipts show of one transaction for a watch. */
export interface TracedMovement {
	/** Null: no frame shows the transaction. */
	readonly tx: TxTrace | null
	readonly movement: Movement
	/** The watch sent it, and its fee is not known. */
	readonly isFeeUnknown: boolean
}

/** By index in the block, the transactions that frames or receipts show. */
export function movementsByIndex(
	address: Address,
	{ transactions, txHashes, postings }: TracedBlock,
): ReadonlyMap<number, TracedMovement> {
	const only = new Set([address])
	const traced = new Map<number, TracedMovement>()
	for (const tx of transactions) {
		const txIndex = tx.txIndex ?? (tx.txHash === null ? -1 : txHashes.indexOf(tx.txHash))
		if (txIndex < 0) continue
		const movement = movementsIn(tx, only).get(address) ?? still
		const isFeeUnknown = postings === null && tx.fee === undefined && isSentBy(tx, address)
		traced.set(txIndex, { tx, movement: postings === null ? movement : { ...movement, posted: none }, isFeeUnknown })
	}
	for (const { address: payer, txHash, wei } of postings ?? []) {
		if (payer !== address || txHash === null) continue
		const txIndex = txHashes.indexOf(txHash)
		const { tx = null, movement = still } = traced.get(txIndex) ?? {}
		traced.set(txIndex, { tx, movement: plus(movement, { ...still, posted: wei }), isFeeUnknown: false })
	}
	return traced
}

const none: Amounts = [0n, 0n]

/**
 * Where a watch's balance moved by other amounts than its transactions show, in the order of the block. `openingWei`:
 * the balance before the block. Leaves out transactions sent by the watch whose fee is unknown, and all of them if the
 * watch is the block's author.
 */
export function txDifferences(
	address: Address,
	changes: BlockChanges,
	openingWei: bigint,
	block: TracedBlock,
): readonly TxDifference[] {
	if (block.author === address) return []
	const traced = movementsByIndex(address, block)
	const listed = new Map((changes.balances.get(address) ?? []).map(({ index, wei }) => [index, wei]))
	const places = [...new Set([...listed.keys(), ...[...traced.keys()].map((txIndex) => txIndex + 1)])].sort(
		(a, b) => a - b,
	)
	const found: TxDifference[] = []
	let before = openingWei
	for (const index of places) {
		const after = listed.get(index) ?? before
		const txIndex = index - 1
		// Changes made by the chain before the first transaction belong to no transaction.
		if (txIndex >= 0) {
			const isAfterAll = txIndex >= changes.transactions
			const untraced = {
				tx: null,
				movement: isAfterAll ? { ...still, wei: block.paidWei } : still,
				isFeeUnknown: false,
			}
			const { tx, movement, isFeeUnknown } = traced.get(txIndex) ?? untraced
			if (!isFeeUnknown && !closes(before, movement, after)) {
				const seenWei = movement.wei + movement.posted[0]
				found.push({ txIndex, txHash: tx?.txHash ?? null, movedWei: after - before, seenWei })
			}
		}
		before = after
	}
	return found
}

/** Balance after the block; null if the block does not change it. */
export function closingIn({ balances }: BlockChanges, address: Address): bigint | null {
	return balances.get(address)?.at(-1)?.wei ?? null
}

function isSentBy({ frames }: TxTrace, address: Address): boolean {
	return frames.some(
		({ from, traceAddress, type }) => traceAddress.length === 0 && type !== 'reward' && from === address,
	)
}
