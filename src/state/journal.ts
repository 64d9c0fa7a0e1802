/**
 * Where the changes of a state become durable: a snapshot, and lines of changes since. One process at a time writes.
 * The ledger has the rules of the state; a journal only keeps lines.
 */

import { isSliceOver, nextSlice } from '../base/waits/slices.js'
import { StateError } from '../errors.js'
import type { Clock } from '../model/glossary.js'
import type { HistoryEntry } from '../model/history.js'
import type { Log } from '../model/ports.js'
import type { WatchlistCopies } from '../model/state.js'
import { type Change, perform } from './acts.js'
import { docOf, draftOf } from './changes.js'
import type { StateDoc } from './document.js'

/** One write; `toJson` and `fromJson` are its form. */
export interface JournalLine {
	/** Number of its first row of history; absent: no history is kept. */
	readonly first?: number
	readonly changes: readonly Change[]
}

export interface Loaded {
	readonly whole: StateDoc
	readonly snapshotBytes: number
	/** Size of the lines since the snapshot. */
	readonly journalBytes: number
	/** A snapshot is to be taken at once, whatever these sizes. */
	readonly isSnapshotDue?: boolean
}

/** Others have written; these are their lines, in order. Nothing was written. */
export interface Behind {
	readonly behind: readonly JournalLine[]
}

/** `bytes`: size of the lines since the snapshot. `gone`: only a snapshot can continue. */
export type Appended = { readonly bytes: number } | 'gone' | Behind

/** `bytes`: size of the snapshot. */
export type Compacted = { readonly bytes: number } | Behind

/** The ledger makes one call at a time. */
export interface Journal {
	/**
	 * Takes the right to write, then loads: a state that was loaded first could lack lines that a predecessor
	 * acknowledged. Throws StateError `locked` while another process has the right, `damaged`, `format` or `disk`.
	 */
	acquire(): Promise<Loaded>
	/**
	 * Durable when it resolves to a size. `line` is a `JournalLine` as JSON, `rows` are the history rows that it brings.
	 * Throws StateError `disk`, and `lost` when another process has taken the right to write; then every later call does.
	 */
	append(line: string, rows: readonly HistoryEntry[]): Promise<Appended>
	/**
	 * Writes a snapshot, from which a load starts. `rows`: the snapshot holds a change that no line brings, with these
	 * rows; null: it holds only what lines have brought. Throws as `append`; then the journal goes on as before.
	 */
	compact(whole: StateDoc, rows: readonly HistoryEntry[] | null): Promise<Compacted>
	/** Lines that others have written since the last line or load. */
	behind(): Promise<readonly JournalLine[]>
	/** Calls `listener` when others have written, and once when another process has taken the right to write. */
	watch(listener: { behind(): Promise<void>; lost(error: StateError): void }): void
	/**
	 * Keeps the rows of history from now on; call it once, after `acquire`. Resolves to the number of the last row that
	 * is known; null: none are kept. Never fails because of a disk.
	 */
	keepHistory(options: HistoryOptions): Promise<number | null>
	/** Rows that are durable, and not in the history yet, oldest first. Absent: a line and its rows are one write. */
	unwritten?(): readonly HistoryEntry[]
	/** For a copy of a state: adds rows in order. Throws StateError `disk`. */
	addHistory(rows: readonly HistoryEntry[]): Promise<void>
	/** As in `Store`; may run beside another call. Throws StateError as `append`. */
	keepWatchlists(copies: WatchlistCopies): Promise<void>
	/** Writes the rows that wait, and gives the right to write back. */
	close(): Promise<void>
}

export interface HistoryOptions {
	/** How long rows are kept after a delivery left the outbox; 0: not at all. */
	readonly keepMs: number
	readonly clock: Clock
	readonly log?: Log | undefined
}

/** `where`: a folder, or "the database at HOST". */
export function halfCopied(where: string): StateError {
	return new StateError(
		'mismatch',
		`${where} holds only the beginning of a copy: \`state copy\` still runs, or was cut off. Nothing was changed: ` +
			'copy again to another place, and name that one',
	)
}

/** A load in progress: lines are applied by the functions that made them. */
export function replayOn(before: StateDoc) {
	const draft = draftOf(before)
	return {
		/** Returns its rows of history. Throws for a line that no ledger made. */
		apply({ first, changes }: JournalLine): readonly HistoryEntry[] {
			draft.rows = first === undefined ? null : []
			draft.nextRow = first ?? draft.nextRow
			for (const { act, argument, atMs } of changes) perform(draft, act, argument, atMs)
			return draft.rows ?? []
		},
		whole: () => docOf(draft),
	}
}

/** The state after these lines. */
export async function replayed(whole: StateDoc, lines: readonly JournalLine[]): Promise<StateDoc> {
	const replay = replayOn(whole)
	for (const line of lines) {
		replay.apply(line)
		if (isSliceOver()) await nextSlice()
	}
	return replay.whole()
}
