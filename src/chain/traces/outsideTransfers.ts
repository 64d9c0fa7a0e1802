import { isObject, type Json, type Reading } from '../wire/wire.js'

/**
 * Arbitrum moves coins outside of its EVM, and callTracer lists them beside the root frame: fees, deposits, retryable
 * tickets and their refunds. They are no frames and are not covered (docs/nodes.md, "What no node shows as a frame").
 * Transfers other than fees are logged once, like an unknown kind of frame.
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
