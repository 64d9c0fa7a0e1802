import { RpcError } from '../../errors.js'
import { askQuantity } from '../heads/heads.js'
import type { Rpc } from '../rpc/rpc.js'

/** Throws RpcError of kind `malformed` with `wrongChainId` when the endpoint is on another chain. */
export async function checkChain(
	rpc: Pick<Rpc, 'endpoint' | 'call'>,
	chainId: number,
	signal: AbortSignal,
): Promise<void> {
	const id = await askQuantity(rpc, 'eth_chainId', signal)
	if (id === BigInt(chainId)) return
	throw new RpcError(`${rpc.endpoint} is on chain ${id}, but chain ${chainId} is configured`, {
		kind: 'malformed',
		endpoint: rpc.endpoint,
		method: 'eth_chainId',
		wrongChainId: String(id),
	})
}
