/** History: deliveries that have left the outbox, kept for a limited time. */

import type { Message } from './alert.js'
import type { Delivery, ShownStatus } from './delivery.js'

/** How a delivery left the outbox. `dropped`: by the operator. `folded`: another delivery carries its content. */
export type HistoryResult = 'delivered' | 'dropped' | 'folded'

export interface HistoryRow extends Pick<Delivery, 'id' | 'receiver' | 'recipient' | 'createdAtMs' | 'lastError'> {
	/** Increases from row to row; unique within one history. */
	readonly seq: number
	/** When it left the outbox. */
	readonly endedAtMs: number
	readonly result: HistoryResult
	/** All attempts, including the last. */
	readonly attempts: number
	/** The receiver's answer in a few words; null where there was none. */
	readonly answer: string | null
	readonly message: Message
}

/** Stands for rows that were lost because the history could not be written for too long. */
export interface HistoryHole {
	readonly seq: number
	/** When the last of the missing rows ended. */
	readonly endedAtMs: number
	readonly hole: { readonly rows: number; readonly fromMs: number }
}

export type HistoryEntry = HistoryRow | HistoryHole

/** A delivery in the outbox or in the history. */
export interface DeliveryRow extends Omit<HistoryRow, 'seq' | 'endedAtMs' | 'result'> {
	readonly result: HistoryResult | ShownStatus
	/** Null while the delivery is in the outbox. */
	readonly endedAtMs: number | null
	/** Null or absent unless the delivery is retried automatically, or a digest rule will release it. */
	readonly nextAttemptAtMs?: number | null
}

/** Filter for rows; an absent field matches everything. */
export interface HistoryQuery {
	/** Of the watch, in any letter case. */
	readonly address?: string
	readonly network?: string
	/** A kind of alert, or the end of a message's type: `removed`, `digest`, `stalled`. */
	readonly kind?: string
	readonly receiver?: string
	/** Part of a label, tag, address or id, in any letter case. */
	readonly text?: string
	/** Matches deliveries that ended at or after this time, and those that have not ended. */
	readonly sinceMs?: number
}

export interface HistoryFound {
	readonly entry: HistoryEntry
	/** A short text of letters, digits, dashes and colons. */
	readonly cursor: string
}

/** Reads the history while it is being written. */
export interface HistoryReader {
	/**
	 * Newest first, from the newest entry or below a cursor. Leaves out entries that certainly do not match, but may
	 * yield others that do not match. Memory does not grow with the number of entries read. Yields a null entry from time
	 * to time while nothing matches, so that the caller can stop after a time limit. Throws StateError `disk`.
	 */
	read(
		query: HistoryQuery,
		below: string | null,
	): AsyncIterable<HistoryFound | { readonly cursor: string; readonly entry: null }>
	close(): Promise<void>
}
