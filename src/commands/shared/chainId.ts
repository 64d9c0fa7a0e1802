import { createRpc } from '../../chain/rpc/rpc.js'
import { quantity } from '../../chain/wire/wire.js'
import { PlainError, RpcError } from '../../errors.js'

/**
 * Asks a node for its chain id: the first thing done with a URL that a person has just given. Throws RpcError, or
 * PlainError when the node is not one of an EVM chain.
 */
export async function chainIdOf(url: string, signal: AbortSignal): Promise<bigint> {
	const rpc = createRpc({ url, requestsPerSecond: null, clock: Date.now })
	try {
		const chainId = quantity(await rpc.call('eth_chainId', [], signal))
		if (chainId !== null) return chainId
		throw new PlainError(`${rpc.endpoint} does not report its chain id: it is not a node of an EVM chain`)
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		const words = `${error.message}. To do: look at the URL: its host, its port, its path and the key in it`
		throw new RpcError(words, error.facts, { cause: error })
	} finally {
		await rpc.close()
	}
}
