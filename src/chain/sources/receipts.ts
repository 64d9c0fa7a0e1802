import type { Frame, TxTrace } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { feeOf } from '../balances/fee.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { byPlace, traceOf } from '../traces/assemble.js'
import { address, type Header, isObject, malformed, type Reading, readReceipt, unsettled } from '../wire.js'
import { askAll } from './ask.js'

/** A transaction in which something may have happened, or (`txHash` null) rewards of which one is for an address. */
export interface Hit {
	readonly txHash: Hash | null
	/** By the node's own count; null where it does not say. */
	readonly txIndex: number | null
	readonly block: Header
	/** With all frames above each, the root first; rewards in one order for all nodes. */
	readonly frames: readonly Frame[]
}

export function receiptCall(txHash: string): RpcCall {
	return { method: 'eth_getTransactionReceipt', params: [txHash] }
}

/**
 * What the receipt says of the transaction's success; throws `unsettled` when it is not in that block (any more), and
 * when receipt and root frame contradict each other: `malformed` where the receipt alone says that it failed, which
 * asking again does not change, and `unsettled` where the frame alone does, as Erigon tells it for a moment at its head
 * (erigon#6125).
 */
export function readSuccess(
	raw: unknown,
	{ txHash, block, frames }: Pick<Hit, 'txHash' | 'block' | 'frames'>,
	endpoint: string,
): boolean | null {
	const reading = { endpoint, method: 'eth_getTransactionReceipt' }
	const receipt = readReceipt(raw, reading)
	if (receipt?.block.hash === block.hash) {
		checkRoot(frames[0], receipt.succeeded, txHash, reading)
		return receipt.succeeded
	}
	// Polygon's state sync is in no list of transactions, and not every node has a receipt for it.
	if (receipt === null && txHash !== null && !block.txHashes.includes(txHash)) return null
	throw unsettled(reading, `${txHash} is no longer in block ${block.number}`)
}

function checkRoot(root: Frame | undefined, succeeded: boolean | null, txHash: Hash | null, reading: Reading): void {
	// A root of an unknown kind is no call: the failed deposits of rollups are told so.
	const isKnown = root !== undefined && (root.callType !== null || root.type !== 'call')
	if (!isKnown || succeeded === null || succeeded === (root.error === null)) return
	if (succeeded) throw unsettled(reading, `${txHash} succeeded by its receipt, and its root frame failed`)
	throw malformed(reading, `it says that ${txHash} failed, whose root frame did not`)
}

/**
 * What a receipt says of the fee. No answer depends on it: a fee that is missing or wrong is found when a book does not
 * close.
 */
export function feeIn(raw: unknown): Pick<TxTrace, 'fee'> {
	const payer = isObject(raw) ? address(raw.from) : null
	const wei = feeOf(raw)
	return payer === null || wei === null ? {} : { fee: { payer, wei } }
}

/**
 * Joins trees with their receipts. Without asking, the roots alone say what failed: a question about one transaction
 * would tell the provider what is watched.
 */
export async function withReceipts(
	rpc: Rpc,
	hits: readonly Hit[],
	signal: AbortSignal,
	asks = true,
): Promise<readonly TxTrace[]> {
	const asked = asks ? hits.filter(({ txHash }) => txHash !== null) : []
	const calls = asked.map(({ txHash }) => receiptCall(txHash ?? ''))
	const answers = (await askAll(rpc, calls, signal)).values()
	const transactions = hits.map((hit) => {
		if (!asks || hit.txHash === null) return traceOf(hit, hit.block, null)
		const receipt = answers.next().value
		return { ...traceOf(hit, hit.block, readSuccess(receipt, hit, rpc.endpoint)), ...feeIn(receipt) }
	})
	return transactions.sort(byPlace)
}
