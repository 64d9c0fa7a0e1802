import type { AddressSet, TxTrace } from '../../model/chain.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { byPlace, mayMatter, type RowGroup, rewardsOf, touches, traceOf } from '../traces/assemble.js'
import { type Header, readReceipt, unsettled } from '../wire.js'
import { askAll } from './ask.js'

/** A transaction with its whole tree, and the header of its block. */
export interface Hit {
	readonly group: RowGroup
	readonly block: Header
}

export function receiptCall(txHash: string): RpcCall {
	return { method: 'eth_getTransactionReceipt', params: [txHash] }
}

/** What the receipt says of the transaction's success; throws `unsettled` when it is not in that block (any more). */
export function readSuccess(raw: unknown, { group, block }: Hit, endpoint: string): boolean | null {
	const reading = { endpoint, method: 'eth_getTransactionReceipt' }
	const receipt = readReceipt(raw, reading)
	if (receipt?.block.hash === block.hash) return receipt.succeeded
	// Polygon's state sync is in no list of transactions, and not every node has a receipt for it.
	if (receipt === null && group.txHash !== null && !block.txHashes.includes(group.txHash)) return null
	throw unsettled(reading, `${group.txHash} is no longer in block ${block.number}`)
}

/**
 * Joins whole trees with their receipts; what cannot be an event for the addresses is left out. Without asking, the roots
 * alone say what failed: a question about one transaction would tell the provider what is watched.
 */
export async function withReceipts(
	rpc: Rpc,
	hits: readonly Hit[],
	addresses: AddressSet,
	signal: AbortSignal,
	asks = true,
): Promise<readonly TxTrace[]> {
	const mattering = hits.filter(({ group }) =>
		group.rows.some((row) => touches(row.frame, addresses) && mayMatter(row)),
	)
	const transactions: TxTrace[] = []
	const asked: Hit[] = []
	for (const hit of mattering) {
		if (hit.group.txHash !== null && !asks) transactions.push(traceOf(hit.group, hit.block, null))
		else if (hit.group.txHash !== null) asked.push(hit)
		else transactions.push(...listed(rewardsOf(hit.group.rows, hit.block, addresses)))
	}
	const calls = asked.map(({ group }) => receiptCall(group.txHash ?? ''))
	const answers = await askAll(rpc, calls, signal)
	asked.forEach((hit, index) => {
		transactions.push(traceOf(hit.group, hit.block, readSuccess(answers[index], hit, rpc.endpoint)))
	})
	return transactions.sort(byPlace)
}

export function listed<T>(value: T | null): readonly T[] {
	return value === null ? [] : [value]
}
