/**
 * The room holds what stands between the state and the disk. This file: a file that survives kills, full disks and
 * power cuts, as an adapter for lowdb. Stock adapters rename without fsync: after a power cut the last hundred
 * acknowledged writes can be missing.
 *
 * The file is `{"v":18,"data":…,"sum":"…"}` and a newline; `v` is the format, `sum` the hex SHA-256 of everything
 * before `,"sum"`. It comes last, so that the data can be written while it is generated, without holding all of it in
 * memory as text.
 */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Adapter } from 'lowdb'
import { nextSlice } from '../../../base/waits/slices.js'
import { FORMAT, otherFormat } from '../../stateFormat.js'
import { Damage, previousOf } from './damage.js'
import { diskError, isMissing } from './diskErrors.js'
import { giveToOwner, readOwnFile, syncFolder } from './ownFile.js'

export interface Format<T> {
	/** The data as JSON, in pieces: a list with one element per line. */
	encode(value: T): Iterable<string>
	/** Gets the lines one by one. Throws for data that `encode` did not make. */
	decodeLines(lines: Iterable<string>): Promise<T>
}

const HEAD = /^\{"v":(\d{1,9}),"data":/
const TAIL = /,"sum":"([0-9a-f]{64})"\}\s*$/
const TAIL_BYTES = 256
const NEWLINE = 0x0a
const CHUNK_CHARS = 1 << 18
/** Limits the pieces per chunk, because some short pieces take a millisecond to make. */
const CHUNK_PIECES = 16
/** Bytes hashed between two yields to the event loop: a few milliseconds. */
const TURN_BYTES = 1 << 21

/**
 * `read` returns null when there is no file, and throws Damage, StateError `format` or `disk`. `write` resolves when
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
	let bytes: Buffer
	try {
		bytes = await readOwnFile(path)
	} catch (error) {
		if (isMissing(error)) return null
		throw diskError('read', path, error)
	}
	const data = await verified(path, bytes)
	// Decoding many megabytes takes tens of milliseconds.
	await nextSlice()
	try {
		return await format.decodeLines(linesIn(data))
	} catch (cause) {
		throw new Damage('its content cannot be understood', { path, cause })
	}
}

/** The data of a file, as JSON. */
async function verified(path: string, bytes: Buffer): Promise<Buffer> {
	if (bytes.length === 0) throw new Damage('it is empty', { path })
	if (bytes.every((byte) => byte === 0)) throw new Damage(`it holds nothing but ${bytes.length} zero bytes`, { path })
	const head = HEAD.exec(bytes.toString('latin1', 0, TAIL_BYTES))
	if (!head) throw new Damage('it does not begin as a file of tracewatch does', { path })
	if (Number(head[1]) !== FORMAT) throw otherFormat(path, Number(head[1]), 'folder')
	const tail = TAIL.exec(bytes.toString('latin1', Math.max(0, bytes.length - TAIL_BYTES)))
	if (!tail) throw new Damage(`its end is missing (it breaks off after ${bytes.length} bytes)`, { path })
	const summed = bytes.subarray(0, bytes.length - tail[0].length)
	if ((await sumOf(summed)) !== tail[1]) throw new Damage('its content does not match its checksum', { path })
	return summed.subarray(head[0].length)
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

/** In steps, because a file may have many megabytes. */
async function sumOf(bytes: Buffer): Promise<string> {
	const hash = createHash('sha256')
	for (let at = 0; at < bytes.length; at += TURN_BYTES) {
		hash.update(bytes.subarray(at, at + TURN_BYTES))
		if (at + TURN_BYTES < bytes.length) await nextSlice()
	}
	return hash.digest('hex')
}

/** The whole file, in pieces. */
function* pieces<T>(value: T, format: Format<T>): Iterable<Buffer> {
	const hash = createHash('sha256')
	for (const chunk of chunks(`{"v":${FORMAT},"data":`, format.encode(value))) {
		hash.update(chunk)
		yield chunk
	}
	yield Buffer.from(`,"sum":"${hash.digest('hex')}"}\n`)
}

/** Joins small pieces into large chunks: each is one call to the disk, and the event loop runs between two. */
function* chunks(head: string, parts: Iterable<string>): Iterable<Buffer> {
	let [text, pieces] = [head, 0]
	for (const part of parts) {
		text += part
		if (text.length < CHUNK_CHARS && ++pieces % CHUNK_PIECES !== 0) continue
		yield Buffer.from(text)
		text = ''
	}
	yield Buffer.from(text)
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
			await giveToOwner(file, dirname(path))
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
