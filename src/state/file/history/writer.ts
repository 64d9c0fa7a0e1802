/**
 * The room writes history rows from the state to files of their own. Nothing waits for it: rows that cannot be written
 * stay in the state. A row leaves the state only when it is durable in its file, and its number tells a restart whether
 * it is.
 */

import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, statfs } from 'node:fs/promises'
import { codeOf, systemWords } from '../../../base/systemError.js'
import type { Clock } from '../../../model/glossary.js'
import type { HistoryEntry } from '../../../model/history.js'
import type { Log } from '../../../model/ports.js'
import type { HistoryKeeper } from '../../journal.js'
import { dayOf, daysIn, endOfDay, fileOfDay, forgetDays, historyFolder } from './days.js'

export interface HistoryWriterOptions {
	/** Greater than 0. */
	readonly keepMs: number
	readonly clock: Clock
	readonly log?: Log | undefined
	/** Rows that wait in the state on disk, in order. */
	readonly waiting: () => readonly HistoryEntry[]
}

/** Rows that arrive within this time share one write. */
const gatherMs = 100
const retryMs = 5_000
const entriesAtOnce = 1_000
/** The history leaves this share of the disk, or this many bytes, free for the state. */
const reserveShare = 0.05
const mostReserveBytes = 64 << 20

interface Open {
	readonly day: string
	readonly file: FileHandle
	/** Size of the complete lines. */
	bytes: number
}

/** Never fails: an unusable folder is retried. */
export async function openHistoryWriter(
	stateFolder: string,
	{ keepMs, clock, log, waiting }: HistoryWriterOptions,
): Promise<HistoryKeeper> {
	const folder = historyFolder(stateFolder)
	let writtenTo = 0
	/** Newest day with a file; null before the folder was read. */
	let newest: string | null = null
	let current: Open | null = null
	let timer: NodeJS.Timeout | null = null
	let running: Promise<void> | null = null
	let troubled = false
	let closed = false

	async function learn(): Promise<string> {
		if (newest !== null) return newest
		await mkdir(folder, { recursive: true, mode: 0o700 })
		const days = await daysIn(folder)
		for (const day of days.toReversed()) {
			const { seq } = await endOfDay(fileOfDay(folder, day))
			writtenTo = Math.max(writtenTo, seq)
			if (seq > 0) break
		}
		await forgetDays(folder, keepMs, clock())
		newest = days.at(-1) ?? ''
		return newest
	}

	async function fileOf(day: string): Promise<Open> {
		if (current?.day === day) return current
		await shut()
		const path = fileOfDay(folder, day)
		const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW
		const file = await open(path, flags, 0o600)
		try {
			const { bytes } = await endOfDay(path)
			await file.truncate(bytes)
			if (bytes === 0) await syncFolder()
			if (newest !== day) await forgetDays(folder, keepMs, clock())
			newest = day
			current = { day, file, bytes }
			return current
		} catch (error) {
			await file.close()
			throw error
		}
	}

	async function syncFolder(): Promise<void> {
		const handle = await open(folder, 'r')
		try {
			await handle.sync()
		} finally {
			await handle.close()
		}
	}

	async function shut(): Promise<void> {
		const { file } = current ?? {}
		current = null
		await file?.close().catch(() => undefined)
	}

	async function write(): Promise<void> {
		const last = await learn()
		for (;;) {
			const batch = waiting()
				.filter(({ seq }) => seq > writtenTo)
				.slice(0, entriesAtOnce)
			const end = batch.at(-1)
			if (end === undefined) return
			// An old state may hold rows that have already expired.
			const kept = batch.filter(({ endedAtMs }) => endedAtMs >= clock() - keepMs)
			const content = Buffer.from(kept.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
			await mustHaveRoom(content.length)
			const today = dayOf(clock())
			// After the clock was set back, later numbers must not go into an earlier file.
			const open = await fileOf(today < (newest ?? last) ? (newest ?? last) : today)
			await open.file.write(content, 0, content.length, open.bytes)
			await open.file.datasync()
			open.bytes += content.length
			writtenTo = end.seq
		}
	}

	async function mustHaveRoom(bytes: number): Promise<void> {
		const { bavail, bsize, blocks } = await statfs(folder)
		const reserve = Math.min(mostReserveBytes, blocks * bsize * reserveShare)
		if (bavail * bsize - bytes >= reserve) return
		throw Object.assign(new Error('the disk is almost full'), { code: 'ENOSPC' })
	}

	async function run(): Promise<void> {
		try {
			await write()
			if (troubled) log?.info({}, 'the history can be written again')
			troubled = false
		} catch (error) {
			// A partial line is cut off when the file is opened again.
			await shut()
			const words = systemWords(codeOf(error) ?? '') ?? (error instanceof Error ? error.message : String(error))
			if (!troubled) log?.warn({ err: error }, `the history cannot be written and waits in the state: ${words}`)
			troubled = true
		}
	}

	function wake(afterMs = troubled ? retryMs : gatherMs): void {
		if (closed || timer !== null) return
		timer = setTimeout(() => {
			timer = null
			running = (running ?? Promise.resolve()).then(run)
			void running.then(() => {
				if (troubled) wake(retryMs)
			})
		}, afterMs).unref()
	}

	await learn().catch(() => undefined)
	wake()
	return {
		writtenTo: () => writtenTo,
		wake: () => wake(),
		async close() {
			closed = true
			if (timer !== null) clearTimeout(timer)
			await running
			await run()
			await shut()
		},
	}
}
