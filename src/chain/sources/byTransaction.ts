import { RpcError } from '../../errors.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import type { Header } from '../wire.js'
import { askAll } from './ask.js'

/** Whether a block's trace, asked for alone, was more than the endpoint gives or than is read at once. */
export function isTooMuchAtOnce(error: unknown): boolean {
	return error instanceof RpcError && (error.kind === 'too-large' || error.kind === 'timeout')
}

/**
 * The traces of one block, transaction by transaction, in the order of its list: so that a transaction which somebody
 * made large costs no more than itself. Throws RpcError.
 */
export async function askByTransaction(
	rpc: Rpc,
	block: Header,
	callFor: (txHash: string) => RpcCall,
	signal: AbortSignal,
): Promise<readonly unknown[]> {
	return askAll(rpc, block.txHashes.map(callFor), signal)
}
