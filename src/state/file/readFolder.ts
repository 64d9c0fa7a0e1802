/** Reads a state folder: the snapshot, then the changes in the journal. */

import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { HistoryEntry } from '../../model/history.js'
import type { Log } from '../../model/ports.js'
import { emptyState, type StateDoc } from '../document.js'
import { halfCopied, replayOn } from '../journal.js'
import { type Snapshot, snapshotFormat, statePath } from '../records/snapshot.js'
import { FORMAT, otherFormat } from '../stateFormat.js'
import { Damage, previousOf } from './disk/damage.js'
import { diskError, isMissing } from './disk/diskErrors.js'
import { durableFile } from './disk/durable.js'
import { openOwnFile } from './disk/ownFile.js'
import { lastRowIn } from './historyFiles.js'
import { readSegment, type Segment, segmentPath, segmentsIn } from './segments.js'
import { damagedError } from './wayOut.js'

export interface FoundFolder {
	readonly whole: StateDoc
	/** Rows of history that are not in their files yet. */
	readonly rows: readonly HistoryEntry[]
	/** Number of the last line. */
	readonly line: number
	/** First segment that the snapshot lacks. */
	readonly since: number
	/** Size of the segments since the snapshot. */
	readonly bytes: number
	/** Why `state.json` could not be used; the snapshot before or the journal alone had everything. */
	readonly damage?: Damage
}

/**
 * Null: nothing was ever stored here. `own`: the segment that the reader has just made; a snapshot that names it has
 * lost its own. Throws StateError `damaged`, `format` or `disk`.
 */
export async function readFolder(folder: string, own?: number): Promise<FoundFolder | null> {
	const path = statePath(folder)
	for (;;) {
		const before = await stampOf(path)
		try {
			return await readOnce(folder, own)
		} catch (error) {
			// A process that has the state may have written another snapshot while this one was read.
			if (own !== undefined || (await stampOf(path)) === before) throw error
		}
	}
}

/** Differs after each snapshot; null: there is none. */
async function stampOf(path: string): Promise<string | null> {
	const found = await stat(path, { bigint: true }).catch(() => null)
	return found && `${found.ino} ${found.mtimeNs}`
}

async function readOnce(folder: string, own?: number): Promise<FoundFolder | null> {
	await mustBeOurFormat(folder)
	const path = statePath(folder)
	const found = await readFrom(folder, durableFile(path, snapshotFormat).read(), own)
	if (found !== null && !(found instanceof Damage)) return found
	// The segments since the snapshot before are kept, so nothing is missing from it.
	const previous = await readFrom(folder, durableFile(previousOf(path), snapshotFormat).read(), own)
	// The first snapshot is of an empty state: until the second one, the journal has everything.
	const whole = previous ?? (await readFrom(folder, beforeFirstLine(folder)))
	if (found === null && whole === null && !(await hasLines(folder))) return null
	const damage = found ?? new Damage('it is missing, though there was one', { path })
	if (whole === null || whole instanceof Damage)
		throw await damagedError(folder, damage, previous instanceof Damage ? previous : null)
	return { ...whole, damage }
}

/** The state by a snapshot and the journal; null: there is no snapshot. */
async function readFrom(
	folder: string,
	read: Promise<Snapshot | null>,
	own?: number,
): Promise<FoundFolder | Damage | null> {
	try {
		const snapshot = await read
		if (snapshot === null) return null
		if (snapshot.isCopyBegun) throw halfCopied(`the folder ${folder}`)
		if (snapshot.since === own)
			throw new Damage('it is missing, though there was one', { path: segmentPath(folder, own) })
		return await replayed(folder, snapshot)
	} catch (error) {
		if (error instanceof Damage) return error
		throw error
	}
}

async function replayed(folder: string, { whole, rows, line, since }: Snapshot): Promise<FoundFolder> {
	const written = await lastRowIn(folder)
	const found = rows.filter(({ seq }) => seq > written)
	const segments: Segment[] = []
	// What is missing between two is found by the numbers of their lines.
	const later = (await segmentsIn(folder)).filter((number) => number > since)
	for (const number of [since, ...later]) segments.push(await readSegment(folder, number))
	const replay = replayOn(whole)
	let last = line
	// A process that was replaced may have written more, which it did not acknowledge and its successor did not read.
	const limits = new Map<Segment, number>()
	let limit = Number.POSITIVE_INFINITY
	for (const segment of segments.toReversed()) {
		limits.set(segment, limit)
		limit = Math.min(limit, segment.after ?? limit)
	}
	for (const [{ path, after, lines }, most] of Array.from(limits).toReversed()) {
		if (after === null || after > most) continue
		if (after !== last)
			throw new Damage(`it continues write ${after}, and write ${last} is the last`, { path, line: 1 })
		for (const one of lines()) {
			if (one.n > most) break
			last += 1
			const number = last - after + 1
			if (one.n !== last)
				throw new Damage(`line ${number} is not the one that was written there`, { path, line: number })
			try {
				found.push(...replay.apply(one.line).filter(({ seq }) => seq > written))
			} catch (cause) {
				throw new Damage(`line ${number} cannot be understood`, { path, line: number, cause })
			}
			if (isSliceOver()) await nextSlice()
		}
	}
	const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
	return { whole: replay.whole(), rows: found, line: last, since, bytes }
}

/** The empty state, where the journal begins with its first line; else null. */
async function beforeFirstLine(folder: string): Promise<Snapshot | null> {
	for (const since of await segmentsIn(folder)) {
		const { after } = await readSegment(folder, since)
		if (after !== null) return after === 0 ? { whole: emptyState, rows: [], line: 0, since } : null
	}
	return null
}

async function hasLines(folder: string): Promise<boolean> {
	for (const number of await segmentsIn(folder)) {
		const segment = await readSegment(folder, number).catch(() => null)
		if (segment === null || segment.after !== null) return true
	}
	return false
}

/** Puts the snapshot before, if there is one, in the place of a damaged one, which is kept under another name. */
export async function heal(folder: string, damage: Damage, log: Log | undefined): Promise<void> {
	const path = statePath(folder)
	const kept = `${path}.damaged`
	for (const [from, to] of [
		[path, kept],
		[previousOf(path), path],
	] as const)
		await rename(from, to).catch((error: unknown) => {
			if (!isMissing(error)) throw diskError('write', path, error)
		})
	log?.warn({ file: damage.path, kept }, `the state was damaged (${damage.message}) and is restored: nothing was lost`)
}

/** Of every version before this one, too. */
const FILES = ['state.json', 'state.json.prev', 'journal.jsonl', 'coverage.json']

/** Reads only how the files begin. Throws StateError `format` if another version wrote one of them. */
export async function mustBeOurFormat(folder: string): Promise<void> {
	const segments = (await segmentsIn(folder)).map((number) => segmentPath(folder, number))
	for (const path of [...FILES.map((name) => join(folder, name)), ...segments]) {
		const [, found = FORMAT] = /^\{"v":(\d{1,9}),/.exec(await beginningOf(path)) ?? []
		if (Number(found) !== FORMAT) throw otherFormat(path, found, 'folder')
	}
}

/** Empty where there is none. What cannot be read is reported by the function that needs all of it. */
async function beginningOf(path: string): Promise<string> {
	let text = ''
	try {
		const file = await openOwnFile(path)
		for await (const chunk of file.createReadStream({ end: 31, encoding: 'latin1' })) text += chunk
	} catch {}
	return text
}
