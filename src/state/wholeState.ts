/** Copies a whole state from one place to another: between a folder and a database, both ways. */

import { stat } from 'node:fs/promises'
import { StateError } from '../errors.js'
import type { HistoryEntry, HistoryReader } from '../model/history.js'
import type { StatePlace } from '../model/state.js'
import type { StateDoc } from './document.js'
import { lockState } from './file/disk/lock.js'
import { folderJournal } from './file/folderJournal.js'
import { fillHistory, hasHistory } from './file/history/fill.js'
import { mustBeOurFormat } from './file/readFolder.js'
import { openHistory, peekWhole } from './open.js'
import { openDatabase } from './postgres/database.js'
import { insertHistory } from './postgres/pgHistory.js'
import { pgJournal } from './postgres/pgJournal.js'

/** Entries of the history that are in memory at once. */
const HISTORY_PIECE = 1_000

type Pieces = AsyncIterable<readonly HistoryEntry[]>

/**
 * Copies the state and what was sent; `from` stays as it is. Creates `to` if necessary. Resolves to what was copied.
 * Throws StateError `locked` when a daemon uses one of them, `mismatch` when `from` holds no state or `to` holds one,
 * `damaged`, `format` or `disk`.
 */
export async function copyState(from: StatePlace, to: StatePlace): Promise<StateDoc> {
	const isFolder = from.kind === 'folder' && (await isThere(from.dir))
	if (isFolder) await mustBeOurFormat(from.dir)
	const unlock = isFolder ? await lockState(from.dir) : null
	try {
		const found = await peekWhole(from)
		if (found?.isHeld) throw inUse()
		if (found === null || isEmpty(found.whole)) {
			throw new StateError('mismatch', 'there is no state to copy: FROM holds none, and nothing was changed')
		}
		const history = await openHistory(from)
		try {
			await fillPlace(to, found.whole, oldestFirst(history, found.rows ?? []))
		} finally {
			await history.close()
		}
		return found.whole
	} finally {
		await unlock?.()
	}
}

async function isThere(folder: string): Promise<boolean> {
	return await stat(folder).then(
		() => true,
		() => false,
	)
}

function inUse(): StateError {
	return new StateError(
		'locked',
		'the database is in use by a running tracewatch: stop every one first; after a kill, wait until its lease has ' +
			'ended (30 s)',
	)
}

async function fillPlace(place: StatePlace, whole: StateDoc, history: Pieces): Promise<void> {
	if (place.kind === 'postgres') return await fillDatabase(place.url, whole, history)
	await mustBeOurFormat(place.dir)
	const unlock = await lockState(place.dir)
	try {
		const journal = folderJournal(place.dir)
		const { whole: present } = await journal.acquire()
		if (!isEmpty(present) || (await hasHistory(place.dir))) {
			throw new StateError(
				'mismatch',
				`the folder ${place.dir} holds a state already, and nothing was changed: name an empty one`,
			)
		}
		await fillHistory(place.dir, history)
		await journal.compact(whole, null)
	} finally {
		await unlock()
	}
}

async function fillDatabase(url: string, whole: StateDoc, history: Pieces): Promise<void> {
	const journal = pgJournal(url)
	const database = openDatabase(url, { connections: 1, standstillMs: 30_000 })
	try {
		const { whole: present } = await journal.acquire()
		const { ask, name, host } = database
		const rows = await ask('select from tracewatch.history where name = $1 limit 1', [name])
		if (!isEmpty(present) || rows.length > 0) {
			throw new StateError(
				'mismatch',
				`the database at ${host} holds a state already, and nothing was changed: name an empty one`,
			)
		}
		let last = 0
		for await (const piece of history) {
			await insertHistory(database, piece)
			last = piece.at(-1)?.seq ?? last
		}
		await journal.compact({ ...whole, nextRow: Math.max(whole.nextRow, last + 1) }, [])
	} finally {
		await journal.close()
		await database.close()
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
