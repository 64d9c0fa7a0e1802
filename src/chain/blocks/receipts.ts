import type { AddressSet, Frame, TxTrace } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import type { Rpc } from '../rpc/rpc.js'
import { byPlace, traceOf } from '../traces/assemble.js'
import { address, type Header, isObject, malformed, type Reading, readReceipt, unsettled } from '../wire/wire.js'
import type { Costs } from './costs.js'
import { feeOf } from './fee.js'
import { type Answers, planReceipts, readReceipts, receiptAt, type Wanted, withOwnReceipts } from './readReceipts.js'
import { isKnown, type Tracing } from './receiptNeed.js'

/** A transaction in which something may have happened, or (`txHash` null) rewards of which one is for an address. */
export interface Hit {
	readonly txHash: Hash | null
	/** The node's own index; null where it gives none. */
	readonly txIndex: number | null
	readonly block: Header
	/** With all frames above each, the root first; rewards in the same order for all nodes. */
	readonly frames: readonly Frame[]
}

/**
 * Whether the transaction succeeded, by its receipt; null where the receipt does not say. Throws `unsettled` if it is
 * not in that block (any more). Throws if receipt and root frame contradict each other: `malformed` if only the receipt
 * says that it failed, which a retry does not change; `unsettled` if only the frame does, as Erigon reports for a
 * moment at its head (erigon#6125).
 */
export function readSuccess(
	raw: unknown,
	{ txHash, block, frames }: Pick<Hit, 'txHash' | 'block' | 'frames'>,
	endpoint: string,
): boolean | null {
	const reading = { endpoint, method: 'eth_getTransactionReceipt' }
	const receipt = readReceipt(raw, txHash, reading)
	if (receipt?.block.hash === block.hash) {
		checkRoot(frames[0], receipt.succeeded, txHash, reading)
		return receipt.succeeded
	}
	// Polygon's state sync is in no list of transactions, and not every node has a receipt for it.
	if (receipt === null && txHash !== null && !block.txHashes.includes(txHash)) return null
	throw unsettled(reading, `${txHash} is no longer in block ${block.number}`)
}

function checkRoot(root: Frame | undefined, succeeded: boolean | null, txHash: Hash | null, reading: Reading): void {
	if (root === undefined || !isKnown(root) || succeeded === null || succeeded === (root.error === null)) return
	if (succeeded) throw unsettled(reading, `${txHash} succeeded by its receipt, and its root frame failed`)
	throw malformed(reading, `it says that ${txHash} failed, whose root frame did not`)
}

/** The fee by the receipt. No answer depends on it: a missing or wrong fee is found when a book does not close. */
export function feeIn(raw: unknown): Pick<TxTrace, 'fee'> {
	const payer = isObject(raw) ? address(raw.from) : null
	const wei = feeOf(raw)
	return payer === null || wei === null ? {} : { fee: { payer, wei } }
}

export async function withReceipts(
	rpc: Rpc,
	hits: readonly Hit[],
	question: Joining & { readonly addresses: AddressSet },
	signal: AbortSignal,
): Promise<readonly TxTrace[]> {
	const { addresses, tracing, costs } = question
	const needed = hits.filter(({ frames: [root = null] }) => costs.receipts.of(rpc, tracing, root, addresses))
	const wanted = needed.map(wantedOf)
	const answers = await withOwnReceipts(rpc, wanted, await readReceipts(rpc, planReceipts(rpc, wanted), signal), signal)
	return hits.map((hit) => joined(rpc, hit, answers, question)).sort(byPlace)
}

export function wantedOf({ txHash, block }: Pick<Hit, 'txHash' | 'block'>): Wanted {
	return { txHash, blockNumber: block.number, ofTransactions: block.txHashes.length }
}

/** Without receipts only the roots show what failed; reading a receipt would tell the provider what is watched. */
export function withoutReceipts(hits: readonly Hit[]): readonly TxTrace[] {
	return hits.map((hit) => traceOf(hit, hit.block, null)).sort(byPlace)
}

interface Joining {
	readonly tracing: Tracing
	readonly costs: Costs
}

/** One transaction with its receipt's outcome and fee, where the receipt was read. Throws as `readSuccess` does. */
export function joined(rpc: Rpc, hit: Hit, answers: Answers, { tracing, costs }: Joining): TxTrace {
	if (hit.txHash === null || !answers.has(hit.txHash)) return traceOf(hit, hit.block, null)
	const receipt = receiptAt(answers, hit.txHash, hit.block.number)
	const succeeded = readSuccess(receipt, hit, rpc.endpoint)
	costs.receipts.note(rpc, tracing, hit.frames[0], succeeded)
	return { ...traceOf(hit, hit.block, succeeded), ...feeIn(receipt) }
}
