import type { Frame } from '../../model/chain.js'

/**
 * Numbers frames alike for all nodes, because alert ids contain the numbers. The numbering is that of the trace_*
 * methods of OpenEthereum, Erigon, Nethermind and Reth, which leave out calls to precompiled contracts that carry no
 * value. geth's callTracer and Anvil list those calls, which would shift all later siblings (docs/nodes.md, "The three
 * ways to read a block").
 */

/** Precompiled contracts of Ethereum up to Osaka: 0x1 to 0x11, and 0x100. */
const PRECOMPILED = /^0x0{38}(?:0[1-9a-f]|1[01])$|^0x0{37}100$/

/** Whether the numbering leaves out this frame, which is not a root. */
export function isLeftOut({ type, callType, valueWei, to }: Omit<Frame, 'traceAddress'>): boolean {
	if (type !== 'call' || to === null) return false
	return (callType !== 'call' || valueWei === 0n) && PRECOMPILED.test(to)
}
