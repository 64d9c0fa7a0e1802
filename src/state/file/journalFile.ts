/**
 * `journal.jsonl`: the changes since `state.json` was written. The first line names the snapshot that it continues;
 * each further line is one write, `{"n":1,"first":…,"changes":[…],"sum":"…"}`: `n` is its number, `sum` the first 16
 * hex digits of the SHA-256 of everything before `,"sum"`. A line is appended whole and synced before its changes
 * count; an incomplete line at the end of the file never counted.
 */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { JournalLine } from '../journal.js'
import { fromJson } from '../records/codec.js'
import { FORMAT } from '../stateFormat.js'
import { Damage } from './disk/damage.js'
import { diskError, isMissing } from './disk/diskErrors.js'
import { writeDurably } from './disk/durable.js'
import { readOwnFile } from './disk/ownFile.js'

/** Position of the next line. */
export interface JournalEnd {
	readonly bytes: number
	readonly lines: number
}

export interface FoundJournal {
	/** Id of the snapshot that it continues. */
	readonly of: string
	/** Each line with the position after it. Throws Damage for invalid lines. */
	lines(): Iterable<JournalLine & { readonly end: JournalEnd }>
	/** Position after the first line. */
	readonly start: JournalEnd
}

const NEWLINE = 0x0a
const HEAD = new RegExp(`^\\{"v":${FORMAT},"journal":"([0-9a-f]+)"\\}$`)
const TAIL = /,"sum":"([0-9a-f]{16})"\}$/

/** Error message for a file that was truncated or replaced while in use. */
export const JOURNAL_CUT = 'its end is missing'

export function journalPath(folder: string): string {
	return join(folder, 'journal.jsonl')
}

/** The first line; without a checksum, so that an operator can start a journal by hand. */
export function headOf(snapshot: string): string {
	return `{"v":${FORMAT},"journal":"${snapshot}"}`
}

/** Null: there is none. Throws Damage, StateError `disk`. */
export async function readJournal(folder: string): Promise<FoundJournal | null> {
	const path = journalPath(folder)
	let bytes: Buffer
	try {
		bytes = await readOwnFile(path)
	} catch (error) {
		if (isMissing(error)) return null
		throw diskError('read', path, error)
	}
	const first = bytes.indexOf(NEWLINE)
	const of = HEAD.exec(bytes.toString('utf8', 0, first))?.[1]
	if (of === undefined) throw new Damage('it does not begin as a journal of tracewatch does')
	const start = { bytes: first + 1, lines: 0 }
	return { of, start, lines: () => linesIn(bytes, start) }
}

function* linesIn(bytes: Buffer, start: JournalEnd): Iterable<JournalLine & { readonly end: JournalEnd }> {
	let at = start.bytes
	for (let lines = 1; at < bytes.length; lines++) {
		const newline = bytes.indexOf(NEWLINE, at)
		const to = newline === -1 ? bytes.length : newline
		const found = newline === -1 ? null : verified(bytes.subarray(at, to), lines)
		if (found === null) {
			// The last write: it was interrupted by a kill or a power cut before it counted.
			if (to >= bytes.length - 1 || bytes.subarray(to + 1).every((byte) => byte === 0)) return
			throw new Damage(`line ${lines + 1} does not match its checksum`, { line: lines + 1 })
		}
		if (found.n !== lines)
			throw new Damage(`line ${lines + 1} is not the one that was written there`, { line: lines + 1 })
		at = newline + 1
		yield { ...found.line, end: { bytes: at, lines } }
	}
}

function verified(bytes: Buffer, lines: number): { readonly n: number; readonly line: JournalLine } | null {
	const text = bytes.toString('utf8')
	const tail = TAIL.exec(text)
	if (tail === null || sumOf(bytes.subarray(0, bytes.length - tail[0].length)) !== tail[1]) return null
	try {
		const { n, ...line } = fromJson(text) as JournalLine & { n: number }
		return { n, line }
	} catch (cause) {
		throw new Damage(`line ${lines + 1} cannot be understood`, { line: lines + 1, cause })
	}
}

function sumOf(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}

/** Durable when it resolves; the previous journal is kept under a second name. Throws StateError `disk`. */
export async function beginJournal(folder: string, snapshot: string): Promise<JournalEnd> {
	const head = Buffer.from(`${headOf(snapshot)}\n`)
	await writeDurably(journalPath(folder), [head])
	return { bytes: head.length, lines: 0 }
}

/** `line`: a `JournalLine` as JSON. Durable when it resolves. When it throws StateError `disk`, it was not added. */
export async function appendLine(folder: string, end: JournalEnd, line: string): Promise<JournalEnd> {
	const path = journalPath(folder)
	const lines = end.lines + 1
	const body = Buffer.from(`{"n":${lines},${line.slice(1, -1)}`)
	const bytes = Buffer.concat([body, Buffer.from(`,"sum":"${sumOf(body)}"}\n`)])
	try {
		const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK)
		try {
			await append(file, bytes, end.bytes)
		} finally {
			await file.close()
		}
		return { bytes: end.bytes + bytes.length, lines }
	} catch (error) {
		throw diskError('write', path, error)
	}
}

async function append(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
	const found = await file.stat()
	if (!found.isFile() || found.size < at) throw new Error(JOURNAL_CUT)
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
