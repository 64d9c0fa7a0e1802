/**
 * The state of one journal. Changes that arrive during a write are gathered for the next one. A change is applied to a
 * draft when its write starts, and the state changes when the write has succeeded: a failed write needs no undo.
 */

import type { Log } from '../model/ports.js'
import { type ActName, type Argument, type Change, perform, type Result } from './acts.js'
import { type Draft, docOf, draftOf } from './changes.js'
import type { StateDoc } from './document.js'
import { type Journal, type JournalLine, replayed } from './journal.js'
import { isLarge } from './records/changeSize.js'
import { toJson } from './records/codec.js'

export interface Ledger {
	/** The last durable state. */
	current(): StateDoc
	/**
	 * Resolves to the result when the change is durable. `argument` is computed from the state that the change applies
	 * to, once more when others have changed that state meanwhile.
	 */
	change<K extends ActName>(act: K, argument: (now: Draft) => Argument<K>, atMs: number): Promise<Result<K>>
	/** Takes in what others have written. */
	catchUp(): Promise<void>
	/** Resolves when no write is running. */
	idle(): Promise<void>
}

export interface LedgerOptions {
	readonly log?: Log | undefined
	/** Number of the last row of history that is known; null: none is kept. */
	readonly lastRow: () => number | null
	/** No new snapshot is written while the lines since the last one are shorter. Default: 4 MiB. */
	readonly leastJournalBytes?: number | undefined
	/** Called after changes of others were taken in. */
	readonly onForeign?: () => void
}

const LEAST_JOURNAL_BYTES = 4 << 20

interface LoggedDraft extends Draft {
	/** Effective changes. */
	readonly done: Change[]
	readonly first: number | null
}

interface Waiting {
	readonly apply: (draft: LoggedDraft) => unknown
	readonly resolve: (result: unknown) => void
	readonly reject: (error: unknown) => void
}

/** Throws what `journal.acquire` throws. */
export async function openLedger(journal: Journal, options: LedgerOptions): Promise<Ledger> {
	const { log, lastRow, leastJournalBytes = LEAST_JOURNAL_BYTES, onForeign } = options
	const loaded = await journal.acquire()
	let current = loaded.whole
	let journalBytes = loaded.journalBytes
	/** Size of the lines at which a new snapshot is tried. */
	let mostBytes = Math.max(leastJournalBytes, loaded.snapshotBytes)
	let waiting: Waiting[] = []
	let running: Promise<void> | null = null

	async function run(): Promise<void> {
		// Changes requested in the same tick share the first write.
		await null
		while (waiting.length > 0) {
			const batch = waiting
			waiting = []
			await writeBatch(batch)
		}
		running = null
	}

	async function writeBatch(batch: readonly Waiting[]): Promise<void> {
		for (;;) {
			const draft = begin()
			const ends = batch.map((one) => endOf(one, draft))
			try {
				const behind = draft.done.length === 0 ? null : await write(draft)
				if (behind !== null) {
					await takeIn(behind)
					continue
				}
			} catch (error) {
				for (const { fail } of ends) fail(error)
				return
			}
			for (const { succeed } of ends) succeed()
			if (journalBytes >= mostBytes) await shorten()
			return
		}
	}

	function begin(): LoggedDraft {
		const last = lastRow()
		// The history may have more rows than a state that was restored from a copy.
		const first = last === null ? null : Math.max(current.nextRow, last + 1)
		return { ...draftOf(current, first), done: [], first }
	}

	/** Null when the draft is durable; else what others have written. */
	async function write(draft: LoggedDraft): Promise<readonly JournalLine[] | null> {
		const { rows, first, done } = draft
		const next = docOf(draft)
		const isOneLine = !done.some(isLarge)
		if (isOneLine) {
			const line = toJson({ ...(first !== null && { first }), changes: done } satisfies JournalLine)
			const appended = await journal.append(line, rows ?? [])
			if (typeof appended === 'object') {
				if ('behind' in appended) return appended.behind
				journalBytes = appended.bytes
				current = next
				return null
			}
		}
		const compacted = await journal.compact(next, rows ?? [])
		if ('behind' in compacted) return compacted.behind
		if (isOneLine) log?.warn({}, 'the journal of the state was taken away; a new snapshot takes its place')
		current = next
		measured(compacted.bytes)
		return null
	}

	function measured(snapshotBytes: number): void {
		journalBytes = 0
		mostBytes = Math.max(leastJournalBytes, snapshotBytes)
	}

	async function takeIn(lines: readonly JournalLine[]): Promise<void> {
		if (lines.length === 0) return
		current = await replayed(current, lines)
		onForeign?.()
	}

	async function shorten(): Promise<void> {
		try {
			const compacted = await journal.compact(current, null)
			if ('bytes' in compacted) return measured(compacted.bytes)
			await takeIn(compacted.behind)
		} catch (error) {
			// The journal continues; the snapshot is tried again after more growth.
			mostBytes = journalBytes + leastJournalBytes / 4
			log?.warn({ err: error }, 'no new snapshot of the state can be written; its journal grows until one can')
		}
	}

	if (loaded.isSnapshotDue) await shorten()
	return {
		current: () => current,
		change: <K extends ActName>(act: K, argument: (now: Draft) => Argument<K>, atMs: number) =>
			new Promise<Result<K>>((resolve, reject) => {
				const apply = (draft: LoggedDraft) => {
					const given = argument(draft)
					draft.changed = false
					const result = perform(draft, act, given, atMs)
					if (draft.changed) draft.done.push({ act, argument: given, atMs } as Change)
					return result
				}
				waiting.push({ apply, resolve: resolve as Waiting['resolve'], reject })
				running ??= run()
			}),
		async catchUp() {
			while (running) await running
			const taken = journal.behind().then(takeIn)
			running = taken
				.catch(() => undefined)
				.then(() => {
					running = waiting.length > 0 ? run() : null
				})
			await taken
		},
		idle: async () => {
			while (running) await running
		},
	}
}

/** Applies a change to the draft; a change that throws is refused alone. */
function endOf({ apply, resolve, reject }: Waiting, draft: LoggedDraft) {
	try {
		const result = apply(draft)
		return { succeed: () => resolve(result), fail: reject }
	} catch (error) {
		return { succeed: () => reject(error), fail: () => reject(error) }
	}
}
