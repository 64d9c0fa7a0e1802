/** A history whose newest rows still wait in the state: a delivery is in the history as soon as it left the outbox. */

import type { HistoryEntry, HistoryReader } from '../../model/history.js'

/** `n` and the number of a row that was still unwritten. It may have been written since. */
const CURSOR = /^n(\d{1,15})$/

/** `unwritten`: oldest first; each is newer than all that `files` has, or will be. */
export function unwrittenFirst(files: HistoryReader, unwritten: () => readonly HistoryEntry[]): HistoryReader {
	return {
		async *read(query, below) {
			const number = CURSOR.exec(below ?? '')?.[1]
			if (below !== null && number === undefined) return yield* files.read(query, below)
			let last = number === undefined ? Number.POSITIVE_INFINITY : Number(number)
			for (const entry of unwritten().toReversed()) {
				if (entry.seq >= last) continue
				last = entry.seq
				yield { entry, cursor: `n${last}` }
			}
			for await (const found of files.read(query, null)) {
				if (found.entry === null || found.entry.seq < last) yield found
			}
		},
		close: () => files.close(),
	}
}
