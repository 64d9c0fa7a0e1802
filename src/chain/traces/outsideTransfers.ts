import { isObject, type Json, type Reading } from '../wire.js'

/**
 * Arbitrum moves coins outside of its EVM, and callTracer gives them beside the root frame: fees, and with a deposit,
 * a retryable ticket or its refund the coins of somebody. They are no frames and are not covered (docs/nodes.md,
 * "What no node tells as a frame"); what is not a fee is said once, like a kind of frame that is not known.
 */
const FIELDS = ['beforeEVMTransfers', 'afterEVMTransfers'] as const
/** Every transaction has these. */
const FEES: ReadonlySet<unknown> = new Set(['feePayment', 'gasRefund', 'feeCollection'])

export function noteOutsideTransfers(root: Json, { onUnknown }: Reading): void {
	if (onUnknown === undefined) return
	for (const field of FIELDS) {
		const transfers = root[field]
		if (!Array.isArray(transfers)) continue
		for (const transfer of transfers as readonly unknown[]) {
			const purpose = isObject(transfer) ? transfer.purpose : undefined
			if (!FEES.has(purpose)) onUnknown(`${field}${typeof purpose === 'string' ? `: ${purpose}` : ''}`)
		}
	}
}
