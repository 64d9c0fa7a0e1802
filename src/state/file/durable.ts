/**
 * A file that survives a kill, a full disk and a power cut, as an adapter for lowdb. Stock adapters rename without
 * fsync: after a power cut the last hundred acknowledged writes can be missing.
 *
 * The file is `{"v":1,"data":…,"sum":"…"}` and a line end; `sum` is the SHA-256 in hex of everything before `,"sum"`.
 * It stands last, so that the data can be written as it is made, without all of it in memory as text.
 */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Adapter } from 'lowdb'
import { StateError } from '../../errors.js'
import { damagedError, previousOf } from './damage.js'
import { diskError, isMissing } from './diskErrors.js'
import { readOwnFile } from './ownFile.js'

/** Text, or its bytes in UTF-8. */
export type Piece = string | Uint8Array

export interface Format<T> {
	readonly version: number
	/** By version: from the data of that version to the next one's. */
	readonly migrations: Readonly<Record<number, (data: unknown) => unknown>>
	/** The data as JSON, in pieces. */
	encode(value: T): Iterable<Piece>
	/** Throws for data that is not what `encode` made. */
	decode(data: unknown): T | Promise<T>
}

const HEAD = /^\{"v":(\d{1,9}),"data":/
const TAIL = /,"sum":"([0-9a-f]{64})"\}\s*$/
const TAIL_CHARS = 256
const CHUNK_BYTES = 1 << 18
/** Summed in one breath: some milliseconds. */
const TURN_BYTES = 1 << 21

/**
 * `read` gives null when there is no file, and throws StateError `damaged`, `newer` or `disk`. `write` resolves when
 * the value would be there after a power cut; when it throws StateError `disk`, the file is what it was.
 */
export function durableFile<T extends object>(path: string, format: Format<T>): Adapter<T> {
	return { read: () => readVerified(path, format), write: (value) => writeDurably(path, pieces(value, format)) }
}

/** Name of the file that a write goes to first; one that is left over is of no use to anyone. */
export function temporaryOf(path: string): string {
	return `${path}.tmp`
}

async function readVerified<T extends object>(path: string, format: Format<T>): Promise<T | null> {
	const found = await examine(path, format)
	if ('value' in found) return found.value
	throw await damagedError(path, found.damage, isWhole(format), found.cause)
}

/** Whether a file of this format is there and can be believed. */
export function isWhole<T extends object>(format: Format<T>): (path: string) => Promise<boolean> {
	return async (path) => {
		const found = await examine(path, format).catch(() => null)
		return found !== null && 'value' in found && found.value !== null
	}
}

/** The value (null: no file), or why it cannot be believed, to complete the sentence "state.json is damaged: …". */
export type Examined<T> = { readonly value: T | null } | { readonly damage: string; readonly cause?: unknown }

/**
 * `readWhole`: how the bytes are had; default: as those of a file that only this program writes. Throws StateError
 * `newer` or `disk`.
 */
export async function examine<T extends object>(
	path: string,
	format: Format<T>,
	readWhole: (path: string) => Promise<Buffer> = readOwnFile,
): Promise<Examined<T>> {
	const found = await verifiedAt(path, format.version, readWhole)
	if (found === null) return { value: null }
	if ('damage' in found) return found
	const { version } = found
	// Of many megabytes to parse them and to understand them are tens of milliseconds each.
	await setImmediate()
	try {
		return { value: await format.decode(migrated(found.data, version, format)) }
	} catch (cause) {
		return { damage: contentDamage(version), cause }
	}
}

type Verified =
	| { readonly data: unknown; readonly version: number }
	| { readonly damage: string; readonly cause?: unknown }

/** Null: no file. Apart from `examine`, whose locals live until it is all understood: the bytes are gone before. */
async function verifiedAt(
	path: string,
	known: number,
	readWhole: (path: string) => Promise<Buffer>,
): Promise<Verified | null> {
	let bytes: Buffer
	try {
		bytes = await readWhole(path)
	} catch (error) {
		if (isMissing(error)) return null
		throw diskError('read', path, error)
	}
	return await verified(path, bytes, known)
}

/** The data of a file as JSON.parse gives it; its bytes and its text are let go of before it is understood. */
async function verified(path: string, bytes: Buffer, known: number): Promise<Verified> {
	if (bytes.length === 0) return { damage: 'it is empty' }
	if (bytes.every((byte) => byte === 0)) return { damage: `it holds nothing but ${bytes.length} zero bytes` }
	const text = bytes.toString('utf8')
	const head = HEAD.exec(text)
	if (!head) return { damage: 'it does not begin as a file of tracewatch does' }
	const version = Number(head[1])
	if (version > known) throw newer(path, version, known)
	const tail = TAIL.exec(text.slice(-TAIL_CHARS))
	if (!tail) return { damage: `its end is missing (it breaks off after ${bytes.length} bytes)` }
	const summed = bytes.subarray(0, bytes.length - Buffer.byteLength(tail[0]))
	if ((await sumOf(summed)) !== tail[1]) return { damage: 'its content does not match its checksum' }
	try {
		return { data: JSON.parse(text.slice(head[0].length, text.length - tail[0].length)), version }
	} catch (cause) {
		return { damage: contentDamage(version), cause }
	}
}

function contentDamage(version: number): string {
	return `its content cannot be understood (version ${version})`
}

/** In turns, for a file may be of many megabytes. */
async function sumOf(bytes: Buffer): Promise<string> {
	const hash = createHash('sha256')
	for (let at = 0; at < bytes.length; at += TURN_BYTES) {
		hash.update(bytes.subarray(at, at + TURN_BYTES))
		if (at + TURN_BYTES < bytes.length) await setImmediate()
	}
	return hash.digest('hex')
}

/** Data of an earlier version as this one has it. Throws when no way leads there. */
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

/** The whole file. */
export function* pieces<T>(value: T, format: Format<T>): Iterable<Buffer> {
	const hash = createHash('sha256')
	for (const chunk of chunks(`{"v":${format.version},"data":`, format.encode(value))) {
		hash.update(chunk)
		yield chunk
	}
	yield Buffer.from(`,"sum":"${hash.digest('hex')}"}\n`)
}

/** Few large ones of many small ones: each is one call to the disk, and between two of them others get their turn. */
function* chunks(head: string, parts: Iterable<Piece>): Iterable<Buffer> {
	let text = head
	let gathered: Uint8Array[] = []
	let size = 0
	const add = (bytes: Uint8Array) => {
		gathered.push(bytes)
		size += bytes.length
	}
	for (const part of parts) {
		if (typeof part === 'string') {
			text += part
			if (text.length < CHUNK_BYTES) continue
		}
		if (text !== '') add(Buffer.from(text))
		text = ''
		if (typeof part !== 'string') add(part)
		if (size < CHUNK_BYTES) continue
		yield Buffer.concat(gathered)
		gathered = []
		size = 0
	}
	yield Buffer.concat([...gathered, Buffer.from(text)])
}

async function writeDurably(path: string, content: Iterable<Buffer>): Promise<void> {
	const temporary = temporaryOf(path)
	try {
		// Made anew, never opened: a link that somebody laid there would have another file overwritten.
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
		// And with its name the write.
		await syncFolder(dirname(path))
	} catch (error) {
		await rm(temporary, { force: true }).catch(() => undefined)
		throw diskError('write', path, error)
	}
}

/** Another name for the file as it is: the rename that follows takes away only the first name. */
async function keepPrevious(path: string): Promise<void> {
	const previous = previousOf(path)
	await rm(previous, { force: true })
	try {
		await link(path, previous)
	} catch (error) {
		if (isMissing(error)) return
		// Some file systems know no second names.
		await copyFile(path, previous, constants.COPYFILE_EXCL)
	}
}

/** Without this a new name may not outlive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, 'r')
	try {
		await handle.sync()
	} finally {
		await handle.close()
	}
}
