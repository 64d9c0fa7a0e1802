/** Which transactions need their receipts: those of which the trace does not say all that counts. */

import type { AddressSet, Frame } from '../../model/chain.js'
import type { Clock } from '../../model/glossary.js'
import type { Rpc } from '../rpc/rpc.js'

/** One tracer tells rows, another one calls: what was seen of one says nothing of the other. */
export type Tracing = 'trace' | 'debug'

export interface ReceiptNeed {
	/**
	 * Whether it must be asked for. `root`: the transaction's root frame, or null where only frames below it are known,
	 * of which it is also known that neither side of the root is one of the addresses.
	 */
	of(rpc: Rpc, tracing: Tracing, root: Frame | null, addresses: AddressSet): boolean
	/** A receipt came, which says whether the transaction succeeded (null: it does not say), and agrees with the root. */
	note(rpc: Rpc, tracing: Tracing, root: Frame | undefined, succeeded: boolean | null): void
}

export interface ReceiptNeedOptions {
	/** Fees are wanted, of which only receipts tell: for those whom an address has sent. */
	readonly fees: boolean
	/** Whether the endpoint was seen to mark failures of rows before. Default: not. */
	readonly isProved?: (rpc: Rpc) => boolean
	readonly clock: Clock
}

/** The node behind an address may be replaced by another. */
const BELIEVED_MS = 4 * 3_600_000

/**
 * A root frame that did not fail is believed where this endpoint was seen to mark one that did, and a receipt bore it
 * out. One that failed is never believed alone: Erigon marked roots as failed for a moment at its head (docs/nodes.md).
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

/** Every receipt: where nothing is remembered of the endpoint. */
export const everyReceipt: ReceiptNeed = { of: () => true, note() {} }

/** A root of an unknown kind is no call: the failed deposits of rollups are written so. */
export function isKnown({ callType, type }: Pick<Frame, 'callType' | 'type'>): boolean {
	return callType !== null || type !== 'call'
}
