/** Pays from an unlocked account of a node, for trying out watchlists. */
import { PlainError } from '../errors.js'
import type { Address } from '../model/glossary.js'
import { RpcFault } from './jsonrpc.js'
import { connectUpstream } from './upstream.js'

export interface Paid {
	readonly txHash: string
	readonly from: string
	/** Null while the payment is not in a block. */
	readonly blockNumber: bigint | null
}

/**
 * Pays from the first account of the node at `url`. Waits at most 1 s for its block.
 *
 * @throws PlainError when the node does not answer, has no unlocked account or refuses the payment.
 */
export async function pay(
	url: string,
	{ to, valueWei }: { readonly to: Address; readonly valueWei: bigint },
	signal: AbortSignal,
): Promise<Paid> {
	if (!URL.canParse(url) || !/^https?:/.test(url)) throw new PlainError('--rpc must be an http or https URL')
	const node = connectUpstream(url)
	try {
		const [from] = (await node.call('eth_accounts', [], signal)) as readonly string[]
		if (from === undefined) throw new PlainError('the node at --rpc has no unlocked account: it is no devnode')
		const payment = { from, to, value: `0x${valueWei.toString(16)}` }
		const txHash = (await node.call('eth_sendTransaction', [payment], signal)) as string
		return { txHash, from, blockNumber: await blockOf(txHash) }
	} catch (error) {
		if (!(error instanceof RpcFault)) throw error
		throw new PlainError(`${error.message}; \`tracewatch devnode\` starts a node that can pay`, { cause: error })
	} finally {
		await node.close()
	}

	async function blockOf(txHash: string): Promise<bigint | null> {
		// 50 attempts with pauses of 20 ms. Attempts are counted instead of time, since this process may be paused.
		for (let asked = 0; asked < 50; asked++) {
			const receipt = (await node.call('eth_getTransactionReceipt', [txHash], signal)) as { blockNumber: string } | null
			if (receipt !== null) return BigInt(receipt.blockNumber)
			await new Promise((resolve) => setTimeout(resolve, 20))
		}
		return null
	}
}
