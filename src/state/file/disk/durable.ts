/**
 * The room holds what stands between the state and the disk. This file: a file that survives kills, full disks and
 * power cuts, as an adapter for lowdb. Stock adapters rename without fsync: after a power cut the last hundred
 * acknowledged writes can be missing.
 *
 * The file is `{"v":1,"data":…,"sum":"…"}` and a newline; `sum` is the hex SHA-256 of everything before `,"sum"`. It
 * comes last, so that the data can be written while it is generated, without holding all of it in memory as text.
 */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Adapter } from 'lowdb'
import { nextSlice } from '../../../base/waits/slices.js'
import { StateError } from '../../../errors.js'
import { damagedError, previousOf } from './damage.js'
import { diskError, isMissing } from './diskErrors.js'
import { readOwnFile } from './ownFile.js'

/** Text, or its bytes in UTF-8. */
export type Piece = string | Uint8Array

export interface Format<T> {
	readonly version: number
	/** By version: converts data of that version to the next one. */
	readonly migrations: Readonly<Record<number, (data: unknown) => unknown>>
	/** The data as JSON, in pieces. */
	encode(value: T): Iterable<Piece>
	/** Throws for data that `encode` did not make. */
	decode(data: unknown): T | Promise<T>
	/** Replaces `decode` for data of this version that is a list with one element per line; gets the lines one by one. */
	decodeLines?(lines: Iterable<string>): Promise<T>
}

const HEAD = /^\{"v":(\d{1,9}),"data":/
const TAIL = /,"sum":"([0-9a-f]{64})"\}\s*$/
const TAIL_BYTES = 256
const NEWLINE = 0x0a
const CHUNK_BYTES = 1 << 18
/** Limits the pieces per chunk, because some short pieces take a millisecond to make. */
const CHUNK_PIECES = 16
/** Bytes hashed between two yields to the event loop: a few milliseconds. */
const TURN_BYTES = 1 << 21

/**
 * `read` returns null when there is no file, and throws StateError `damaged`, `newer` or `disk`. `write` resolves when
 * the value would survive a power cut; when it throws StateError `disk`, the file is unchanged.
 */
export function durableFile<T extends object>(path: string, format: Format<T>): Adapter<T> {
	return { read: () => readVerified(path, format), write: (value) => writeDurably(path, pieces(value, format)) }
}

/** The temporary file that a write goes to first; a leftover one is useless. */
export function temporaryOf(path: string): string {
	return `${path}.tmp`
}

async function readVerified<T extends object>(path: string, format: Format<T>): Promise<T | null> {
	const found = await examine(path, format)
	if ('value' in found) return found.value
	throw await damagedError(path, found.damage, isWhole(format), found.cause)
}

/** Whether the file exists and is valid in this format. */
export function isWhole<T extends object>(format: Format<T>): (path: string) => Promise<boolean> {
	return async (path) => {
		const found = await examine(path, format).catch(() => null)
		return found !== null && 'value' in found && found.value !== null
	}
}

/** The value (null: no file), or the damage, as the end of the sentence "state.json is damaged: …". */
export type Examined<T> = { readonly value: T | null } | { readonly damage: string; readonly cause?: unknown }

/**
 * `readWhole`: reads the bytes; default: as a file that only this program writes. Throws StateError `newer` or `disk`.
 */
export async function examine<T extends object>(
	path: string,
	format: Format<T>,
	readWhole: (path: string) => Promise<Buffer> = readOwnFile,
): Promise<Examined<T>> {
	const found = await verifiedAt(path, format, readWhole)
	if (found === null) return { value: null }
	if ('damage' in found) return found
	const { version } = found
	// Parsing and decoding many megabytes take tens of milliseconds each.
	await nextSlice()
	try {
		if ('lines' in found && format.decodeLines) return { value: await format.decodeLines(linesIn(found.lines)) }
		return { value: await format.decode(migrated('data' in found ? found.data : null, version, format)) }
	} catch (cause) {
		return { damage: contentDamage(version), cause }
	}
}

type Verified =
	| { readonly data: unknown; readonly version: number }
	| { readonly lines: Buffer; readonly version: number }
	| { readonly damage: string; readonly cause?: unknown }

/**
 * Null: no file. Separate from `examine`, whose local variables live until the data is decoded: the bytes are freed
 * earlier.
 */
async function verifiedAt<T extends object>(
	path: string,
	format: Format<T>,
	readWhole: (path: string) => Promise<Buffer>,
): Promise<Verified | null> {
	let bytes: Buffer
	try {
		bytes = await readWhole(path)
	} catch (error) {
		if (isMissing(error)) return null
		throw diskError('read', path, error)
	}
	return await verified(path, bytes, format)
}

/** The data of a file as JSON.parse returns it; its bytes and text are freed before it is decoded. */
async function verified<T extends object>(path: string, bytes: Buffer, format: Format<T>): Promise<Verified> {
	if (bytes.length === 0) return { damage: 'it is empty' }
	if (bytes.every((byte) => byte === 0)) return { damage: `it holds nothing but ${bytes.length} zero bytes` }
	const head = HEAD.exec(bytes.toString('latin1', 0, TAIL_BYTES))
	if (!head) return { damage: 'it does not begin as a file of tracewatch does' }
	const version = Number(head[1])
	if (version > format.version) throw newer(path, version, format.version)
	const tail = TAIL.exec(bytes.toString('latin1', Math.max(0, bytes.length - TAIL_BYTES)))
	if (!tail) return { damage: `its end is missing (it breaks off after ${bytes.length} bytes)` }
	const summed = bytes.subarray(0, bytes.length - tail[0].length)
	if ((await sumOf(summed)) !== tail[1]) return { damage: 'its content does not match its checksum' }
	const data = summed.subarray(head[0].length)
	if (version === format.version && format.decodeLines) return { lines: data, version }
	try {
		return { data: JSON.parse(data.toString('utf8')), version }
	} catch (cause) {
		return { damage: contentDamage(version), cause }
	}
}

/** Throws unless the data is a list with one element per line. */
function* linesIn(data: Buffer): Iterable<string> {
	const end = data.length - 2
	if (data.toString('latin1', 0, 2) !== '[\n' || data.toString('latin1', end) !== '\n]') throw new Error('no lines')
	for (let at = 2; at < end; ) {
		const newline = Math.min(end, data.indexOf(NEWLINE, at))
		yield data.toString('utf8', at, newline === end ? end : newline - 1)
		at = newline + 1
	}
}

function contentDamage(version: number): string {
	return `its content cannot be understood (version ${version})`
}

/** In steps, because a file may have many megabytes. */
async function sumOf(bytes: Buffer): Promise<string> {
	const hash = createHash('sha256')
	for (let at = 0; at < bytes.length; at += TURN_BYTES) {
		hash.update(bytes.subarray(at, at + TURN_BYTES))
		if (at + TURN_BYTES < bytes.length) await nextSlice()
	}
	return hash.digest('hex')
}

/** Data of an earlier version, converted to this one. Throws when a migration is missing. */
export function migrated<T>(data: unknown, from: number, { version, migrations }: Format<T>): unknown {
	let current = data
	for (let at = from; at < version; at++) {
		const step = migrations[at]
		if (!step) throw new Error(`no way from version ${at} to ${at + 1} is known`)
		current = step(current)
	}
	return current
}

function newer(path: string, found: number, known: number): StateError {
	return new StateError(
		'newer',
		`${path} was written by a newer tracewatch (version ${found} of the file; this program knows up to ${known}). ` +
			'Nothing was changed. Install the newer program again, or put back the backup made before upgrading.',
	)
}

/** The whole file, in pieces. */
export function* pieces<T>(value: T, format: Format<T>): Iterable<Buffer> {
	const hash = createHash('sha256')
	for (const chunk of chunks(`{"v":${format.version},"data":`, format.encode(value))) {
		hash.update(chunk)
		yield chunk
	}
	yield Buffer.from(`,"sum":"${hash.digest('hex')}"}\n`)
}

/**
 * Joins many small pieces into a few large chunks: each is one call to the disk, and the event loop runs between two.
 */
function* chunks(head: string, parts: Iterable<Piece>): Iterable<Buffer> {
	let text = head
	let gathered: Uint8Array[] = []
	let size = 0
	let seen = 0
	const add = (bytes: Uint8Array) => {
		gathered.push(bytes)
		size += bytes.length
	}
	for (const part of parts) {
		if (typeof part === 'string') {
			text += part
			if (text.length < CHUNK_BYTES && ++seen % CHUNK_PIECES !== 0) continue
		}
		if (text !== '') add(Buffer.from(text))
		text = ''
		if (typeof part !== 'string') add(part)
		if (size < CHUNK_BYTES && seen % CHUNK_PIECES !== 0) continue
		yield Buffer.concat(gathered)
		gathered = []
		size = 0
	}
	yield Buffer.concat([...gathered, Buffer.from(text)])
}

export async function writeDurably(
	path: string,
	content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
	const temporary = temporaryOf(path)
	try {
		// Created anew, never opened: through a planted link, another file would be overwritten.
		await rm(temporary, { force: true })
		const file = await open(temporary, 'wx', 0o600)
		try {
			await writeFile(file, content)
			await file.sync()
		} finally {
			await file.close()
		}
		await keepPrevious(path)
		await rename(temporary, path)
		// The rename is durable only after this.
		await syncFolder(dirname(path))
	} catch (error) {
		await rm(temporary, { force: true }).catch(() => undefined)
		throw diskError('write', path, error)
	}
}

/** Gives the current file a second name, so that the following rename does not delete it. */
async function keepPrevious(path: string): Promise<void> {
	const previous = previousOf(path)
	await rm(previous, { force: true })
	try {
		await link(path, previous)
	} catch (error) {
		if (isMissing(error)) return
		// Some file systems have no hard links.
		await copyFile(path, previous, constants.COPYFILE_EXCL)
	}
}

/** Without this, a new file name may not survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, 'r')
	try {
		await handle.sync()
	} finally {
		await handle.close()
	}
}
