import { RpcError } from '../../errors.js'
import { askAll } from '../blocks/batchedCalls.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import type { Header } from '../wire/wire.js'

/** Whether the trace of one block was larger than the endpoint gives or than the size limit here. */
export function isTooMuchAtOnce(error: unknown): boolean {
	return error instanceof RpcError && (error.kind === 'too-large' || error.kind === 'timeout')
}

/**
 * Reads the traces of one block, transaction by transaction, in the order of its list, so that one oversized
 * transaction costs no more than itself. Throws RpcError.
 */
export async function askByTransaction(
	rpc: Rpc,
	block: Header,
	callFor: (txHash: string) => RpcCall,
	signal: AbortSignal,
): Promise<readonly unknown[]> {
	return askAll(rpc, block.txHashes.map(callFor), signal)
}
