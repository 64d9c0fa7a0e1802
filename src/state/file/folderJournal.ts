/**
 * The room keeps a state in a folder: `state.json` is a snapshot of the whole state, and the journal has one line for
 * each write since, so that a poll writes only what changed.
 */

import { rm, stat } from 'node:fs/promises'
import { Low } from 'lowdb'
import { StateError } from '../../errors.js'
import type { HistoryEntry } from '../../model/history.js'
import type { Log } from '../../model/ports.js'
import { emptyState, type StateDoc } from '../document.js'
import type { Journal } from '../journal.js'
import { type Snapshot, snapshotFormat, statePath } from '../records/snapshot.js'
import { diskError } from './disk/diskErrors.js'
import { durableFile, temporaryOf } from './disk/durable.js'
import { type Hold, holdFolder } from './disk/hold.js'
import { appendRows, forgetDays, type HistoryWriter, lastRowIn, openHistoryWriter } from './historyFiles.js'
import { heal, mustBeOurFormat, readFolder } from './readFolder.js'
import {
	appendLine,
	beginSegment,
	createSegment,
	dropSegments,
	type JournalEnd,
	replaced,
	SegmentGone,
	segmentPath,
} from './segments.js'
import { writeCopies } from './watchlistCopies.js'

/** A snapshot is due once this many segments follow the last: each run of `once` adds one. */
const MOST_SEGMENTS = 50

/** Where the next line goes. */
interface Place extends JournalEnd {
	/** First segment that the snapshot lacks. */
	readonly since: number
	/** Size of the segments since the snapshot, without this one. */
	readonly before: number
}

/** `hold`: how the folder is taken. `isCopy`: as in `journalAt`. Creates the folder if necessary. */
export function folderJournal(
	folder: string,
	log?: Log,
	hold: (folder: string) => Promise<Hold> = holdFolder,
	isCopy = false,
): Journal {
	let held: Hold | null = null
	let place: Place = { segment: 0, bytes: 0, line: 0, since: 0, before: 0 }
	/** The journal was deleted or cut while in use: only a snapshot can continue. */
	let gone = false
	let lost: StateError | null = null
	let onLost: (error: StateError) => void = () => undefined
	/** Of the snapshot and its journal, until a writer takes them. */
	let rows: readonly HistoryEntry[] = []
	let writer: HistoryWriter | null = null

	async function load() {
		// Before the folder is taken, which writes into it.
		await mustBeOurFormat(folder)
		held = await hold(folder)
		const { segment } = held
		const found = await readFolder(folder, segment).catch(async (error: unknown) => {
			// A state that cannot be read is left as it was.
			await rm(segmentPath(folder, segment), { force: true }).catch(() => undefined)
			throw error
		})
		if (found?.damage) await heal(folder, found.damage, log)
		await removeLeftover()
		const { whole = emptyState, line = 0, since = segment, bytes = 0 } = found ?? {}
		rows = found?.rows ?? []
		place = { segment, bytes: 0, line, since, before: bytes }
		const isSnapshotDue = found?.damage !== undefined || segment - since > MOST_SEGMENTS
		if (found === null) await takeSnapshot(whole, null, isCopy)
		else if (!isSnapshotDue) await begin()
		const snapshotBytes = isSnapshotDue ? 0 : await sizeOf(folder)
		return { whole, snapshotBytes, journalBytes: place.before + place.bytes, isSnapshotDue }
	}

	/** Of a snapshot that a kill interrupted. */
	async function removeLeftover(): Promise<void> {
		const path = temporaryOf(statePath(folder))
		await rm(path, { force: true }).catch((error: unknown) => {
			throw diskError('write', path, error)
		})
	}

	/** On a full disk, the next line tries it again. */
	async function begin(): Promise<void> {
		try {
			place = { ...place, ...(await beginSegment(folder, place.segment, place.line)) }
		} catch (error) {
			gone = error instanceof SegmentGone
			if (error instanceof StateError && error.reason !== 'disk') throw error
		}
	}

	/** `added`: as `rows` of `Journal.compact`. */
	async function takeSnapshot(whole: StateDoc, added: readonly HistoryEntry[] | null, isCopyBegun = false) {
		if (place.bytes > 0 || gone) await nextSegment()
		const { segment, since } = place
		const line = place.line + (added === null ? 0 : 1)
		const waiting = [...(writer?.waiting() ?? rows), ...(added ?? [])]
		const snapshot: Snapshot = { line, since: segment, whole, rows: waiting, ...(isCopyBegun && { isCopyBegun }) }
		await new Low(durableFile(statePath(folder), snapshotFormat), snapshot).write()
		place = { segment, bytes: 0, line, since: segment, before: 0 }
		gone = false
		// A journal that has begun would restore an empty state from half of a copy.
		if (!isCopyBegun) await begin()
		// The snapshot before this one and its segments stay: together they have all that this one has.
		await dropSegments(folder, since).catch(() => undefined)
	}

	async function nextSegment(): Promise<void> {
		const segment = place.segment + 1
		if (!(await createSegment(folder, segment))) throw replaced(folder)
		place = { ...place, segment, bytes: 0, before: place.before + place.bytes }
	}

	/** Once another process has taken the folder, nothing is written any more. */
	async function whileOurs<T>(write: () => Promise<T>): Promise<T> {
		if (lost !== null) throw lost
		try {
			return await write()
		} catch (error) {
			if (!(error instanceof StateError) || error.reason !== 'lost') throw error
			lost = error
			onLost(error)
			throw error
		}
	}

	return {
		acquire: load,
		append: (line, added) =>
			whileOurs(async () => {
				if (gone) return 'gone'
				try {
					if (place.bytes === 0) place = { ...place, ...(await beginSegment(folder, place.segment, place.line)) }
					place = { ...place, ...(await appendLine(folder, place, line)) }
				} catch (error) {
					if (!(error instanceof SegmentGone)) throw error
					gone = true
					return 'gone'
				}
				writer?.add(added)
				return { bytes: place.before + place.bytes }
			}),
		compact: (whole, added) =>
			whileOurs(async () => {
				await takeSnapshot(whole, added)
				writer?.add(added ?? [])
				return { bytes: await sizeOf(folder) }
			}),
		behind: async () => [],
		watch: (listener) => {
			onLost = listener.lost
		},
		async keepHistory(options) {
			if (options.keepMs === 0) {
				await forgetDays(folder, 0, options.clock()).catch(() => undefined)
				rows = []
				return null
			}
			writer = openHistoryWriter(folder, options, rows)
			return await lastRowIn(folder)
		},
		unwritten: () => writer?.waiting() ?? [],
		addHistory: async (entries) => await appendRows(folder, entries),
		keepWatchlists: (copies) => writeCopies(folder, copies),
		async close() {
			try {
				await writer?.close()
			} finally {
				await held?.release()
			}
		},
	}
}

async function sizeOf(folder: string): Promise<number> {
	return (await stat(statePath(folder))).size
}
