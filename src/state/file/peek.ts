/** Reads a state folder while another process may hold it: takes no lock, and writes nothing. */

import { StateError } from '../../errors.js'
import type { Delivery } from '../../model/delivery.js'
import type { HistoryEntry } from '../../model/history.js'
import type { StateSummary } from '../../model/state.js'
import { summarize } from '../document.js'
import { type FoundFolder, readFolder } from './readFolder.js'

export interface Peek {
	readonly summary: StateSummary
	/** Pending, held, parked and dead deliveries, in order of posting. */
	readonly deliveries: readonly Delivery[]
	/** Rows that are not in the history files yet, oldest first. */
	readonly history: readonly HistoryEntry[]
	/** For a database: whether any instance holds the lease of a network now. */
	readonly isPolled?: boolean
}

/** Null when nothing was ever stored there. Throws StateError `damaged`, `format` or `disk`. */
export async function peekState(folder: string): Promise<Peek | null> {
	const found = await readBeside(folder)
	if (found === null) return null
	const { state, coverage } = found.whole
	return {
		summary: summarize(state, coverage),
		deliveries: [...state.deliveries.values()],
		history: state.history.entries,
	}
}

/** A snapshot that is read between the writes of its two files looks damaged, so a damaged one is read again. */
export async function readBeside(folder: string): Promise<FoundFolder | null> {
	try {
		return await readFolder(folder)
	} catch (error) {
		if (!(error instanceof StateError) || error.reason !== 'damaged') throw error
		return await readFolder(folder)
	}
}
