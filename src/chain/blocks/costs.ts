/** Needs by which the sources choose the cheapest of several exact ways. */

import type { Rpc } from '../rpc/rpc.js'
import { everyReceipt, type ReceiptNeed } from './receiptNeed.js'

export interface Costs {
	readonly receipts: ReceiptNeed
	/** Rows of a whole block, averaged over recent blocks; null before the first. */
	rowsPerBlock(): number | null
	/** Whether this endpoint was seen to give correct whole blocks of rows. */
	hasWholeBlocks(rpc: Rpc): boolean
}

/** Without any knowledge: every receipt is read, and each tree by itself. */
export const unknownCosts: Costs = {
	receipts: everyReceipt,
	rowsPerBlock: () => null,
	hasWholeBlocks: () => false,
}
