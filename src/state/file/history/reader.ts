/** Reads the files of the history from their ends, a piece at a time, beside whoever writes them. */

import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { HistoryEntry, HistoryFound, HistoryQuery, HistoryReader } from '../../../model/history.js'
import { diskError, isMissing } from '../diskErrors.js'
import { dayOf, daysIn, fileOfDay, historyFolder, readFlags } from './days.js'

const chunkBytes = 1 << 19
const lineEnd = 0x0a
/** Entries stand in the file of the day on which they were written, which may be a little after they ended. */
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

/** Day and byte of a cursor; what is none counts as the newest. */
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
		// Forgotten meanwhile.
		if (isMissing(error)) return
		throw diskError('read', path, error)
	}
	try {
		let at = Math.min(below ?? Number.POSITIVE_INFINITY, (await file.stat()).size)
		const needle = needleOf(query)
		/** Beginning at `at`, of a line that begins earlier. */
		let rest: Buffer = Buffer.alloc(0)
		// What follows the last line end is still being written.
		let isWhole = below !== null
		while (at > 0) {
			const from = Math.max(0, at - chunkBytes)
			const chunk = Buffer.allocUnsafe(at - from)
			const { bytesRead } = await file.read(chunk, 0, chunk.length, from)
			// Cut shorter meanwhile, by whoever writes it.
			if (bytesRead < chunk.length) return
			let data: Buffer = rest.length === 0 ? chunk : Buffer.concat([chunk, rest])
			if (!isWhole) {
				const end = data.lastIndexOf(lineEnd)
				at = from
				if (end < 0) continue
				data = data.subarray(0, end + 1)
				isWhole = true
			}
			const start = from === 0 ? 0 : data.indexOf(lineEnd) + 1
			at = from
			if (from > 0 && (start === 0 || start === data.length)) {
				rest = data
				continue
			}
			rest = data.subarray(0, start)
			const body = data.subarray(start)
			if (needle === null || body.includes(needle)) yield* linesOf(body, { day, at: from + start, needle, query })
			yield { cursor: `${day}:${from + start}`, entry: null }
		}
	} catch (error) {
		throw diskError('read', join(folder, day), error)
	} finally {
		await file.close()
	}
}

interface Place {
	readonly day: string
	/** Of the first byte. */
	readonly at: number
	readonly needle: Buffer | null
	readonly query: HistoryQuery
}

/** Of whole lines, the last first. */
function* linesOf(body: Buffer, { day, at, needle, query }: Place): Generator<HistoryFound> {
	let end = body.length
	while (end > 0) {
		const start = end < 2 ? 0 : body.lastIndexOf(lineEnd, end - 2) + 1
		const line = body.subarray(start, end - 1)
		end = start
		if (line.length === 0 || (needle !== null && !line.includes(needle))) continue
		if (query.sinceMs !== undefined && endedAtMs(line) < query.sinceMs) continue
		yield { cursor: `${day}:${at + start}`, entry: entryOf(line, day) }
	}
}

const head = /^\{"seq":\d{1,15},"endedAtMs":(\d{1,15})[,}]/

function endedAtMs(line: Buffer): number {
	return Number(head.exec(line.toString('latin1', 0, 64))?.[1] ?? Number.POSITIVE_INFINITY)
}

/** A line that cannot be read is a hole of one row. */
function entryOf(line: Buffer, day: string): HistoryEntry {
	try {
		return JSON.parse(line.toString('utf8')) as HistoryEntry
	} catch {
		const atMs = Date.parse(`${day}T00:00:00Z`)
		return { seq: 0, endedAtMs: atMs, hole: { rows: 1, fromMs: atMs } }
	}
}

/** Bytes that stand in every line asked for; most lines are never parsed. Ids end with the address in lower case. */
function needleOf({ address, network }: HistoryQuery): Buffer | null {
	if (address !== undefined) return Buffer.from(address.toLowerCase())
	return network === undefined ? null : Buffer.from(JSON.stringify(network))
}
