/** A look into a state folder beside whoever holds it: takes no lock, writes nothing. */

import { StateError } from '../../errors.js'
import type { Delivery } from '../../model/delivery.js'
import type { HistoryEntry } from '../../model/history.js'
import type { StateSummary } from '../../model/state.js'
import { emptyCoverage, summarize } from '../document.js'
import type { FoundState } from './read.js'
import { readState } from './read.js'

export interface Peek {
	readonly summary: StateSummary
	/** Pending, parked and dead, in order of posting. */
	readonly deliveries: readonly Delivery[]
	/** On their way to the history, oldest first. */
	readonly history: readonly HistoryEntry[]
	/** Of a database: whether any instance has the right to poll a network now. */
	readonly isPolled?: boolean
}

/** Null when nothing was ever stored there. Throws StateError `damaged`, `newer` or `disk`. */
export async function peekState(folder: string): Promise<Peek | null> {
	const { state, coverage } = await settledRead(folder)
	if (!state) return null
	return {
		summary: summarize(state, coverage?.coverage ?? emptyCoverage),
		deliveries: [...state.deliveries.values()],
		history: state.history.entries,
	}
}

/** A daemon's first start, seen between its two files, looks like damage; it does not a second time. */
async function settledRead(folder: string): Promise<FoundState> {
	try {
		return await readState(folder)
	} catch (error) {
		if (!(error instanceof StateError) || error.reason !== 'damaged') throw error
		return await readState(folder)
	}
}
