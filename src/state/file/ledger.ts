/** The state of a folder; each change becomes durable as a line of the journal, or in a new snapshot. */

import { mkdir, rm, stat } from 'node:fs/promises'
import { Low } from 'lowdb'
import { codeOf } from '../../base/systemError.js'
import type { Log } from '../../model/ports.js'
import { type ActName, type Argument, type Change, perform, type Result, type WholeDraft } from '../acts.js'
import { draftOf } from '../changes.js'
import { type CoverageDoc, emptyCoverage, emptyState, type Whole } from '../document.js'
import type { HistoryKeeping } from '../historyQueue.js'
import { diskError, isMissing } from './disk/diskErrors.js'
import { durableFile, temporaryOf } from './disk/durable.js'
import { gather } from './gather.js'
import { changeJson, isLarge } from './records/changeLine.js'
import { appendLine, beginJournal, JOURNAL_CUT, type JournalEnd, journalPath } from './records/journal.js'
import { readFolder } from './records/read.js'
import { freshId, type Snapshot, snapshotFormat, statePath } from './records/snapshot.js'

export interface FolderLedger {
	/** State on disk. */
	current(): Whole
	/**
	 * Resolves to the result when the change is durable. `argument` can be computed from the state that the change
	 * applies to.
	 */
	change<K extends ActName>(act: K, argument: (now: WholeDraft) => Argument<K>, atMs: number): Promise<Result<K>>
	/** Resolves when no write is running. */
	idle(): Promise<void>
}

export interface LedgerOptions {
	readonly log?: Log | undefined
	readonly keeping: () => HistoryKeeping
	/** No new snapshot is written while the journal is smaller. Default: 4 MiB. */
	readonly leastJournalBytes?: number | undefined
}

interface LoggedDraft extends WholeDraft {
	/** Effective changes, each with the coverage before it. */
	readonly done: { readonly change: Change; readonly before: CoverageDoc }[]
	readonly kept: number | null
}

/** Creates the folder if necessary. Throws StateError. */
export async function openLedger(
	folder: string,
	{ log, keeping, leastJournalBytes = 4 << 20 }: LedgerOptions,
): Promise<FolderLedger> {
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 })
		// Temporary files of writes that a kill interrupted.
		for (const path of [statePath(folder), journalPath(folder)]) await rm(temporaryOf(path), { force: true })
	} catch (error) {
		throw diskError('make', folder, error)
	}
	const found = await readFolder(folder)
	const first: Whole = found?.whole ?? { state: emptyState, coverage: emptyCoverage }
	let { id, journal } = found ?? { id: null, journal: null }
	let snapshotBytes = 0
	/** Journal size at which a new snapshot is tried. */
	let mostBytes = leastJournalBytes

	async function takeSnapshot(whole: Whole): Promise<void> {
		const written = await writeSnapshot(folder, id, whole)
		;({ id, journal } = written)
		snapshotBytes = written.bytes
		mostBytes = Math.max(leastJournalBytes, snapshotBytes)
	}

	if (id === null) await takeSnapshot(first)
	else {
		snapshotBytes = (await stat(statePath(folder))).size
		mostBytes = Math.max(leastJournalBytes, snapshotBytes)
	}

	async function write(draft: LoggedDraft, before: Whole): Promise<Whole> {
		if (draft.done.length === 0) return before
		const { networks, deliveries, totals, history, coverage } = draft
		const state = { networks, deliveries, totals, history: history ?? before.state.history }
		const next: Whole = { state, coverage }
		if (draft.done.some(({ change, before }) => isLarge(change, before))) {
			await takeSnapshot(next)
			return next
		}
		const changes = draft.done.map(({ change, before }) => changeJson(change, before))
		try {
			journal ??= await beginJournal(folder, id ?? '')
			journal = await appendLine(folder, journal, { kept: draft.kept, changes })
		} catch (error) {
			if (!isGone(error)) throw error
			log?.warn({ err: error }, 'the journal of the state was taken away; a new snapshot takes its place')
			await takeSnapshot(next)
		}
		return next
	}

	async function compact(whole: Whole): Promise<void> {
		if (journal === null || journal.bytes < mostBytes) return
		try {
			await takeSnapshot(whole)
		} catch (error) {
			// The journal continues; the snapshot is tried again after more growth.
			mostBytes = journal.bytes + leastJournalBytes / 4
			log?.warn({ err: error }, 'no new snapshot of the state can be written; its journal grows until one can')
		}
	}

	const ledger = gather<Whole, LoggedDraft>(first, {
		begin({ state, coverage }) {
			const keep = keeping()
			return { ...draftOf(state, keep), coverage, done: [], kept: keep?.writtenTo ?? null }
		},
		write,
		after: compact,
	})
	return {
		current: ledger.current,
		change: (act, argument, atMs) =>
			ledger.change((draft) => {
				const before = draft.coverage
				const given = argument(draft)
				draft.changed = false
				const result = perform(draft, act, given, atMs)
				if (draft.changed) draft.done.push({ change: { act, argument: given, atMs } as Change, before })
				return result
			}),
		idle: ledger.idle,
	}
}

function isGone(error: unknown): boolean {
	const cause = error instanceof Error ? error.cause : null
	return isMissing(cause) || (cause instanceof Error && cause.message === JOURNAL_CUT && codeOf(cause) === null)
}

/**
 * Writes a snapshot, and starts the journal that continues it. `before`: id of the present snapshot; null: there is
 * none. If it throws StateError `disk`, the present files stay valid.
 */
export async function writeSnapshot(
	folder: string,
	before: string | null,
	whole: Whole,
): Promise<{ readonly id: string; readonly bytes: number; readonly journal: JournalEnd | null }> {
	const id = freshId()
	const blank: Snapshot = { id, before, whole }
	const low = new Low(durableFile(statePath(folder), snapshotFormat), blank)
	// A snapshot without a journal counts as damage, so the first journal is written before its snapshot.
	let journal = before === null ? await beginJournal(folder, id) : null
	await low.write()
	// The old journal is ignored from here on. If the new one cannot be started now, the next write starts it.
	journal ??= await beginJournal(folder, id).catch(() => null)
	return { id, journal, bytes: (await stat(statePath(folder))).size }
}
