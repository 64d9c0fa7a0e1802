/**
 * The journal: the changes since `state.json` was written, in segments `journal.000018.jsonl`. A process that takes the
 * folder makes the next segment, and so does each new snapshot. The first line of a segment says how many lines of the
 * state its writer knew; each further line is one write, `{"n":4711,"first":…,"changes":[…],"sum":"…"}`: `n` is its
 * number since the state began, `sum` the first 16 hex digits of the SHA-256 of everything before `,"sum"`. A line is
 * appended whole and synced before its changes count; an incomplete line at the end of a segment never counted.
 */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../base/systemError.js'
import { StateError } from '../../errors.js'
import type { JournalLine } from '../journal.js'
import { fromJson } from '../records/codec.js'
import { FORMAT } from '../stateFormat.js'
import { Damage } from './disk/damage.js'
import { diskError, isMissing } from './disk/diskErrors.js'
import { giveToOwner, readOwnFile, syncFolder } from './disk/ownFile.js'

/** Position of the next line in a segment. `line`: number of the line before it. */
export interface JournalEnd {
	readonly segment: number
	readonly bytes: number
	readonly line: number
}

export interface Segment {
	readonly path: string
	/** Number of the line before its first one; null: nothing was ever written into it. */
	readonly after: number | null
	readonly bytes: number
	/** Throws Damage for invalid lines. */
	lines(): Iterable<{ readonly n: number; readonly line: JournalLine }>
}

const NEWLINE = 0x0a
const NAME = /^journal\.(\d{6,15})\.jsonl$/
const HEAD = new RegExp(`^\\{"v":${FORMAT},"after":(\\d{1,15})\\}$`)
const TAIL = /,"sum":"([0-9a-f]{16})"\}$/

export function segmentPath(folder: string, segment: number): string {
	return join(folder, `journal.${String(segment).padStart(6, '0')}.jsonl`)
}

/** Their numbers, ascending; none where there is no folder. Throws StateError `disk`. */
export async function segmentsIn(folder: string): Promise<readonly number[]> {
	const names = await readdir(folder).catch((error: unknown) => {
		if (isMissing(error)) return []
		throw diskError('read', folder, error)
	})
	return names
		.flatMap((name) => NAME.exec(name)?.[1] ?? [])
		.map(Number)
		.sort((a, b) => a - b)
}

/** Makes an empty segment, durably; false: it exists. Throws StateError `disk`. */
export async function createSegment(folder: string, segment: number): Promise<boolean> {
	const path = segmentPath(folder, segment)
	let file: FileHandle
	try {
		file = await open(path, 'wx', 0o600)
	} catch (error) {
		if (codeOf(error) === 'EEXIST') return false
		throw diskError('write', path, error)
	}
	try {
		await giveToOwner(file, folder).finally(() => file.close())
		await syncFolder(folder)
		return true
	} catch (error) {
		// One that stays would tell this process that another has taken the folder.
		await rm(path, { force: true }).catch(() => undefined)
		throw diskError('write', path, error)
	}
}

export async function dropSegments(folder: string, below: number): Promise<void> {
	for (const segment of await segmentsIn(folder))
		if (segment < below) await rm(segmentPath(folder, segment), { force: true })
}

/** Throws Damage, and StateError `disk`. */
export async function readSegment(folder: string, segment: number): Promise<Segment> {
	const path = segmentPath(folder, segment)
	let bytes: Buffer
	try {
		bytes = await readOwnFile(path)
	} catch (error) {
		if (isMissing(error)) throw new Damage('it is missing, though there was one', { path })
		throw diskError('read', path, error)
	}
	const first = bytes.indexOf(NEWLINE)
	// A kill or a power cut came before its first line.
	const isBlank = first === -1 || bytes.every((byte) => byte === 0)
	const after = isBlank ? null : Number(HEAD.exec(bytes.toString('utf8', 0, first))?.[1] ?? Number.NaN)
	if (Number.isNaN(after)) throw new Damage('it does not begin as a journal of tracewatch does', { path, line: 1 })
	return { path, after, bytes: bytes.length, lines: () => (after === null ? [] : linesIn(path, bytes, first + 1)) }
}

function* linesIn(
	path: string,
	bytes: Buffer,
	from: number,
): Iterable<{ readonly n: number; readonly line: JournalLine }> {
	let at = from
	for (let line = 2; at < bytes.length; line++) {
		const newline = bytes.indexOf(NEWLINE, at)
		const to = newline === -1 ? bytes.length : newline
		const found = newline === -1 ? null : verified(bytes.subarray(at, to), { path, line })
		if (found === null) {
			// The last write: it was interrupted by a kill or a power cut before it counted.
			if (to >= bytes.length - 1 || bytes.subarray(to + 1).every((byte) => byte === 0)) return
			throw new Damage(`line ${line} does not match its checksum`, { path, line })
		}
		at = newline + 1
		yield found
	}
}

function verified(bytes: Buffer, place: { readonly path: string; readonly line: number }) {
	const text = bytes.toString('utf8')
	const tail = TAIL.exec(text)
	if (tail === null || sumOf(bytes.subarray(0, bytes.length - tail[0].length)) !== tail[1]) return null
	try {
		const { n, ...line } = fromJson(text) as JournalLine & { n: number }
		return { n, line }
	} catch (cause) {
		throw new Damage(`line ${place.line} cannot be understood`, { ...place, cause })
	}
}

function sumOf(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}

/** The first line of the segment; the next line makes it durable. Throws StateError `disk`. */
export async function beginSegment(folder: string, segment: number, line: number): Promise<JournalEnd> {
	const head = Buffer.from(`{"v":${FORMAT},"after":${line}}\n`)
	const end = { segment, bytes: 0, line }
	await writeAt(folder, end, head)
	return { ...end, bytes: head.length }
}

/** `line`: a `JournalLine` as JSON. Durable when it resolves. Throws as `writeAt`. */
export async function appendLine(folder: string, end: JournalEnd, line: string): Promise<JournalEnd> {
	const n = end.line + 1
	const body = Buffer.from(`{"n":${n},${line.slice(1, -1)}`)
	const bytes = Buffer.concat([body, Buffer.from(`,"sum":"${sumOf(body)}"}\n`)])
	await writeAt(folder, end, bytes)
	return { ...end, bytes: end.bytes + bytes.length, line: n }
}

/** The segment was deleted or cut while in use: only a new snapshot can continue. */
export class SegmentGone extends Error {}

/**
 * Durable when it resolves. Throws StateError `lost` when another process has taken the folder (it has read this write,
 * or not), SegmentGone, and StateError `disk`, after which nothing was written.
 */
async function writeAt(folder: string, { segment, bytes: at }: JournalEnd, bytes: Buffer): Promise<void> {
	const path = segmentPath(folder, segment)
	try {
		const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK)
		try {
			await append(file, bytes, at)
		} finally {
			await file.close()
		}
		// Only now that it is on the disk: a process that takes the folder after this look reads it.
		await mustBeNewest(folder, segment)
	} catch (error) {
		if (error instanceof SegmentGone) throw error
		if (!isMissing(error)) throw diskError('write', path, error)
		await mustBeNewest(folder, segment)
		throw new SegmentGone()
	}
}

/** Throws StateError `lost` where a newer segment exists, SegmentGone where this one does not. */
async function mustBeNewest(folder: string, segment: number): Promise<void> {
	const newest = (await segmentsIn(folder)).at(-1) ?? 0
	if (newest > segment) throw replaced(folder)
	if (newest < segment) throw new SegmentGone()
}

export function replaced(folder: string): StateError {
	return new StateError('lost', `another process has taken the state folder ${folder}: this one ends`)
}

async function append(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
	const found = await file.stat()
	if (!found.isFile() || found.size < at) throw new SegmentGone()
	// The rest of an interrupted write.
	if (found.size > at) await file.truncate(at)
	try {
		for (let done = 0; done < bytes.length; ) {
			done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten
		}
		await file.datasync()
	} catch (error) {
		// If this fails too, the next append truncates the file.
		await file.truncate(at).catch(() => undefined)
		throw error
	}
}
