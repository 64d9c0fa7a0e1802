/** The history's files: one per day (UTC), in `history/` of the state folder, with one JSON entry per line. */

import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../disk/diskErrors.js'

const dayMs = 86_400_000
const named = /^(\d{4}-\d{2}-\d{2})\.jsonl$/

/** Opens only plain files, no links. */
export const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export function historyFolder(stateFolder: string): string {
	return join(stateFolder, 'history')
}

export function fileOfDay(folder: string, day: string): string {
	return join(folder, `${day}.jsonl`)
}

/** `2026-11-21` */
export function dayOf(ms: number): string {
	return new Date(ms).toISOString().slice(0, 10)
}

/** Oldest first; empty where there is no folder. Throws the system's error. */
export async function daysIn(folder: string): Promise<readonly string[]> {
	try {
		return (await readdir(folder)).flatMap((name) => named.exec(name)?.[1] ?? []).sort()
	} catch (error) {
		if (isMissing(error)) return []
		throw error
	}
}

/** Deletes the days that ended more than `keepMs` ago; 0: all. */
export async function forgetDays(folder: string, keepMs: number, nowMs: number): Promise<void> {
	for (const day of await daysIn(folder)) {
		const endsMs = Date.parse(`${day}T00:00:00Z`) + dayMs
		if (keepMs === 0 || endsMs < nowMs - keepMs) await rm(fileOfDay(folder, day), { force: true })
	}
}

export interface DayEnd {
	/** Up to the end of the last complete line; a line cut off by a kill or a full disk does not count. */
	readonly bytes: number
	/** Number of the last entry; 0 where there is none. */
	readonly seq: number
}

/** In bytes. */
const chunkBytes = 1 << 16
const lineEnd = 0x0a
const head = /^\{"seq":(\d{1,15}),/

/** Throws the system's error. */
export async function endOfDay(path: string): Promise<DayEnd> {
	const file = await open(path, readFlags)
	try {
		let bytes = 0
		for await (const { at, lines } of linesBackwards(file, (await file.stat()).size, chunkBytes)) {
			if (bytes === 0) bytes = at + lines.length
			for (const { line } of eachBackwards(lines)) {
				// If the last line is damaged, the one before it gives the number.
				const seq = Number(head.exec(line.toString('latin1', 0, 32))?.[1] ?? 0)
				if (seq > 0) return { bytes, seq }
			}
		}
		return { bytes, seq: 0 }
	} finally {
		await file.close()
	}
}

/** Whole lines before `end`, the last ones first; `at`: offset of the first of each lot. */
export async function* linesBackwards(file: FileHandle, end: number, size: number) {
	let at = end
	/** Start of a line whose beginning lies before `at`. */
	let rest: Buffer = Buffer.alloc(0)
	// Bytes after the last newline are still being written, or were cut off.
	let isWhole = false
	while (at > 0) {
		const from = Math.max(0, at - size)
		const chunk = Buffer.allocUnsafe(at - from)
		const { bytesRead } = await file.read(chunk, 0, chunk.length, from)
		// The writer truncated the file meanwhile.
		if (bytesRead < chunk.length) return
		const data: Buffer = rest.length === 0 ? chunk : Buffer.concat([chunk, rest])
		const last = isWhole ? data.length : data.lastIndexOf(lineEnd) + 1
		at = from
		if (last === 0) continue
		isWhole = true
		const start = from === 0 ? 0 : data.indexOf(lineEnd) + 1
		rest = data.subarray(0, start)
		if (start < last) yield { at: from + start, lines: data.subarray(start, last) }
	}
}

/** Lines of a lot, the last one first, without their newlines; `at`: offset in the lot. */
export function* eachBackwards(lines: Buffer): Generator<{ readonly at: number; readonly line: Buffer }> {
	for (let end = lines.length; end > 0; ) {
		const at = end < 2 ? 0 : lines.lastIndexOf(lineEnd, end - 2) + 1
		yield { at, line: lines.subarray(at, end - 1) }
		end = at
	}
}

/** Number of the last row in the files; 0 where there is none, or where they cannot be read. */
export async function lastRowIn(stateFolder: string): Promise<number> {
	try {
		const folder = historyFolder(stateFolder)
		for (const day of (await daysIn(folder)).toReversed()) {
			const { seq } = await endOfDay(fileOfDay(folder, day))
			if (seq > 0) return seq
		}
	} catch {
		// The writer reports it.
	}
	return 0
}
