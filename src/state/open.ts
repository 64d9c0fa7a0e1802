/** Opens the state in a folder or a database. The database driver is loaded only if it is needed. */

import { setTimeout as pause } from 'node:timers/promises'
import { StateError } from '../errors.js'
import type { HistoryEntry, HistoryReader } from '../model/history.js'
import type { Store } from '../model/ports.js'
import type { StatePlace, WatchlistCopies } from '../model/state.js'
import type { StateDoc } from './document.js'
import { holdFolder } from './file/disk/hold.js'
import { folderJournal } from './file/folderJournal.js'
import { openHistoryFiles } from './file/historyFiles.js'
import { readFolder } from './file/readFolder.js'
import { unwrittenFirst } from './file/unwrittenFirst.js'
import { readCopies } from './file/watchlistCopies.js'
import type { Journal } from './journal.js'
import type { PgJournalOptions } from './postgres/pgJournal.js'
import { openStoreOn, type StoreOptions } from './store.js'

/**
 * How often it is tried while another process has the state, and for how long. A command has a folder only briefly;
 * the lease of an instance that was killed runs out.
 */
const PATIENCE = { folder: { everyMs: 100, endMs: 1_500 }, postgres: { everyMs: 1_000, endMs: 60_000 } }

/** Waits for as long as another instance has the database, until the signal aborts. */
export interface StandBy {
	readonly signal: AbortSignal
	/**
	 * Called about once a second while it waits, with the error of a database that cannot be used. What it throws ends
	 * the wait.
	 */
	readonly onWait: (away: StateError | null) => void | Promise<void>
}

export interface OpenStoreOptions extends StoreOptions {
	/** How long to wait while another instance has the database; default: a minute. */
	readonly standBy?: StandBy | undefined
	/** For a command of an operator: changes a database beside the instance that has it. */
	readonly isBeside?: boolean
}

/**
 * Opens the state, and creates it if necessary. One process has it until the store is closed. Throws StateError
 * `locked` (another process has it), `damaged`, `format` or `disk`, and an AbortError when `standBy` ends.
 */
export async function openStore(
	place: StatePlace,
	{ isBeside = false, standBy, ...options }: OpenStoreOptions,
): Promise<Store> {
	const { log } = options
	const journal = await journalAt(place, { log, isBeside, stop: standBy?.signal })
	const { everyMs, endMs } = PATIENCE[place.kind]
	// An instance that starts meanwhile would take the parts of a command's snapshot for leftovers, and remove them.
	const own = isBeside ? { ...options, leastJournalBytes: Number.POSITIVE_INFINITY } : options
	const isShared = place.kind === 'postgres'
	const waits = isShared ? standBy : undefined
	const endsAtMs = waits === undefined ? performance.now() + endMs : Number.POSITIVE_INFINITY
	let said = ''
	try {
		for (let tries = 1; ; tries++) {
			try {
				const store = await openStoreOn(journal, own)
				if (tries > 1 && isShared) log?.info({}, 'this instance has taken over')
				return store
			} catch (error) {
				if (!(error instanceof StateError) || performance.now() > endsAtMs) throw error
				// One that stands by already waits for a database that is away for a moment, too.
				const isAway = waits !== undefined && tries > 1 && error.reason === 'disk'
				if (error.reason !== 'locked' && !isAway) throw error
				if (isShared && error.message !== said) log?.[isAway ? 'warn' : 'info']({}, `${error.message}: standing by`)
				said = error.message
				await waits?.onWait(isAway ? error : null)
				await pause(everyMs, undefined, waits && { signal: waits.signal })
			}
		}
	} catch (error) {
		await journal.close()
		throw error
	}
}

/** `isCopy`: a state that begins here is refused by every other reader until the journal was compacted. */
export async function journalAt(place: StatePlace, options: Omit<PgJournalOptions, 'owner'> = {}): Promise<Journal> {
	if (place.kind === 'folder') return folderJournal(place.dir, options.log, holdFolder, options.isCopy)
	const { pgJournal } = await import('./postgres/pgJournal.js')
	return pgJournal(place.url, options)
}

/** The state as it is on disk. */
export interface Peek {
	readonly whole: StateDoc
	/** Rows of a folder that are not in the history's own files yet, oldest first. */
	readonly rows?: readonly HistoryEntry[]
	/** For a database: whether an instance has it now, and whether the last one ended without giving it back. */
	readonly isHeld?: boolean
	readonly wasKilled?: boolean
}

/**
 * Reads the state while another process may have it open: takes no lock, and writes nothing. Null when nothing was ever
 * stored there. Throws StateError.
 */
export async function peek(place: StatePlace): Promise<Peek | null> {
	if (place.kind === 'folder') return await readFolder(place.dir)
	const { peekPostgres } = await import('./postgres/pgJournal.js')
	return await peekPostgres(place.url)
}

/**
 * Opens the history for reading while another process may write it. Connects to nothing yet. `unwritten`: as `rows` of
 * `Peek`, at the time of each reading.
 */
export async function openHistory(
	place: StatePlace,
	unwritten: () => readonly HistoryEntry[] = () => [],
): Promise<HistoryReader> {
	if (place.kind === 'folder') return unwrittenFirst(openHistoryFiles(place.dir), unwritten)
	const { openHistoryRows } = await import('./postgres/pgHistory.js')
	return openHistoryRows(place.url)
}

/** Null where there are none. Throws StateError, also while the bytes are read. */
export async function openWatchlistCopies(place: StatePlace): Promise<WatchlistCopies | null> {
	if (place.kind === 'folder') return await readCopies(place.dir)
	const { readCopyRows } = await import('./postgres/keptRows.js')
	return await readCopyRows(place.url)
}
