/** Reads the history's files backwards in blocks, while they may be written. */

import { type FileHandle, open } from 'node:fs/promises'
import type { HistoryEntry, HistoryFound, HistoryQuery, HistoryReader } from '../../../model/history.js'
import { diskError, isMissing } from '../disk/diskErrors.js'
import { dayOf, daysIn, eachBackwards, fileOfDay, historyFolder, linesBackwards, readFlags } from './days.js'

const chunkBytes = 1 << 19
/** An entry is in the file of the day on which it was written, which may be shortly after it ended. */
const graceDays = 1

export function openHistoryFiles(stateFolder: string): HistoryReader {
	const folder = historyFolder(stateFolder)
	return {
		async *read(query, below) {
			const since = query.sinceMs === undefined ? '' : dayOf(Math.max(0, query.sinceMs - graceDays * 86_400_000))
			const [from, offset] = placeOf(below)
			const days = await daysIn(folder).catch((error: unknown) => {
				throw diskError('read', folder, error)
			})
			for (const day of days.toReversed()) {
				if (day < since) return
				if (from !== null && day > from) continue
				yield* readDay(folder, day, from === day ? offset : null, query)
			}
		},
		close: async () => undefined,
	}
}

/** Day and byte offset of a cursor; an invalid cursor means the newest entry. */
function placeOf(cursor: string | null): readonly [day: string | null, offset: number] {
	const found = /^(\d{4}-\d{2}-\d{2}):(\d{1,15})$/.exec(cursor ?? '')
	return found === null ? [null, 0] : [found[1] ?? null, Number(found[2])]
}

async function* readDay(folder: string, day: string, below: number | null, query: HistoryQuery) {
	const path = fileOfDay(folder, day)
	let file: FileHandle
	try {
		file = await open(path, readFlags)
	} catch (error) {
		// The file was deleted meanwhile.
		if (isMissing(error)) return
		throw diskError('read', path, error)
	}
	try {
		const end = Math.min(below ?? Number.POSITIVE_INFINITY, (await file.stat()).size)
		const needle = needleOf(query)
		for await (const { at, lines } of linesBackwards(file, end, chunkBytes)) {
			if (needle === null || lines.includes(needle)) yield* linesOf(lines, { day, at, needle, query })
			yield { cursor: `${day}:${at}`, entry: null }
		}
	} catch (error) {
		throw diskError('read', path, error)
	} finally {
		await file.close()
	}
}

interface Place {
	readonly day: string
	/** Offset of the first byte. */
	readonly at: number
	readonly needle: Buffer | null
	readonly query: HistoryQuery
}

/** `body` has whole lines; yields the last one first. */
function* linesOf(body: Buffer, { day, at, needle, query }: Place): Generator<HistoryFound> {
	for (const { at: start, line } of eachBackwards(body)) {
		if (line.length === 0 || (needle !== null && !line.includes(needle))) continue
		if (query.sinceMs !== undefined && endedAtMs(line) < query.sinceMs) continue
		yield { cursor: `${day}:${at + start}`, entry: entryOf(line, day) }
	}
}

const head = /^\{"seq":\d{1,15},"endedAtMs":(\d{1,15})[,}]/

function endedAtMs(line: Buffer): number {
	return Number(head.exec(line.toString('latin1', 0, 64))?.[1] ?? Number.POSITIVE_INFINITY)
}

/** An unreadable line becomes a hole of one row. */
function entryOf(line: Buffer, day: string): HistoryEntry {
	try {
		return JSON.parse(line.toString('utf8')) as HistoryEntry
	} catch {
		const atMs = Date.parse(`${day}T00:00:00Z`)
		return { seq: 0, endedAtMs: atMs, hole: { rows: 1, fromMs: atMs } }
	}
}

/**
 * Bytes that every matching line contains, so that most lines need not be parsed. Ids end with the address in lower
 * case.
 */
function needleOf({ address, network }: HistoryQuery): Buffer | null {
	if (address !== undefined) return Buffer.from(address.toLowerCase())
	return network === undefined ? null : Buffer.from(JSON.stringify(network))
}
