import type { Finality } from '../model/alert.js'
import type { Block, Head } from '../model/chain.js'
import type { Confirmations, Network } from '../model/watch.js'

/** Depth at which a block counts as settled if the node does not know `finalized`. */
const defaultSettleDepth = 64n

/** Blocks below the settled one whose announcements are kept, for reorganisations deeper than expected. */
export const rememberedBlocks = 256n

/** The last block to announce now: head minus confirmations, at least 0. Null if the node does not know the tag. */
export function targetOf(head: Head, confirmations: Confirmations): bigint | null {
	if (confirmations === 'safe') return head.safe
	if (confirmations === 'finalized') return head.finalized
	return atLeastZero(head.latest.number - BigInt(confirmations))
}

/** A head that ends at this block; its tags are at most this block. */
export function endingAt({ safe, finalized }: Head, latest: Block): Head {
	const upTo = (number: bigint | null) => (number !== null && number > latest.number ? latest.number : number)
	return { latest, safe: upTo(safe), finalized: upTo(finalized) }
}

/** The last settled block, which can be looked at for the last time. */
export function settleTargetOf(head: Head, network: Pick<Network, 'settle'>): bigint {
	if (network.settle !== 'finalized') return atLeastZero(head.latest.number - BigInt(network.settle))
	return head.finalized ?? atLeastZero(head.latest.number - defaultSettleDepth)
}

/** Milliseconds by block timestamps since the head was as far above the block as it now is above the target. */
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
