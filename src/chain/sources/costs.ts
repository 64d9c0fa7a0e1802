/** What the sources must know to choose the cheapest of several exact ways. */

import { inCalls, type PriceOf } from '../../core/cost.js'
import type { Rpc } from '../rpc/rpc.js'
import { everyReceipt, type ReceiptNeed } from './receiptNeed.js'

export interface Costs {
	readonly receipts: ReceiptNeed
	/** What an endpoint's calls cost; 1 each where its provider's prices are not known. */
	priceAt(rpc: Rpc): PriceOf
	/** Rows of a whole block, as blocks lately were; null before the first. */
	rowsPerBlock(): number | null
	/** Whether this endpoint was seen to give whole blocks of rows, rightly. */
	hasWholeBlocks(rpc: Rpc): boolean
}

/** Nothing is known: every receipt is asked for, and each tree by itself. */
export const unknownCosts: Costs = {
	receipts: everyReceipt,
	priceAt: () => inCalls,
	rowsPerBlock: () => null,
	hasWholeBlocks: () => false,
}
