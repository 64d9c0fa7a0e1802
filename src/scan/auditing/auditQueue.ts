import type { BlockRef, Part } from '../../model/chain.js'
import type { Commit, NetworkState } from '../../model/state.js'
import { type Handover, isFull, MOST_HELD } from './handover.js'

/** What the scanner has committed and the auditor has not. In memory: after a start, the blocks are read again. */
export interface AuditQueue {
	/** Blocks after those that the auditor has taken in, adjoining and in order. */
	handed: readonly Handover[]
	/** First block that was left out; null: none. The position of books, where they are kept, says the same. */
	leftOut: bigint | null
	/** Failed tries to read them again, the time of the first, and the last block that was left out; null: none. */
	failed: { readonly tries: number; readonly sinceMs: number; readonly leftOut: bigint | null } | null
	/** Blocks before the checkpoint that were gaps. */
	gaps: readonly Handover[]
	/** A second reading that retracts what balances may confirm; null: none waits. */
	contested: Contested | null
	/** The checkpoint up to which blocks were handed over; null: not known. */
	upTo: BlockRef | null
}

export interface Contested {
	readonly part: Part
	/** To be committed with what it leads to. */
	readonly step: Pick<Commit, 'settled'>
}

export function createAuditQueue(): AuditQueue {
	return { handed: [], leftOut: null, failed: null, gaps: [], contested: null, upTo: null }
}

/** If the auditor lags far behind, the oldest blocks are left out: it reads them again. */
export function push(queue: AuditQueue, handover: Handover): void {
	queue.handed = [...queue.handed, handover]
	while (queue.handed.length > 1 && isFull(queue.handed, MOST_QUEUED)) {
		queue.leftOut ??= queue.handed[0]?.part.span.from ?? null
		queue.handed = queue.handed.slice(1)
	}
}

const MOST_QUEUED = { blocks: 2n * MOST_HELD.blocks, transactions: 2 * MOST_HELD.transactions }

function clear(queue: AuditQueue): void {
	queue.handed = []
	queue.leftOut = null
	queue.failed = null
	queue.gaps = []
	queue.contested = null
}

/** When the checkpoint moves back: what was queued up to it is read again, what comes after it left the chain. */
export function cutBack(queue: AuditQueue, checkpoint: bigint): void {
	const first = queue.leftOut ?? queue.handed[0]?.part.span.from
	clear(queue)
	if (first !== undefined && first <= checkpoint) queue.leftOut = first
}

/** Clears the queue if it does not lead from the auditor's position to the checkpoint: another instance moved them. */
export function checkQueue(queue: AuditQueue, { checkpoint, audit }: NetworkState): void {
	const { upTo, handed } = queue
	const first = handed[0]?.part.span.from
	const isTaken = first !== undefined && audit?.taken != null && first <= audit.taken
	if (isTaken || upTo === null || upTo.number !== checkpoint.number || upTo.hash !== checkpoint.hash) clear(queue)
	queue.upTo = checkpoint
}
