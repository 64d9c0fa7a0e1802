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

const tailBytes = 1 << 16

const head = /^\{"seq":(\d{1,15}),/

/** Throws the system's error. */
export async function endOfDay(path: string): Promise<DayEnd> {
	const file = await open(path, readFlags)
	try {
		let at = (await file.stat()).size
		let bytes = 0
		// Reads backwards line by line: if the last one is damaged, the one before it gives the number.
		while (at > 0) {
			const start = await lineStart(file, at)
			const line = Buffer.alloc(Math.min(32, at - start))
			await file.read(line, 0, line.length, start)
			const last = Buffer.alloc(1)
			await file.read(last, 0, 1, at - 1)
			const isWhole = last[0] === 0x0a
			if (isWhole && bytes === 0) bytes = at
			const seq = isWhole ? Number(head.exec(line.toString('latin1'))?.[1] ?? 0) : 0
			if (seq > 0) return { bytes, seq }
			at = start
		}
		return { bytes, seq: 0 }
	} finally {
		await file.close()
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

/** Start of the line that ends before `end`. */
async function lineStart(file: FileHandle, end: number): Promise<number> {
	// Skips that line's own newline.
	let at = end - 1
	while (at > 0) {
		const from = Math.max(0, at - tailBytes)
		const chunk = Buffer.alloc(at - from)
		await file.read(chunk, 0, chunk.length, from)
		const found = chunk.lastIndexOf(0x0a)
		if (found >= 0) return from + found + 1
		at = from
	}
	return 0
}
