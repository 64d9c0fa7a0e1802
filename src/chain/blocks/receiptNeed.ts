/** Which transactions need their receipts: those whose trace does not tell everything relevant. */

import type { AddressSet, Frame } from '../../model/chain.js'
import type { Clock } from '../../model/glossary.js'
import type { Rpc } from '../rpc/rpc.js'

/** One tracer gives rows, the other nested calls: results of one do not apply to the other. */
export type Tracing = 'trace' | 'debug'

export interface ReceiptNeed {
	/** Whether the receipt must be read. `root` null: only frames below it are known, and no party of it is watched. */
	of(rpc: Rpc, tracing: Tracing, root: Frame | null, addresses: AddressSet): boolean
	/** A receipt came that agrees with the root. `succeeded`: by the receipt; null where it does not say. */
	note(rpc: Rpc, tracing: Tracing, root: Frame | undefined, succeeded: boolean | null): void
}

export interface ReceiptNeedOptions {
	/** Fees are wanted, which are in receipts only: for transactions that an address has sent. */
	readonly fees: boolean
	/** Whether the endpoint was seen to mark failed rows before. Default: no. */
	readonly isProved?: (rpc: Rpc) => boolean
	readonly clock: Clock
}

/** The node behind a URL may be replaced by another. */
const BELIEVED_MS = 4 * 3_600_000

/**
 * A root frame without an error is trusted if this endpoint was seen to mark a failed one, confirmed by a receipt. A
 * failed one is never trusted alone: Erigon marked roots as failed for a moment at its head (docs/nodes.md).
 */
export function createReceiptNeed({ fees, isProved = () => false, clock }: ReceiptNeedOptions): ReceiptNeed {
	const seen = new WeakMap<Rpc, Map<Tracing, number>>()

	function marksFailures(rpc: Rpc, tracing: Tracing): boolean {
		if (tracing === 'trace' && isProved(rpc)) return true
		return clock() - (seen.get(rpc)?.get(tracing) ?? Number.NEGATIVE_INFINITY) < BELIEVED_MS
	}

	return {
		of(rpc, tracing, root, addresses) {
			if (!marksFailures(rpc, tracing)) return true
			if (root === null) return false
			const saysWell = root.error === null && isKnown(root)
			return !saysWell || (fees && root.from !== null && addresses.has(root.from))
		},
		note(rpc, tracing, root, succeeded) {
			if (succeeded !== false || root === undefined || root.error === null || !isKnown(root)) return
			const own = seen.get(rpc) ?? new Map<Tracing, number>()
			seen.set(rpc, own.set(tracing, clock()))
		},
	}
}

/** Reads every receipt: for endpoints without any record. */
export const everyReceipt: ReceiptNeed = { of: () => true, note() {} }

/** A root of an unknown kind is no call: failed deposits of rollups are written like that. */
export function isKnown({ callType, type }: Pick<Frame, 'callType' | 'type'>): boolean {
	return callType !== null || type !== 'call'
}
