/** A journal in memory, of which a test says when it fails, and which several may write. */

import { StateError } from '../../src/errors.js'
import { emptyState, type StateDoc } from '../../src/state/document.js'
import type { Journal, JournalLine } from '../../src/state/journal.js'
import { replayed } from '../../src/state/journal.js'
import { fromJson } from '../../src/state/records/codec.js'
import { snapshotFormat } from '../../src/state/records/snapshot.js'

/** `before`: nothing is written. `after`: it is written, and the answer is lost. */
export type Failure = 'before' | 'after' | null

export interface MemoryDisk {
	/** What becomes of the next call; asked once for each. */
	failure: (call: 'append' | 'compact') => Failure
	/** Waits before each write is carried out. */
	pause: () => Promise<void>
	/** Lines since the snapshot, as they were written. */
	lines(): readonly string[]
	/** Numbers of the history rows that were written. */
	readonly rows: number[]
	/** Number of snapshots. */
	snapshots(): number
	open(): Journal
}

/** The state as text, and back: what is not written is lost. */
async function copied(whole: StateDoc): Promise<StateDoc> {
	const text = [...snapshotFormat.encode({ line: 0, since: 0, whole, rows: [] })].join('')
	const lines = text.slice(2, -2).split(',\n')
	return (await snapshotFormat.decodeLines(lines)).whole
}

const sizeOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + line.length, 0)

export function memoryDisk(): MemoryDisk {
	let snapshot = emptyState
	/** Every line ever written; those before `first` are in the snapshot. */
	const all: string[] = []
	let first = 0
	let count = 0
	const parsed = (from: number) => all.slice(from).map((line) => fromJson(line) as JournalLine)
	const disk: MemoryDisk = {
		failure: () => null,
		pause: async () => undefined,
		lines: () => all.slice(first),
		rows: [],
		snapshots: () => count,
		open,
	}

	function open(): Journal {
		let known = 0

		/** Null: it may be written. */
		function foreign(): { readonly behind: readonly JournalLine[] } | null {
			if (known === all.length) return null
			const behind = parsed(known)
			known = all.length
			return { behind }
		}

		async function write<T>(call: 'append' | 'compact', act: () => T | Promise<T>): Promise<T> {
			await disk.pause()
			const failure = disk.failure(call)
			const failed = new StateError('disk', `the disk fails ${failure} ${call}`)
			if (failure === 'before') throw failed
			const before = known
			const result = await act()
			if (failure !== 'after') return result
			known = before
			throw failed
		}

		return {
			async acquire() {
				known = all.length
				const whole = await replayed(await copied(snapshot), parsed(first))
				return { whole, snapshotBytes: 0, journalBytes: sizeOf(disk.lines()) }
			},
			append: (line, rows) =>
				write('append', () => {
					const behind = foreign()
					if (behind !== null) return behind
					known = all.push(line)
					disk.rows.push(...rows.map(({ seq }) => seq))
					return { bytes: sizeOf(disk.lines()) }
				}),
			compact: (whole, rows) =>
				write('compact', async () => {
					const behind = foreign()
					if (behind !== null) return behind
					snapshot = await copied(whole)
					first = all.length
					count += 1
					disk.rows.push(...(rows ?? []).map(({ seq }) => seq))
					return { bytes: 0 }
				}),
			watch: () => undefined,
			behind: async () => foreign()?.behind ?? [],
			keepHistory: async ({ keepMs }) => (keepMs === 0 ? null : 0),
			addHistory: async (rows) => void disk.rows.push(...rows.map(({ seq }) => seq)),
			keepWatchlists: async () => undefined,
			close: async () => undefined,
		}
	}
	return disk
}
