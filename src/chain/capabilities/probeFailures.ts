import { RpcError } from '../../errors.js'
import { receiptCall } from '../blocks/readReceipts.js'
import { isKnown } from '../blocks/receiptNeed.js'
import type { Rpc } from '../rpc/rpc.js'
import { readReceipt } from '../wire/wire.js'
import type { Specimen } from './probeFilter.js'

/** Whether a failed transaction has a root row marked as failed. False if the probed blocks hold none that failed. */
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
		// Receipts are then read until one confirms it.
		return false
	}
}
