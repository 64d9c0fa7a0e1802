/** The room reads headers and receipts, and their fees and withdrawals. Here: calls in batches. */

import { RpcError } from '../../errors.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { type Header, hexOf, readBlockAt } from '../wire/wire.js'

/** Makes several calls, batched and answered in their order; throws the first failure. */
export async function askAll(rpc: Rpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
	if (calls.length === 0) return []
	const answers = await rpc.batch(calls, signal)
	for (const answer of answers) if (answer instanceof RpcError) throw answer
	return answers
}

export function blockCall(number: bigint): RpcCall {
	return { method: 'eth_getBlockByNumber', params: [hexOf(number), false] }
}

/** A header that must exist: an endpoint without the block cannot be trusted about its contents. Throws RpcError. */
export function needBlock(raw: unknown, number: bigint, endpoint: string): Header {
	const method = 'eth_getBlockByNumber'
	const block = readBlockAt(raw, number, { endpoint, method })
	if (block === null) throw new RpcError(`${endpoint} has no block ${number}`, { kind: 'no-data', endpoint, method })
	return block
}
