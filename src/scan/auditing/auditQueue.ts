import type { BlockRef } from '../../model/chain.js'
import type { NetworkState } from '../../model/state.js'
import { type Handover, isFull, MOST_HELD } from './handover.js'

/** What the scanner has committed and the auditor has not. In memory: after a start, the blocks are read again. */
export interface AuditQueue {
	/** Blocks after those that the auditor has taken in, adjoining and in order. */
	handed: readonly Handover[]
	/** Blocks before the checkpoint that were gaps. */
	gaps: readonly Handover[]
	/** The checkpoint up to which blocks were handed over; null: not known. */
	upTo: BlockRef | null
}

export function createAuditQueue(): AuditQueue {
	return { handed: [], gaps: [], upTo: null }
}

/** If the auditor lags far behind, the oldest blocks are left out: it reads them again. */
export function push(queue: AuditQueue, handover: Handover): void {
	queue.handed = [...queue.handed, handover]
	while (queue.handed.length > 1 && isFull(queue.handed, MOST_QUEUED)) queue.handed = queue.handed.slice(1)
}

const MOST_QUEUED = { blocks: 2n * MOST_HELD.blocks, transactions: 2 * MOST_HELD.transactions }

export function clear(queue: AuditQueue): void {
	queue.handed = []
	queue.gaps = []
}

/** Clears the queue if it does not lead from the auditor's position to the checkpoint: another instance moved them. */
export function checkQueue(queue: AuditQueue, { checkpoint, audit }: NetworkState): void {
	const { upTo, handed } = queue
	const first = handed[0]?.part.span.from
	const isTaken = first !== undefined && audit?.taken != null && first <= audit.taken
	if (isTaken || upTo === null || upTo.number !== checkpoint.number || upTo.hash !== checkpoint.hash) clear(queue)
	queue.upTo = checkpoint
}
