/** Rows of history that wait in the state until they are written to their own files. */

import { historyRowOf } from '../core/outbox/historyEntries.js'
import type { Delivery } from '../model/delivery.js'
import type { HistoryEntry } from '../model/history.js'
import type { HistoryQueue } from './document.js'

export interface HistoryDraft {
	next: number
	readonly entries: HistoryEntry[]
}

/** State of the history's own files; null: no history is kept. */
export type HistoryKeeping = {
	/** Number of the last row in the files. */
	readonly writtenTo: number
} | null

/** Leaves out rows that are already in the files. */
export function historyDraftOf({ next, entries }: HistoryQueue, keeping: HistoryKeeping): HistoryDraft | null {
	if (keeping === null) return null
	const { writtenTo } = keeping
	// The files may have more rows than a state that was restored from a copy.
	return { next: Math.max(next, writtenTo + 1), entries: entries.filter(({ seq }) => seq > writtenTo) }
}

/** Limit of waiting rows; above it, the oldest half is replaced by a hole. */
export const mostWaitingRows = 20_000

/** Adds a row to the draft. It is part of a write that happens anyway: the history causes no writes of its own. */
export function keepRow(
	history: HistoryDraft | null,
	delivery: Delivery,
	ended: Parameters<typeof historyRowOf>[1],
): void {
	if (history === null) return
	history.entries.push({ seq: history.next, ...historyRowOf(delivery, ended) })
	history.next += 1
	if (history.entries.length <= mostWaitingRows) return
	const gone = history.entries.splice(0, mostWaitingRows / 2)
	const last = gone.at(-1)
	if (last === undefined) return
	const rows = gone.reduce((sum, entry) => sum + ('hole' in entry ? entry.hole.rows : 1), 0)
	const [first = last] = gone
	const fromMs = 'hole' in first ? first.hole.fromMs : first.endedAtMs
	history.entries.unshift({ seq: last.seq, endedAtMs: last.endedAtMs, hole: { rows, fromMs } })
}
