/**
 * Books in a file of their own, `books.<id>.data`: to it is added what a step changes, 34 bytes a book at most as a
 * rule, so that a step's write does not grow with their number. `state.json` says which file counts and how far:
 * whatever stands behind that is of a step that was never done, and is written over. So books and checkpoint are of one
 * step, whenever the power fails. Up to 1,000 books stand in `state.json` itself, and there is no such file.
 *
 * The file is a line that says what it is, then records: length and CRC-32 of what follows (4 bytes each), the network
 * (length in 1 byte, name), how many addresses have no book any more (4 bytes), these, and books as `packBooks` makes
 * them. What comes later counts.
 */

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'
import { ADDRESS_BYTES, packBooks } from '../bookFormat.js'
import { bookTableOf } from '../bookTable.js'
import { freshKey } from '../codeMark.js'
import type { NetworkRecord } from '../document.js'
import { diskError, isMissing } from './diskErrors.js'
import { syncFolder } from './durable.js'

/** Which file counts, and how far. */
export interface BooksAt {
	readonly id: string
	readonly bytes: number
	/** `chained` over its records: bytes of another step that are as many are not taken for these. */
	readonly sum: number
	/** The file before, for whoever has just read that it counts; null: none, or it is gone. */
	readonly before: string | null
	/** Absent: its runs are as `oldBooks.ts` reads them. */
	readonly form?: typeof FORM
	/** How many books, by network. */
	readonly sizes: Readonly<Record<string, number>>
}

type End = Pick<BooksAt, 'bytes' | 'sum'>

export const FORM = 2
export const HEAD = Buffer.from(`tracewatch books ${FORM}\n`)
export const RECORD_HEAD_BYTES = 8
const NAME = /^books\.([0-9a-f]{12})\.data$/

export function chained(sum: number, record: Buffer): number {
	return crc32(record.subarray(0, RECORD_HEAD_BYTES), sum)
}

export function bookPath(folder: string, id: string): string {
	return join(folder, `books.${id}.data`)
}

export function isBookId(id: unknown): id is string {
	return typeof id === 'string' && NAME.test(`books.${id}.data`)
}

export interface BookWriter {
	/** Says that these may differ in what is written next. */
	touch(network: string, addresses: Iterable<Address>): void
	/**
	 * Durable when it resolves; it counts once `state.json` says so. Null: they are to stand there. Throws StateError.
	 */
	write(networks: ReadonlyMap<string, NetworkRecord>): Promise<BooksAt | null>
	/** `state.json` says so now. */
	done(at: BooksAt | null): Promise<void>
}

/** Up to so many stand in `state.json`: less than it costs to have a second file written safely. */
const MOST_INSIDE = 1_000
/** What a file may take with the changes at its end, and whatever the books: then all are written anew. */
const [MOST_BYTES_EACH, MOST_WASTE_BYTES] = [40, 4 << 20]
/** With so much at its end it is some polls old, and nobody is about to copy the one before. */
const SPARE_BYTES = 1 << 20
/** Of an account with code and some coins. */
const BYTES_EACH = 34
/** Books a record: what is made in one breath. */
const PER_RECORD = 4_000
const FLUSH_BYTES = 1 << 18

/** `found`: what counts now. */
export function bookWriter(folder: string, found: BooksAt | null, mostInside = MOST_INSIDE): BookWriter {
	let now = found
	const touched = new Map<string, Set<Address>>()

	async function append({ id, bytes, sum }: BooksAt, records: Iterable<Buffer>): Promise<End | null> {
		let file: FileHandle
		try {
			file = await open(bookPath(folder, id), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK)
		} catch (error) {
			if (isMissing(error)) return null
			throw error
		}
		try {
			const { size } = await file.stat()
			if (size < bytes) return null
			// Of a step that failed.
			if (size > bytes) await file.truncate(bytes)
			const end = await writeAll(file, { bytes, sum }, records)
			await file.datasync()
			return end
		} finally {
			await file.close()
		}
	}

	async function writeWhole(networks: ReadonlyMap<string, NetworkRecord>): Promise<End & { readonly id: string }> {
		const id = randomBytes(6).toString('hex')
		const path = bookPath(folder, id)
		try {
			const file = await open(path, 'wx', 0o600)
			let end: End
			try {
				await file.write(HEAD)
				end = await writeAll(file, { bytes: HEAD.length, sum: 0 }, wholeOf(networks))
				await file.sync()
			} finally {
				await file.close()
			}
			await syncFolder(folder)
			return { id, ...end }
		} catch (error) {
			await rm(path, { force: true }).catch(() => undefined)
			throw error
		}
	}

	return {
		touch(network, addresses) {
			const known = touched.get(network) ?? new Set()
			touched.set(network, known)
			for (const address of addresses) known.add(address)
		},
		async write(networks) {
			const size = [...networks.values()].reduce((sum, { books }) => sum + books.size, 0)
			if (size <= mostInside) return null
			const changes = [...touched.values()].reduce((sum, { size }) => sum + size, 0)
			const most = Math.max(MOST_BYTES_EACH * size, BYTES_EACH * size + MOST_WASTE_BYTES)
			try {
				if (now !== null && changes === 0) return now
				const isMuch = now?.form !== FORM || now.bytes + changes * BYTES_EACH > most
				const added = isMuch || now === null ? null : await append(now, changesOf(networks, touched))
				const sizes = Object.fromEntries([...networks].map(([name, { books }]) => [name, books.size]))
				if (now !== null && added !== null) {
					const isOld = added.bytes > BYTES_EACH * size * 1.05 + SPARE_BYTES
					return { ...now, ...added, before: isOld ? null : now.before, sizes }
				}
				return { ...(await writeWhole(networks)), form: FORM, before: now?.id ?? null, sizes }
			} catch (error) {
				throw diskError('write', join(folder, 'books'), error)
			}
		},
		async done(at) {
			touched.clear()
			const isOther = at?.id !== now?.id || at?.before !== now?.before
			now = at
			if (isOther) await removeOthers(folder, at)
		},
	}
}

/** Files that count no more, and those of steps that were never done. */
export async function removeOthers(folder: string, at: BooksAt | null): Promise<void> {
	for (const name of await readdir(folder).catch(() => [])) {
		const [, id] = NAME.exec(name) ?? []
		if (id === undefined || id === at?.id || id === at?.before) continue
		await rm(join(folder, name), { force: true }).catch(() => undefined)
	}
}

/** Gives the end. Between two records others get their turn. */
async function writeAll(file: FileHandle, from: End, records: Iterable<Buffer>): Promise<End> {
	let { bytes: at, sum } = from
	let gathered: Buffer[] = []
	let size = 0
	const flush = async () => {
		const bytes = Buffer.concat(gathered)
		for (let done = 0; done < bytes.length; ) {
			done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten
		}
		at += bytes.length
		gathered = []
		size = 0
	}
	for (const record of records) {
		gathered.push(record)
		size += record.length
		sum = chained(sum, record)
		if (size < FLUSH_BYTES) continue
		await flush()
		await setImmediate()
	}
	await flush()
	return { bytes: at, sum }
}

function* wholeOf(networks: ReadonlyMap<string, NetworkRecord>): Iterable<Buffer> {
	for (const [name, { books }] of networks) {
		for (const piece of bookTableOf(books).pieces()) yield recordOf(name, [], Buffer.from(piece))
	}
}

function* changesOf(
	networks: ReadonlyMap<string, NetworkRecord>,
	touched: ReadonlyMap<string, ReadonlySet<Address>>,
): Iterable<Buffer> {
	for (const [name, addresses] of touched) {
		const books = networks.get(name)?.books
		const key = books === undefined ? freshKey() : bookTableOf(books).key
		let [gone, some]: [Address[], Map<Address, Book>] = [[], new Map()]
		for (const address of addresses) {
			const book = books?.get(address)
			if (book === undefined) gone.push(address)
			else some.set(address, book)
			if (gone.length + some.size < PER_RECORD) continue
			yield recordOf(name, gone, packBooks(some, key))
			gone = []
			some = new Map()
		}
		if (gone.length + some.size > 0) yield recordOf(name, gone, packBooks(some, key))
	}
}

function recordOf(network: string, gone: readonly Address[], books: Buffer): Buffer {
	const name = Buffer.from(network)
	const head = Buffer.alloc(RECORD_HEAD_BYTES + 1 + name.length + 4)
	head.writeUInt8(name.length, RECORD_HEAD_BYTES)
	name.copy(head, RECORD_HEAD_BYTES + 1)
	head.writeUInt32LE(gone.length, RECORD_HEAD_BYTES + 1 + name.length)
	const removed = Buffer.from(gone.map((address) => address.slice(2)).join(''), 'hex')
	const record = Buffer.concat([head, removed, books])
	record.writeUInt32LE(record.length - RECORD_HEAD_BYTES, 0)
	record.writeUInt32LE(crc32(record.subarray(RECORD_HEAD_BYTES)), 4)
	return record
}

/** Takes `recordOf` apart. Throws RangeError. */
export function partsOf(payload: Buffer): { readonly network: string; readonly gone: Buffer; readonly books: Buffer } {
	const length = payload.readUInt8(0)
	const from = 1 + length + 4
	const end = from + ADDRESS_BYTES * payload.readUInt32LE(1 + length)
	if (end > payload.length) throw new RangeError('a record is not whole')
	return {
		network: payload.toString('utf8', 1, 1 + length),
		gone: payload.subarray(from, end),
		books: payload.subarray(end),
	}
}
