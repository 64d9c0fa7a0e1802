/**
 * What else is kept in a state folder: the watchlists that were last right, in pieces. `watchlists.json` names them by
 * their hashes, in order; they stand in `watchlists.<id>.data`, to which is added what is new. So an edit of one line
 * among a million writes a piece. What stands behind the last piece was not finished, and is written over.
 */

import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { StateError } from '../../errors.js'
import type { KeptLists } from '../../model/state.js'
import { diskError } from './diskErrors.js'
import { durableFile, type Format, syncFolder } from './durable.js'

interface Place {
	/** SHA-256, in base64url. */
	readonly sum: string
	readonly offset: number
	readonly bytes: number
}

interface Index {
	readonly key: string
	/** Name of the file with the pieces. */
	readonly file: string
	readonly pieces: readonly Place[]
}

/** `whole`: the file as an earlier version wrote it, with all in one. */
type Kept = Index | { readonly whole: unknown }

const keptFormat: Format<Kept> = {
	version: 2,
	migrations: { 1: (whole) => ({ whole }) },
	*encode(kept) {
		if ('whole' in kept) return
		const { key, file, pieces } = kept
		yield JSON.stringify({ key, file, pieces: pieces.map(({ sum, offset, bytes }) => [sum, offset, bytes]) })
	},
	decode(data) {
		const found = data as { whole: unknown } | (Omit<Index, 'pieces'> & { pieces: [string, number, number][] })
		if ('whole' in found) return found
		const { key, file, pieces } = found
		if (!dataName.test(file)) throw new Error('no name of a file')
		return { key, file, pieces: pieces.map(([sum, offset, bytes]) => ({ sum, offset, bytes })) }
	},
}

const dataName = /^watchlists\.[0-9a-f]{12}\.data$/
const indexFile = (folder: string) => durableFile(join(folder, 'watchlists.json'), keptFormat)
/** Of what no piece is any more, beside as much as the pieces themselves take. */
const mostWasteBytes = 4 << 20
const readFlags = constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Durable when it resolves; nothing is written where the same is kept already. Throws StateError `disk`. */
export async function writeKept(folder: string, { key, pieces }: KeptLists): Promise<void> {
	const before = await usable(folder)
	if (before?.key === key) return
	const file = before?.file ?? `watchlists.${randomBytes(6).toString('hex')}.data`
	const path = join(folder, file)
	try {
		const flags = before === null ? constants.O_CREAT | constants.O_EXCL : 0
		const data = await open(path, flags | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600)
		let now: readonly Place[]
		try {
			now = await addPieces(data, pieces(), before?.pieces ?? [])
			await data.sync()
		} finally {
			await data.close()
		}
		if (before === null) await syncFolder(folder)
		await indexFile(folder).write({ key, file, pieces: now })
	} catch (error) {
		if (before === null) await rm(path, { force: true }).catch(() => undefined)
		throw diskError('write', path, error)
	}
	// Of earlier ones, and of writes that a kill cut short.
	const names = await readdir(folder).catch(() => [])
	const others = names.filter((name) => dataName.test(name) && name !== file)
	for (const name of others) await rm(join(folder, name), { force: true }).catch(() => undefined)
}

/** Those that are not there yet are written behind those that are. */
async function addPieces(data: FileHandle, pieces: Iterable<string>, before: readonly Place[]) {
	const known = new Map(before.map((place) => [place.sum, place]))
	const now: Place[] = []
	let offset = endOf(before)
	for (const piece of pieces) {
		const content = Buffer.from(piece)
		const sum = sumOf(content)
		const place = known.get(sum) ?? { sum, offset, bytes: content.length }
		if (!known.has(sum)) {
			await writeAt(data, content, offset)
			offset += content.length
			known.set(sum, place)
		}
		now.push(place)
		await setImmediate()
	}
	return now
}

/** The system may take a part only. */
async function writeAt(data: FileHandle, content: Uint8Array, offset: number): Promise<void> {
	for (let done = 0; done < content.length; ) {
		done += (await data.write(content, done, content.length - done, offset + done)).bytesWritten
	}
}

/** What is kept, where more can be added to it; null: it is to be written anew. */
async function usable(folder: string): Promise<Index | null> {
	let kept: Kept | null
	try {
		kept = await indexFile(folder).read()
	} catch (error) {
		if (error instanceof StateError && error.reason !== 'disk') return null
		throw error
	}
	if (kept === null || 'whole' in kept) return null
	const used = [...new Map(kept.pieces.map(({ sum, bytes }) => [sum, bytes])).values()]
	if (endOf(kept.pieces) > 2 * used.reduce((sum, bytes) => sum + bytes, 0) + mostWasteBytes) return null
	const data = await open(join(folder, kept.file), constants.O_RDONLY | readFlags).catch(() => null)
	if (data === null) return null
	try {
		const found = await data.stat()
		return found.isFile() && found.size >= endOf(kept.pieces) ? kept : null
	} finally {
		await data.close()
	}
}

function endOf(pieces: readonly Place[]): number {
	return pieces.reduce((end, { offset, bytes }) => Math.max(end, offset + bytes), 0)
}

function sumOf(content: Uint8Array): string {
	return createHash('sha256').update(content).digest('base64url')
}

/** Null where none was ever kept. Throws StateError `damaged`, `newer` or `disk`, also as the pieces are taken. */
export async function readKept(folder: string): Promise<AsyncIterable<unknown> | null> {
	const kept = await indexFile(folder).read()
	return kept === null ? null : contentOf(folder, kept)
}

async function* contentOf(folder: string, kept: Kept): AsyncGenerator<unknown> {
	if ('whole' in kept) {
		yield kept.whole
		return
	}
	const path = join(folder, kept.file)
	let data: FileHandle | null = null
	try {
		data = await open(path, constants.O_RDONLY | readFlags)
		for (const { sum, offset, bytes } of kept.pieces) {
			const content = Buffer.alloc(bytes)
			await data.read(content, 0, bytes, offset)
			if (sumOf(content) !== sum) throw new StateError('damaged', `${path} is damaged: a piece is not what was written`)
			yield JSON.parse(content.toString('utf8'))
		}
	} catch (error) {
		throw diskError('read', path, error)
	} finally {
		await data?.close()
	}
}
