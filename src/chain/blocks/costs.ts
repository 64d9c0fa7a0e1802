/** Prices and needs by which the sources choose the cheapest of several exact ways. */

import { inCalls, type PriceOf } from '../../core/cost/cost.js'
import type { Rpc } from '../rpc/rpc.js'
import { everyReceipt, type ReceiptNeed } from './receiptNeed.js'

export interface Costs {
	readonly receipts: ReceiptNeed
	/** What an endpoint's calls cost; 1 each where its provider's prices are not known. */
	priceAt(rpc: Rpc): PriceOf
	/** Rows of a whole block, averaged over recent blocks; null before the first. */
	rowsPerBlock(): number | null
	/** Whether this endpoint was seen to give correct whole blocks of rows. */
	hasWholeBlocks(rpc: Rpc): boolean
}

/** Without any knowledge: every receipt is read, and each tree by itself. */
export const unknownCosts: Costs = {
	receipts: everyReceipt,
	priceAt: () => inCalls,
	rowsPerBlock: () => null,
	hasWholeBlocks: () => false,
}
