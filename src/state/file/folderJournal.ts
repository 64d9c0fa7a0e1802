/**
 * The room keeps a state in a folder: `state.json` is a snapshot of the whole state, and `journal.jsonl` has one line
 * for each write since, so that a poll writes only what changed. The caller must hold `lockState`.
 */

import { mkdir, rm, stat } from 'node:fs/promises'
import { Low } from 'lowdb'
import { codeOf } from '../../base/systemError.js'
import type { HistoryEntry } from '../../model/history.js'
import { emptyState, type StateDoc } from '../document.js'
import type { Journal } from '../journal.js'
import { freshId, type Snapshot, snapshotFormat, statePath } from '../records/snapshot.js'
import { diskError, isMissing } from './disk/diskErrors.js'
import { durableFile, temporaryOf } from './disk/durable.js'
import { appendRows, forgetDays, type HistoryWriter, lastRowIn, openHistoryWriter } from './historyFiles.js'
import { appendLine, beginJournal, JOURNAL_CUT, type JournalEnd, journalPath } from './journalFile.js'
import { readFolder } from './readFolder.js'

/** The place of the next line, and the snapshot before it. */
interface Place {
	readonly id: string
	/** Null: a journal is still to be begun. */
	readonly end: JournalEnd | null
}

/** Creates the folder if necessary. */
export function folderJournal(folder: string): Journal {
	let place: Place | null = null
	/** Of the snapshot and its journal, until a writer takes them. */
	let rows: readonly HistoryEntry[] = []
	let writer: HistoryWriter | null = null

	async function load() {
		try {
			await mkdir(folder, { recursive: true, mode: 0o700 })
			// Temporary files of writes that a kill interrupted.
			for (const path of [statePath(folder), journalPath(folder)]) await rm(temporaryOf(path), { force: true })
		} catch (error) {
			throw diskError('make', folder, error)
		}
		const found = await readFolder(folder)
		const whole = found?.whole ?? emptyState
		rows = found?.rows ?? []
		if (found === null) await takeSnapshot(whole)
		else place = { id: found.id, end: found.journal }
		return { whole, snapshotBytes: await sizeOf(folder), journalBytes: place?.end?.bytes ?? 0 }
	}

	async function takeSnapshot(whole: StateDoc, added: readonly HistoryEntry[] = []): Promise<void> {
		place = await writeSnapshot(folder, place?.id ?? null, { whole, rows: [...(writer?.waiting() ?? rows), ...added] })
	}

	return {
		acquire: load,
		async append(line, added) {
			try {
				const id = place?.id ?? ''
				const end = place?.end ?? (await beginJournal(folder, id))
				place = { id, end }
				const after = await appendLine(folder, end, line)
				place = { id, end: after }
				writer?.add(added)
				return { bytes: after.bytes }
			} catch (error) {
				if (!isGone(error)) throw error
				return 'gone'
			}
		},
		async compact(whole, added) {
			await takeSnapshot(whole, added ?? [])
			writer?.add(added ?? [])
			return { bytes: await sizeOf(folder) }
		},
		behind: async () => [],
		watch: () => undefined,
		async keepHistory(options) {
			if (options.keepMs === 0) {
				await forgetDays(folder, 0, options.clock()).catch(() => undefined)
				return null
			}
			writer = openHistoryWriter(folder, options, rows)
			return await lastRowIn(folder)
		},
		unwritten: () => writer?.waiting() ?? [],
		addHistory: async (entries) => await appendRows(folder, entries),
		close: async () => await writer?.close(),
	}
}

async function sizeOf(folder: string): Promise<number> {
	return (await stat(statePath(folder))).size
}

function isGone(error: unknown): boolean {
	const cause = error instanceof Error ? error.cause : null
	return isMissing(cause) || (cause instanceof Error && cause.message === JOURNAL_CUT && codeOf(cause) === null)
}

/**
 * Writes a snapshot, and starts the journal that continues it. `before`: id of the present snapshot; null: there is
 * none. If it throws StateError `disk`, the present files stay valid.
 */
async function writeSnapshot(
	folder: string,
	before: string | null,
	content: Pick<Snapshot, 'whole' | 'rows'>,
): Promise<Place> {
	const id = freshId()
	const blank: Snapshot = { id, before, ...content }
	const low = new Low(durableFile(statePath(folder), snapshotFormat), blank)
	// A snapshot without a journal counts as damage, so the first journal is written before its snapshot.
	let end = before === null ? await beginJournal(folder, id) : null
	await low.write()
	// The old journal is ignored from here on. If the new one cannot be started now, the next write starts it.
	end ??= await beginJournal(folder, id).catch(() => null)
	return { id, end }
}
