/**
 * The room keeps the history of a folder in files of its own. This file writes the rows. Nothing waits for it: rows
 * that cannot be written stay in the state. A row leaves the state only when it is durable in its file, and its number
 * tells a restart whether it is.
 */

import { constants } from 'node:fs'
import { mkdir, open, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, systemWords } from '../../../base/systemError.js'
import type { HistoryEntry } from '../../../model/history.js'
import type { HistoryOptions } from '../../journal.js'
import { diskError } from '../disk/diskErrors.js'
import { syncFolder } from '../disk/durable.js'
import { dayOf, daysIn, endOfDay, fileOfDay, forgetDays, historyFolder, lastRowIn } from './days.js'

export interface HistoryWriter {
	add(rows: readonly HistoryEntry[]): void
	/** Rows that are not durable in a file yet. */
	waiting(): readonly HistoryEntry[]
	close(): Promise<void>
}

/** Rows that arrive within this time share one write. */
const gatherMs = 100
const retryMs = 5_000
const entriesAtOnce = 1_000
/** Limit of waiting rows; above it, the oldest half is replaced by a hole. */
export const mostWaitingRows = 20_000
/** The history leaves this share of the disk, or this many bytes, free for the state. */
const reserveShare = 0.05
const mostReserveBytes = 64 << 20

/** `keepMs` is greater than 0. Never fails: an unusable folder is retried. */
export function openHistoryWriter(
	stateFolder: string,
	{ keepMs, clock, log }: HistoryOptions,
	first: readonly HistoryEntry[],
): HistoryWriter {
	const folder = historyFolder(stateFolder)
	let waiting = first
	/** Day of the last write; null: the folder was not looked at yet. */
	let lastDay: string | null = null
	let timer: NodeJS.Timeout | null = null
	let running: Promise<void> = Promise.resolve()
	let troubled = false
	let closed = false

	async function write(): Promise<void> {
		await mkdir(folder, { recursive: true, mode: 0o700 })
		const newest = (await daysIn(folder)).at(-1) ?? ''
		const today = dayOf(clock())
		// After the clock was set back, later numbers must not go into an earlier file.
		const day = today < newest ? newest : today
		if (lastDay === null) isWritten(await lastRowIn(stateFolder))
		if (lastDay !== day) await forgetDays(folder, keepMs, clock())
		lastDay = day
		for (let batch = waiting.slice(0, entriesAtOnce); batch.length > 0; batch = waiting.slice(0, entriesAtOnce)) {
			// An old state may hold rows that have already expired.
			const kept = batch.filter(({ endedAtMs }) => endedAtMs >= clock() - keepMs)
			const content = Buffer.from(kept.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
			await mustHaveRoom(folder, content.length)
			await appendTo(fileOfDay(folder, day), content)
			isWritten(batch.at(-1)?.seq ?? 0)
		}
	}

	function isWritten(to: number): void {
		waiting = waiting.filter(({ seq }) => seq > to)
	}

	async function run(): Promise<void> {
		try {
			await write()
			if (troubled) log?.info({}, 'the history can be written again')
			troubled = false
		} catch (error) {
			const words = systemWords(codeOf(error) ?? '') ?? (error instanceof Error ? error.message : String(error))
			if (!troubled) log?.warn({ err: error }, `the history cannot be written and waits in the state: ${words}`)
			troubled = true
		}
	}

	function wake(): void {
		if (closed || timer !== null) return
		const turn = () => {
			timer = null
			running = running.then(run).then(() => {
				if (waiting.length > 0) wake()
			})
		}
		timer = setTimeout(turn, troubled ? retryMs : gatherMs).unref()
	}

	wake()
	return {
		add(rows) {
			if (rows.length === 0) return
			waiting = withHole([...waiting, ...rows])
			wake()
		},
		waiting: () => waiting,
		async close() {
			closed = true
			if (timer !== null) clearTimeout(timer)
			await running
			await run()
		},
	}
}

/** Replaces the oldest half by a hole where too many wait. */
function withHole(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
	if (entries.length <= mostWaitingRows) return entries
	const count = Math.max(mostWaitingRows / 2, entries.length - mostWaitingRows)
	const gone = entries.slice(0, count)
	const [first, last] = [gone[0], gone.at(-1)]
	if (first === undefined || last === undefined) return entries
	const rows = gone.reduce((sum, entry) => sum + ('hole' in entry ? entry.hole.rows : 1), 0)
	const fromMs = 'hole' in first ? first.hole.fromMs : first.endedAtMs
	return [{ seq: last.seq, endedAtMs: last.endedAtMs, hole: { rows, fromMs } }, ...entries.slice(count)]
}

async function mustHaveRoom(folder: string, bytes: number): Promise<void> {
	const { bavail, bsize, blocks } = await statfs(folder)
	const reserve = Math.min(mostReserveBytes, blocks * bsize * reserveShare)
	if (bavail * bsize - bytes >= reserve) return
	throw Object.assign(new Error('the disk is almost full'), { code: 'ENOSPC' })
}

/** Adds rows of a copied history, in order. Throws StateError `disk`. */
export async function addRows(stateFolder: string, rows: readonly HistoryEntry[]): Promise<void> {
	const folder = historyFolder(stateFolder)
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 })
		let day = (await daysIn(folder)).at(-1) ?? ''
		const days = new Map<string, string>()
		for (const entry of rows) {
			// The numbers of the entries grow from file to file.
			const own = dayOf(entry.endedAtMs)
			if (own > day) day = own
			days.set(day, `${days.get(day) ?? ''}${JSON.stringify(entry)}\n`)
		}
		for (const [name, lines] of days) await appendTo(fileOfDay(folder, name), Buffer.from(lines))
	} catch (error) {
		throw diskError('write', folder, error)
	}
}

/** Durable when it resolves. Cuts off a line that an earlier write left incomplete. */
async function appendTo(path: string, content: Buffer): Promise<void> {
	const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
	try {
		const { bytes } = await endOfDay(path)
		await file.truncate(bytes)
		if (bytes === 0) await syncFolder(dirname(path))
		await file.write(content, 0, content.length, bytes)
		await file.datasync()
	} finally {
		await file.close()
	}
}
