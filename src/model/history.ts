/** What was sent, and what became of it: kept for a while after the outbox has forgotten it. */

import type { Message } from './alert.js'
import type { Delivery, DeliveryStatus } from './delivery.js'

/**
 * How a delivery left the outbox. `delivered`: the receiver took it. `dropped`: an operator said that nobody is to be
 * sent it. `split`: a digest that was refused, whose alerts went on one by one.
 */
export type HistoryResult = 'delivered' | 'dropped' | 'split'

/** One delivery that has left the outbox. */
export interface HistoryRow extends Pick<Delivery, 'id' | 'receiver' | 'recipient' | 'createdAtMs' | 'lastError'> {
	/** Grows from row to row; no two rows of one history have the same. */
	readonly seq: number
	/** When it left the outbox. */
	readonly endedAtMs: number
	readonly result: HistoryResult
	/** All of them, the last one too. */
	readonly attempts: number
	/** What the receiver said when it took it, in a few words; null where it said nothing. */
	readonly answer: string | null
	readonly message: Message
}

/** Rows that could not be kept, since the history could not be written for long: said, where nothing else can be. */
export interface HistoryHole {
	readonly seq: number
	/** Of the last row that is missing. */
	readonly endedAtMs: number
	readonly hole: { readonly rows: number; readonly fromMs: number }
}

export type HistoryEntry = HistoryRow | HistoryHole

/** A delivery wherever it stands: in the outbox still, or in the history. */
export interface DeliveryRow
	extends Pick<Delivery, 'id' | 'receiver' | 'recipient' | 'attempts' | 'lastError' | 'message'> {
	readonly result: HistoryResult | DeliveryStatus
	readonly toldAtMs: number
	/** Null while it stands in the outbox. */
	readonly endedAtMs: number | null
	/** Only of one that is tried again by itself, or let go by a digest or a silence. */
	readonly nextAttemptAtMs: number | null
	readonly answer: string | null
}

/** Which rows are asked for; absent fields do not matter. */
export interface HistoryQuery {
	/** Of the watch, in whatever case. */
	readonly address?: string
	readonly network?: string
	/** A kind of alert, or the end of a message's type: `removed`, `digest`, `stalled`. */
	readonly kind?: string
	readonly receiver?: string
	/** Part of a label, a tag, an address or an id, in whatever case. */
	readonly text?: string
	/** Ended then or later, or not yet. */
	readonly sinceMs?: number
}

/** An entry, and where to go on from for what is older. */
export interface HistoryFound {
	readonly entry: HistoryEntry
	/** Text of a few letters, digits, dashes and colons. */
	readonly cursor: string
}

/** Reads what was kept, beside whoever writes it. */
export interface HistoryReader {
	/**
	 * Newest first, from the newest or below a cursor; those that surely do not match are passed over, others may come.
	 * Memory does not grow with what is read. A null comes now and then where nothing was found for a while: who has
	 * looked long enough can stop there. Throws StateError `disk`.
	 */
	read(
		query: HistoryQuery,
		below: string | null,
	): AsyncIterable<HistoryFound | { readonly cursor: string; readonly entry: null }>
	close(): Promise<void>
}
