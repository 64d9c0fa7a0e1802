import { RpcError } from '../../errors.js'
import type { Rpc } from '../rpc/rpc.js'
import { receiptCall } from '../sources/readReceipts.js'
import { isKnown } from '../sources/receiptNeed.js'
import { readReceipt } from '../wire.js'
import type { Specimen } from './probeFilter.js'

/**
 * Whether a transaction that failed by its receipt was seen to have a root row that says so: then rows are believed
 * about success. False where the blocks looked at hold none that failed.
 */
export async function probeFailures(rpc: Rpc, specimens: readonly Specimen[], signal: AbortSignal): Promise<boolean> {
	const rows = specimens.flatMap((specimen) => specimen.rows)
	const failed = rows.find(
		({ frame, traceAddress }) => traceAddress.length === 0 && frame.error !== null && isKnown(frame),
	)
	const txHash = failed?.txHash ?? null
	if (failed === undefined || txHash === null) return false
	const reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
	try {
		const { method, params } = receiptCall(txHash)
		const receipt = readReceipt(await rpc.call(method, params, signal), txHash, reading)
		return receipt?.block.hash === failed.blockHash && receipt.succeeded === false
	} catch (error) {
		signal.throwIfAborted()
		if (!(error instanceof RpcError)) throw error
		// Then receipts are asked for until one bears it out.
		return false
	}
}
