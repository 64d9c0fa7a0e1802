import type { Finality } from '../model/alert.js'
import type { Block, Head } from '../model/chain.js'
import type { Confirmations, Network } from '../model/watch.js'

/** Blocks behind the head after which a block counts as settled, where the node does not know `finalized`. */
const defaultSettleDepth = 64n

/**
 * Blocks below the settled one whose alerts are still remembered. A chain that is reorganised deeper than it should
 * ever be is compared from there, instead of being sent twice or not at all.
 */
export const rememberedBlocks = 256n

/**
 * The last block to announce from now: head less confirmations; never below 0. Null where the node does not know the
 * tag.
 */
export function targetOf(head: Head, confirmations: Confirmations): bigint | null {
	if (confirmations === 'safe') return head.safe
	if (confirmations === 'finalized') return head.finalized
	return atLeastZero(head.latest.number - BigInt(confirmations))
}

/** The last block that has settled and can be looked at for the last time. */
export function settleTargetOf(head: Head, network: Pick<Network, 'settle'>): bigint {
	if (network.settle !== 'finalized') return atLeastZero(head.latest.number - BigInt(network.settle))
	return head.finalized ?? atLeastZero(head.latest.number - defaultSettleDepth)
}

/**
 * Milliseconds for which a block could already have been announced, going by the timestamps between it and the head: it
 * was due when the head stood as far above it as the head stands above the target now.
 */
export function overdueMs(block: Block, target: bigint, head: Block): number {
	const above = head.number - block.number
	if (above <= 0n || block.number >= target) return 0
	const ageMs = Number(head.timestampS - block.timestampS) * 1000
	return (ageMs * Number(target - block.number)) / Number(above)
}

export function finalityOf(blockNumber: bigint, head: Head): Finality {
	if (head.finalized !== null && blockNumber <= head.finalized) return 'finalized'
	if (head.safe !== null && blockNumber <= head.safe) return 'safe'
	return 'latest'
}

function atLeastZero(number: bigint): bigint {
	return number < 0n ? 0n : number
}
