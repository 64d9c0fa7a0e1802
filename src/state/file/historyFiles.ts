/**
 * The history of a folder: a file per day (UTC) in `history/`, one JSON entry a line. Nothing waits for it: rows that
 * cannot be written stay in the state. A row leaves the state only when it is durable in its file, and its number
 * tells a restart whether it is.
 */

import { constants } from 'node:fs'
import { open, readdir, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { HistoryEntry, HistoryQuery, HistoryReader } from '../../model/history.js'
import type { HistoryOptions } from '../journal.js'
import { diskError, isMissing } from './disk/diskErrors.js'
import { giveToOwner, makeFolder, syncFolder } from './disk/ownFile.js'

const DAY_MS = 86_400_000
/** Rows that arrive within this time share one write. */
const GATHER_MS = 100
/** Rows that could not be written are tried again, and days that are over are deleted. */
const WAKE_EVERY_MS = 60_000
const ROWS_AT_ONCE = 1_000
/** Limit of waiting rows; above it, the oldest half is replaced by a hole. */
export const MOST_WAITING_ROWS = 20_000
/** The history leaves this share of the disk, or this many bytes, free for the state. */
const RESERVE_SHARE = 0.05
const MOST_RESERVE_BYTES = 64 << 20
const CHUNK_BYTES = 1 << 19
const NEWLINE = 0x0a
const FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/
const CURSOR = /^(\d{4}-\d{2}-\d{2}):(\d{1,15})$/
const NUMBERED = /^\{"seq":(\d{1,15}),/
/** Plain files only, no links; opening a pipe does not wait. */
const PLAIN = constants.O_NOFOLLOW | constants.O_NONBLOCK

const historyIn = (stateFolder: string) => join(stateFolder, 'history')
const fileOfDay = (folder: string, day: string) => join(folder, `${day}.jsonl`)
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Oldest first; empty where there is no folder. */
async function daysIn(folder: string): Promise<readonly string[]> {
	const names = await readdir(folder).catch((error: unknown) => {
		if (isMissing(error)) return []
		throw error
	})
	return names.flatMap((name) => FILE.exec(name)?.[1] ?? []).sort()
}

/** Deletes the days that ended more than `keepMs` ago; 0: all. */
export async function forgetDays(stateFolder: string, keepMs: number, nowMs: number): Promise<void> {
	const folder = historyIn(stateFolder)
	for (const day of await daysIn(folder)) {
		if (keepMs === 0 || Date.parse(day) + DAY_MS < nowMs - keepMs) await rm(fileOfDay(folder, day), { force: true })
	}
}

/** A clock that shows an earlier day is wrong. */
const EARLIEST_DAY = '2026-11-01'

/**
 * Days further in the future than rows are kept are of a clock that was wrong: the last of them becomes today, those
 * before it the days before. Otherwise each later row would go to the last of them, and be kept until then.
 */
async function renameFutureDays(stateFolder: string, keepMs: number, nowMs: number): Promise<void> {
	const folder = historyIn(stateFolder)
	const days = await daysIn(folder)
	const future = days.filter((day) => Date.parse(day) - nowMs > keepMs)
	const before = days.at(-future.length - 1) ?? EARLIEST_DAY
	const names = future.map((_, at) => dayOf(nowMs - (future.length - 1 - at) * DAY_MS))
	if (names[0] === undefined || names[0] <= before) return
	for (const [at, name] of names.entries()) await rename(fileOfDay(folder, future[at] ?? ''), fileOfDay(folder, name))
}

/** Number of the last row in the files; 0 where there is none, or where they cannot be read: the writer reports it. */
export async function lastRowIn(stateFolder: string): Promise<number> {
	const folder = historyIn(stateFolder)
	try {
		for (const day of (await daysIn(folder)).toReversed()) {
			const { seq } = await endOf(fileOfDay(folder, day))
			if (seq > 0) return seq
		}
	} catch {}
	return 0
}

/** Place of the next line, and number of the last row; the line before a damaged one gives it. */
async function endOf(path: string): Promise<{ readonly bytes: number; readonly seq: number }> {
	let bytes = 0
	for await (const lines of linesBackwards(path)) {
		for (const { at, line } of lines) {
			bytes ||= at + line.length + 1
			const seq = Number(NUMBERED.exec(line.toString('latin1', 0, 32))?.[1] ?? 0)
			if (seq > 0) return { bytes, seq }
		}
	}
	return { bytes, seq: 0 }
}

/** Complete lines before `end`, the last one first, in lots; `at`: offset of the line. */
async function* linesBackwards(path: string, end = Number.POSITIVE_INFINITY) {
	const file = await open(path, constants.O_RDONLY | PLAIN)
	try {
		let at = Math.min(end, (await file.stat()).size)
		/** End of a line whose beginning lies before `at`. */
		let rest: Buffer = Buffer.alloc(0)
		while (at > 0) {
			const from = Math.max(0, at - CHUNK_BYTES)
			const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(at - from), 0, at - from, from)
			// The writer truncated the file meanwhile.
			if (bytesRead < at - from) return
			at = from
			const data = Buffer.concat([buffer, rest])
			// Bytes after the last newline are still being written, or were cut off.
			let to = data.lastIndexOf(NEWLINE) + 1
			if (to === 0) continue
			const start = from === 0 ? 0 : data.indexOf(NEWLINE) + 1
			rest = data.subarray(0, start)
			const lines: { readonly at: number; readonly line: Buffer }[] = []
			while (to > start) {
				const begin = to < 2 ? 0 : data.lastIndexOf(NEWLINE, to - 2) + 1
				lines.push({ at: from + begin, line: data.subarray(begin, to - 1) })
				to = begin
			}
			yield lines
		}
	} finally {
		await file.close()
	}
}

/** Reads the files backwards, while they may be written. */
export function openHistoryFiles(stateFolder: string): HistoryReader {
	const folder = historyIn(stateFolder)
	return {
		async *read(query, below) {
			const since = query.sinceMs === undefined ? '' : dayOf(Math.max(0, query.sinceMs))
			const [, from, offset] = CURSOR.exec(below ?? '') ?? []
			const needle = needleOf(query)
			let path = folder
			try {
				for (const day of (await daysIn(folder)).toReversed()) {
					if (day < since || (from !== undefined && day > from)) continue
					path = fileOfDay(folder, day)
					for await (const lines of linesBackwards(path, day === from ? Number(offset) : undefined)) {
						for (const { at, line } of lines) {
							if (line.length === 0 || (needle !== null && !line.includes(needle) && !line.includes(HOLE))) continue
							const entry = entryOf(line, day)
							if (entry.endedAtMs >= (query.sinceMs ?? 0)) yield { cursor: `${day}:${at}`, entry }
						}
						yield { cursor: `${day}:${lines.at(-1)?.at ?? 0}`, entry: null }
					}
				}
			} catch (error) {
				throw diskError('read', path, error)
			}
		},
		close: async () => undefined,
	}
}

/** Part of every hole; a hole matches every query, since its rows may have been about anything. */
const HOLE = Buffer.from('"hole":{')

/** An unreadable line becomes a hole of one row. */
function entryOf(line: Buffer, day: string): HistoryEntry {
	try {
		return JSON.parse(line.toString('utf8')) as HistoryEntry
	} catch {
		const atMs = Date.parse(day)
		return { seq: 0, endedAtMs: atMs, hole: { rows: 1, fromMs: atMs } }
	}
}

/** Bytes in every line that matches, so that most need not be parsed. Ids end with the address in lower case. */
function needleOf({ address, network }: HistoryQuery): Buffer | null {
	if (address !== undefined) return Buffer.from(address.toLowerCase())
	return network === undefined ? null : Buffer.from(JSON.stringify(network))
}

/** Each row to the file of its day, or to the newest: numbers grow from file to file. Throws StateError `disk`. */
export async function appendRows(stateFolder: string, rows: readonly HistoryEntry[]): Promise<void> {
	const folder = historyIn(stateFolder)
	try {
		await makeFolder(folder)
		let day = (await daysIn(folder)).at(-1) ?? ''
		const contents = new Map<string, string>()
		for (const entry of rows) {
			const own = dayOf(entry.endedAtMs)
			if (own > day) day = own
			contents.set(day, `${contents.get(day) ?? ''}${JSON.stringify(entry)}\n`)
		}
		for (const [name, content] of contents) await appendTo(folder, name, Buffer.from(content))
	} catch (error) {
		throw diskError('write', folder, error)
	}
}

/** Durable when it resolves. Cuts off a line that an earlier write left incomplete. */
async function appendTo(folder: string, day: string, content: Buffer): Promise<void> {
	const { bavail, bsize, blocks } = await statfs(folder)
	const reserve = Math.min(MOST_RESERVE_BYTES, blocks * bsize * RESERVE_SHARE)
	if (bavail * bsize - content.length < reserve)
		throw Object.assign(new Error('the disk is almost full'), { code: 'ENOSPC' })
	const path = fileOfDay(folder, day)
	const file = await open(path, constants.O_RDWR | constants.O_CREAT | PLAIN, 0o600)
	try {
		const { bytes } = await endOf(path)
		if (bytes === 0) await giveToOwner(file, folder)
		await file.truncate(bytes)
		if (bytes === 0) await syncFolder(folder)
		try {
			await file.write(content, 0, content.length, bytes)
			await file.datasync()
		} catch (error) {
			// A restart takes a row that is in the file for durable.
			await file.truncate(bytes).catch(() => undefined)
			throw error
		}
	} finally {
		await file.close()
	}
}

export interface HistoryWriter {
	add(rows: readonly HistoryEntry[]): void
	/** Rows that are not durable in a file yet. */
	waiting(): readonly HistoryEntry[]
	close(): Promise<void>
}

/** `keepMs` is greater than 0. Never fails: an unusable folder is retried. */
export function openHistoryWriter(
	stateFolder: string,
	{ keepMs, clock, log }: HistoryOptions,
	first: readonly HistoryEntry[],
): HistoryWriter {
	let waiting = first
	let running: Promise<void> | null = null
	let failing = false
	let closed = false

	async function run(): Promise<void> {
		try {
			// Before the rows: on a full disk, the days that are over make room. A day that stays holds up no row.
			await forgetDays(stateFolder, keepMs, clock()).catch((error: unknown) => {
				log?.debug({ err: error }, 'old history could not be forgotten; trying again in a minute')
			})
			if (waiting.length > 0) await renameFutureDays(stateFolder, keepMs, clock())
			while (waiting.length > 0) {
				if (!closed) await pause(GATHER_MS)
				// A write that failed may have completed the files of earlier days.
				const written = await lastRowIn(stateFolder)
				const batch = waiting.filter(({ seq }) => seq > written).slice(0, ROWS_AT_ONCE)
				await appendRows(stateFolder, batch)
				const last = batch.at(-1)?.seq ?? written
				waiting = waiting.filter(({ seq }) => seq > last)
			}
			if (failing) log?.info({}, 'the history can be written again')
			failing = false
		} catch (error) {
			if (!failing) log?.warn({ err: error }, 'the history cannot be written and waits in the state')
			failing = true
		}
		running = null
	}

	function wake(): void {
		running ??= run()
	}

	wake()
	const waking = setInterval(wake, WAKE_EVERY_MS).unref()
	return {
		add(rows) {
			if (rows.length === 0) return
			waiting = withHole([...waiting, ...rows])
			wake()
		},
		waiting: () => waiting,
		async close() {
			closed = true
			clearInterval(waking)
			await running
			await run()
		},
	}
}

/** Replaces the oldest half by a hole where too many wait. */
function withHole(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
	if (entries.length <= MOST_WAITING_ROWS) return entries
	const count = Math.max(MOST_WAITING_ROWS / 2, entries.length - MOST_WAITING_ROWS)
	const gone = entries.slice(0, count)
	const [first, last] = [gone[0], gone.at(-1)]
	if (first === undefined || last === undefined) return entries
	const rows = gone.reduce((sum, entry) => sum + ('hole' in entry ? entry.hole.rows : 1), 0)
	const fromMs = 'hole' in first ? first.hole.fromMs : first.endedAtMs
	return [{ seq: last.seq, endedAtMs: last.endedAtMs, hole: { rows, fromMs } }, ...entries.slice(count)]
}
