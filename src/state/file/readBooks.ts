/** Books out of their file, see `bookFile.ts`. */

import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { createTimeSlices } from '../../base/timeSlices.js'
import { StateError } from '../../errors.js'
import { ADDRESS_BYTES } from '../bookFormat.js'
import { type BookGatherer, type BookTable, createBookGatherer } from '../bookTable.js'
import { freshKey, type MarkKey } from '../codeMark.js'
import { renewedBooks } from '../oldBooks.js'
import { type BooksAt, bookPath, chained, FORM, HEAD, partsOf, RECORD_HEAD_BYTES } from './bookFile.js'
import { diskError, isMissing } from './diskErrors.js'
import { openOwnFile } from './ownFile.js'

/** By network; or why they cannot be believed, to complete the sentence "books.….data is damaged: …". */
export type FoundBooks = { readonly books: ReadonlyMap<string, BookTable> } | { readonly damage: string }

const CHUNK_BYTES = 1 << 20
const OLD_HEAD = Buffer.from('tracewatch books 1\n')

/** Throws StateError `disk`. */
export async function readBookFile(folder: string, at: BooksAt): Promise<FoundBooks> {
	const path = bookPath(folder, at.id)
	try {
		const file = await openOwnFile(path)
		try {
			return await gathered(file, at)
		} finally {
			await file.close()
		}
	} catch (error) {
		if (isMissing(error)) return { damage: 'it is missing, though there was one' }
		if (error instanceof RangeError) return { damage: `its content cannot be understood (${error.message})` }
		throw error instanceof StateError ? error : diskError('read', path, error)
	}
}

async function gathered(file: FileHandle, { bytes: end, sum: expected, sizes, form }: BooksAt): Promise<FoundBooks> {
	const isOld = form !== FORM
	const keys = new Map<string, MarkKey>()
	const { size } = await file.stat()
	if (size < end) return { damage: `its end is missing (it has ${size} bytes of ${end})` }
	const networks = new Map<string, BookGatherer>()
	const slices = createTimeSlices()
	let bytes: Buffer = Buffer.alloc(0)
	let at = 0
	let chain = 0
	/** Of the file, of which `bytes` are the last. */
	let read = 0
	const need = async (length: number): Promise<boolean> => {
		if (bytes.length - at >= length) return true
		const more = Buffer.allocUnsafe(Math.min(end - read, Math.max(CHUNK_BYTES, length)))
		let got = 0
		while (got < more.length) {
			const { bytesRead } = await file.read(more, got, more.length - got, read + got)
			if (bytesRead === 0) break
			got += bytesRead
		}
		read += got
		bytes = Buffer.concat([bytes.subarray(at), more.subarray(0, got)])
		at = 0
		return bytes.length >= length
	}
	const head = isOld ? OLD_HEAD : HEAD
	if (!(await need(head.length)) || !bytes.subarray(0, head.length).equals(head)) {
		return { damage: 'it does not begin as a file of books does' }
	}
	at += head.length
	const isEnd = () => read === end && at === bytes.length
	while (!isEnd()) {
		if (!(await need(RECORD_HEAD_BYTES))) return { damage: 'it breaks off within a record' }
		const length = bytes.readUInt32LE(at)
		const sum = bytes.readUInt32LE(at + 4)
		chain = chained(chain, bytes.subarray(at))
		at += RECORD_HEAD_BYTES
		if (length > end || !(await need(length))) return { damage: 'it breaks off within a record' }
		const payload = bytes.subarray(at, at + length)
		if (crc32(payload) !== sum) return { damage: 'its content does not match its checksums' }
		at += length
		const { network, gone, books } = partsOf(payload)
		const gatherer = networks.get(network) ?? createBookGatherer(Math.min(sizes[network] ?? 0, end / ADDRESS_BYTES))
		networks.set(network, gatherer)
		gatherer.remove(gone)
		const key = keys.get(network) ?? freshKey()
		keys.set(network, key)
		gatherer.add(isOld ? renewedBooks(books, key) : books)
		if (slices.isOver()) await slices.next()
	}
	if (chain !== expected) return { damage: 'it is of another step than state.json' }
	return { books: new Map([...networks].map(([name, gatherer]) => [name, gatherer.done()])) }
}
