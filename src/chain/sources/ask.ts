import { RpcError } from '../../errors.js'
import type { Block } from '../../model.js'
import type { Rpc, RpcCall } from '../rpc.js'
import { hexOf, readBlockAt } from '../wire.js'

/** Calls put into one batch, so that a body stays of a size that proxies take. */
const CALLS_PER_BATCH = 100

/** Makes several calls, batched and answered in their order; throws the first failure. */
export async function askAll(rpc: Rpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
	const answers: unknown[] = []
	for (let start = 0; start < calls.length; start += CALLS_PER_BATCH) {
		for (const answer of await rpc.batch(calls.slice(start, start + CALLS_PER_BATCH), signal)) {
			if (answer instanceof RpcError) throw answer
			answers.push(answer)
		}
	}
	return answers
}

export function blockCall(number: bigint): RpcCall {
	return { method: 'eth_getBlockByNumber', params: [hexOf(number), false] }
}

/** A header that must be there: an endpoint without the block cannot be believed about what is in it. */
export function needBlock(raw: unknown, number: bigint, endpoint: string): Block {
	const method = 'eth_getBlockByNumber'
	const block = readBlockAt(raw, number, { endpoint, method })
	if (block === null) throw new RpcError(`${endpoint} has no block ${number}`, { kind: 'no-data', endpoint, method })
	return block
}
