/**
 * Block access lists (EIP-7928): what each account has after each transaction of a block that changed it, as the chain
 * itself commits to it in the header. Here: what a watch's frames come to, transaction by transaction, against that.
 */

import type { BlockChanges } from '../model/books.js'
import type { TxTrace } from '../model/chain.js'
import type { Address, Hash } from '../model/glossary.js'
import { closes, type Movement, movementsIn, still } from './books.js'

/** One transaction moved a balance by something else than what was told of it. */
export interface TxDifference {
	/** Place in the block. */
	readonly txIndex: number
	/** Null: nothing was told of it at all. */
	readonly txHash: Hash | null
	/** What it really moved, and what is told of it. */
	readonly movedWei: bigint
	readonly seenWei: bigint
}

/** What was told of one block. */
export interface TracedBlock {
	readonly transactions: readonly TxTrace[]
	/** Of all transactions of the block, in order: not every source says where one stands. */
	readonly txHashes: readonly Hash[]
	/** What its author gets stands in no transaction. */
	readonly author: Address | null
	/** What the consensus layer pays the watch, after all transactions. */
	readonly paidWei: bigint
}

/**
 * Where a watch's balance moved otherwise than its transactions tell, in the order of the block. `openingWei`: before
 * the block. Of a transaction that the watch sent and whose fee is not known nothing is said, nor of an author of the
 * block.
 */
export function txDifferences(
	address: Address,
	changes: BlockChanges,
	openingWei: bigint,
	{ transactions, txHashes, author, paidWei }: TracedBlock,
): readonly TxDifference[] {
	if (author === address) return []
	const only = new Set([address])
	const traced = new Map<number, { readonly tx: TxTrace; readonly movement: Movement }>()
	for (const tx of transactions) {
		const movement = movementsIn(tx, only).get(address)
		const txIndex = tx.txIndex ?? (tx.txHash === null ? -1 : txHashes.indexOf(tx.txHash))
		if (txIndex >= 0) traced.set(txIndex, { tx, movement: movement ?? still })
	}
	const listed = new Map((changes.balances.get(address) ?? []).map(({ index, wei }) => [index, wei]))
	const places = [...new Set([...listed.keys(), ...[...traced.keys()].map((txIndex) => txIndex + 1)])].sort(
		(a, b) => a - b,
	)
	const found: TxDifference[] = []
	let before = openingWei
	for (const index of places) {
		const after = listed.get(index) ?? before
		const txIndex = index - 1
		// What the chain does before the first transaction is nobody's.
		if (txIndex >= 0) {
			const { movement, tx } = traced.get(txIndex) ?? {
				movement: txIndex < changes.transactions ? still : { ...still, wei: paidWei },
				tx: null,
			}
			const isUnsaid = tx !== null && tx.fee === undefined && isSentBy(tx, address)
			if (!isUnsaid && !closes(before, movement, after)) {
				const seenWei = movement.wei + movement.posted[0]
				found.push({ txIndex, txHash: tx?.txHash ?? null, movedWei: after - before, seenWei })
			}
		}
		before = after
	}
	return found
}

/** Balance after the block; null where the block does not change it. */
export function closingIn({ balances }: BlockChanges, address: Address): bigint | null {
	return balances.get(address)?.at(-1)?.wei ?? null
}

function isSentBy({ frames }: TxTrace, address: Address): boolean {
	return frames.some(
		({ from, traceAddress, type }) => traceAddress.length === 0 && type !== 'reward' && from === address,
	)
}
