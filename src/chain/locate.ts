/** Where blocks and transactions stand, each one question to one endpoint. */

import { RpcError } from '../errors.js'
import type { Block, BlockRef, Part, Span } from '../model/chain.js'
import type { Hash } from '../model/glossary.js'
import { noteWithdrawals, type WithdrawalLists } from './balances/withdrawals.js'
import { soon } from './endpoints/endpoint.js'
import type { Endpoints } from './endpoints/endpoints.js'
import type { Rpc } from './rpc/rpc.js'
import { blockCall, needBlock } from './sources/ask.js'
import { readBlock, readBlockAt, readReceipt } from './wire.js'

/**
 * Null where no endpoint has the block. One that is behind has not got it yet: up to the head each of them is heard,
 * and what one denies while another gives no answer is not known. Throws RpcError.
 */
export async function findBlock(
	endpoints: Pick<Endpoints, 'use'>,
	{ number, head, lists }: { readonly number: bigint; readonly head: bigint; readonly lists: WithdrawalLists },
	signal: AbortSignal,
): Promise<Block | null> {
	let isDenied = false
	const read = async (rpc: Rpc, until: AbortSignal) => {
		const { method, params } = blockCall(number)
		const raw = await rpc.call(method, params, until)
		const block = readBlockAt(raw, number, { endpoint: rpc.endpoint, method })
		if (block !== null) noteWithdrawals(lists, block, rpc.endpoint)
		if (block !== null || number > head) return block
		isDenied = true
		return needBlock(raw, number, rpc.endpoint)
	}
	try {
		return await endpoints.use(read, signal, soon)
	} catch (error) {
		// What may pass by itself is thrown before it.
		if (isDenied && error instanceof RpcError && error.kind === 'no-data') return null
		throw error
	}
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
