/** Copies a whole state from one place to another: between a folder and a database, both ways. */

import { StateError } from '../errors.js'
import type { HistoryEntry, HistoryReader } from '../model/history.js'
import type { StatePlace, WatchlistCopies } from '../model/state.js'
import type { StateDoc } from './document.js'
import { holdFolder } from './file/disk/hold.js'
import type { Journal } from './journal.js'
import { journalAt, openHistory, openWatchlistCopies, peek } from './open.js'

/** Entries of the history that are in memory at once. */
const HISTORY_PIECE = 1_000

type Pieces = AsyncIterable<readonly HistoryEntry[]>

/**
 * Copies the state, what was sent and the last good watchlists; `from` stays as it is. Creates `to` if necessary.
 * Resolves to what was copied. Throws StateError `locked` when a daemon uses one of them, `mismatch` when `from` holds
 * no state, `to` holds one, or one of them the beginning of a copy, `damaged`, `format` or `disk`.
 */
export async function copyState(from: StatePlace, to: StatePlace): Promise<StateDoc> {
	// A folder without a state is left as it is.
	const hold = from.kind === 'folder' && (await peek(from)) !== null ? await holdFolder(from.dir) : null
	try {
		const found = await peek(from)
		if (found?.isHeld) throw inUse()
		if (found === null || isEmpty(found.whole)) {
			throw new StateError('mismatch', 'there is no state to copy: FROM holds none, and nothing was changed')
		}
		const history = await openHistory(from)
		try {
			const copies = await openWatchlistCopies(from).catch(unlessDamaged)
			await fillPlace(to, found.whole, oldestFirst(history, found.rows ?? []), copies)
		} finally {
			await history.close()
		}
		return found.whole
	} finally {
		await hold?.release()
	}
}

function inUse(): StateError {
	return new StateError(
		'locked',
		'the database is in use by a running tracewatch: stop every one first; after a kill, wait until its lease has ' +
			'ended (30 s)',
	)
}

/** Damaged copies are none, as at a start. */
function unlessDamaged(error: unknown): null {
	if (error instanceof StateError && error.reason === 'damaged') return null
	throw error
}

async function fillPlace(
	place: StatePlace,
	whole: StateDoc,
	history: Pieces,
	copies: WatchlistCopies | null,
): Promise<void> {
	// The journal begins with a write.
	if ((await peek(place)) !== null || (await hasHistory(place))) throw holdsState(place)
	const journal = await journalAt(place, { isCopy: true })
	try {
		const { whole: present } = await journal.acquire()
		// Another copy may have begun meanwhile.
		if (!isEmpty(present) || (await hasHistory(place))) throw holdsState(place)
		await writeAll(journal, whole, history, copies).catch((error: unknown) => {
			if (!(error instanceof StateError)) throw error
			const left = `the ${inWords(place)} may now hold only the beginning of the copy: name another one`
			throw new StateError(error.reason, `${error.message}; ${left}`, { cause: error })
		})
	} finally {
		await journal.close()
	}
}

async function writeAll(
	journal: Journal,
	whole: StateDoc,
	history: Pieces,
	copies: WatchlistCopies | null,
): Promise<void> {
	let last = 0
	for await (const piece of history) {
		// A line that could not be read has lost its number, which was the next one.
		const numbered = piece.map((entry) => {
			last = Math.max(entry.seq, last + 1)
			return { ...entry, seq: last }
		})
		await journal.addHistory(numbered)
	}
	if (copies !== null) await journal.keepWatchlists(copies)
	const all = { ...whole, nextRow: Math.max(whole.nextRow, last + 1) }
	await journal.compact(all, [])
	// Twice, so that the snapshot before it is whole, too.
	await journal.compact(all, null)
}

function holdsState(place: StatePlace): StateError {
	const words = 'holds a state already, or the history of one, and nothing was changed: name an empty one'
	return new StateError('mismatch', `the ${inWords(place)} ${words}`)
}

function inWords(place: StatePlace): string {
	return place.kind === 'folder' ? `folder ${place.dir}` : `database at ${new URL(place.url).host || 'localhost'}`
}

/** What was sent may be there without a state, where that was deleted to begin anew. */
async function hasHistory(place: StatePlace): Promise<boolean> {
	const history = await openHistory(place)
	try {
		for await (const { entry } of history.read({}, null)) if (entry !== null) return true
		return false
	} finally {
		await history.close()
	}
}

function isEmpty({ networks, deliveries, totals }: StateDoc): boolean {
	return networks.size + deliveries.size + totals.size === 0
}

/** Reads twice: once for the places where the pieces begin. `unwritten`: rows that follow. */
async function* oldestFirst(history: HistoryReader, unwritten: readonly HistoryEntry[]): Pieces {
	const starts: (string | null)[] = [null]
	let count = 0
	for await (const { entry, cursor } of history.read({}, null)) {
		if (entry === null) continue
		count += 1
		if (count % HISTORY_PIECE === 0) starts.push(cursor)
	}
	for (const below of starts.toReversed()) {
		const piece: HistoryEntry[] = []
		for await (const { entry } of history.read({}, below)) {
			if (entry !== null) piece.push(entry)
			if (piece.length === HISTORY_PIECE) break
		}
		if (piece.length > 0) yield piece.toReversed()
	}
	if (unwritten.length > 0) yield unwritten
}
