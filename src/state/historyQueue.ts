/** Rows of history on their way through the state to their own files. */

import { historyRowOf } from '../core/history.js'
import type { Delivery } from '../model/delivery.js'
import type { HistoryEntry } from '../model/history.js'
import type { HistoryQueue } from './document.js'

export interface HistoryDraft {
	next: number
	readonly entries: HistoryEntry[]
}

/** What is known of the history's own files; null: no history is kept. */
export type HistoryKeeping = {
	/** Number of the last row that stands in them. */
	readonly writtenTo: number
} | null

/** Without what stands in the files already. */
export function historyDraftOf({ next, entries }: HistoryQueue, keeping: HistoryKeeping): HistoryDraft | null {
	if (keeping === null) return null
	const { writtenTo } = keeping
	// Files may know more than a state that was put back from a copy.
	return { next: Math.max(next, writtenTo + 1), entries: entries.filter(({ seq }) => seq > writtenTo) }
}

/** As many may wait for their files; what is more is a hole. */
export const mostWaitingRows = 20_000

/** Goes with what is written anyway: the history asks for no write of its own. */
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
