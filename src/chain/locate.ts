/** Where blocks and transactions stand, each one question to one endpoint. */

import type { Block, BlockRef, Part, Span } from '../model/chain.js'
import type { Hash } from '../model/glossary.js'
import { noteWithdrawals, type WithdrawalLists } from './balances/withdrawals.js'
import type { Rpc } from './rpc/rpc.js'
import { blockCall, needBlock } from './sources/ask.js'
import { readBlock, readBlockAt, readReceipt } from './wire.js'

export async function readBlockOf(
	rpc: Rpc,
	number: bigint,
	lists: WithdrawalLists,
	signal: AbortSignal,
): Promise<Block | null> {
	const { method, params } = blockCall(number)
	const header = readBlockAt(await rpc.call(method, params, signal), number, { endpoint: rpc.endpoint, method })
	if (header !== null) noteWithdrawals(lists, header, rpc.endpoint)
	return header
}

export async function locateAt(rpc: Rpc, txHash: Hash, signal: AbortSignal): Promise<BlockRef | null> {
	const method = 'eth_getTransactionReceipt'
	const raw = await rpc.call(method, [txHash], signal)
	return readReceipt(raw, txHash, { endpoint: rpc.endpoint, method })?.block ?? null
}

export async function headerOnly(rpc: Rpc, span: Span, signal: AbortSignal): Promise<Part> {
	const { method, params } = blockCall(span.to)
	const last = needBlock(await rpc.call(method, params, signal), span.to, rpc.endpoint)
	return { span, last, blocks: new Map(), transactions: [] }
}

/** The number of the block with this hash; null where the endpoint has none (any more). */
export async function numberOf(rpc: Rpc, blockHash: Hash, signal: AbortSignal): Promise<bigint | null> {
	const method = 'eth_getBlockByHash'
	const block = readBlock(await rpc.call(method, [blockHash, false], signal), { endpoint: rpc.endpoint, method })
	return block?.hash === blockHash ? block.number : null
}

/**
 * The newest block of the span, not its last, that some endpoint says to have: others may claim what they cannot show.
 */
export function headWithin({ from, to }: Span, states: Iterable<{ readonly head: bigint | null }>): bigint | null {
	let reached: bigint | null = null
	for (const { head: claimed } of states) {
		if (claimed !== null && claimed >= from && claimed < to && (reached === null || claimed > reached))
			reached = claimed
	}
	return reached
}
