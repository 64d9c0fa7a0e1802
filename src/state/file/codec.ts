/**
 * State to JSON and back: amounts and block numbers as decimal text, maps as objects or arrays, no space between.
 * It is yielded in pieces, and the bytes of deliveries and announcements are remembered: a step writes all of the file,
 * but makes JSON only of what is new. With ten thousand deliveries that is the most of a write's time.
 */

import type { Book } from '../../model/books.js'
import type { BlockRef } from '../../model/chain.js'
import type { Delivery } from '../../model/delivery.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import type { HistoryEntry } from '../../model/history.js'
import type { Seen } from '../../model/state.js'
import { announcementOf, type StoredAnnouncement, storedOf } from '../announcement.js'
import { bookTableOf, createBookGatherer } from '../bookTable.js'
import { freshKey } from '../codeMark.js'
import { emptyHistory, type NetworkRecord, type StateDoc, type Total } from '../document.js'
import { gapsOf, type StoredGap, storedGap } from '../gap.js'
import { renewedBooks } from '../oldBooks.js'
import { payeesOf, payeesText } from '../payees.js'
import { type BooksAt, isBookId } from './bookFile.js'
import type { Format, Piece } from './durable.js'

type BlockJson = readonly [number: string, hash: string]

interface StateJson {
	networks: Record<
		string,
		{
			chainId: number
			checkpoint: BlockJson
			settled: BlockJson
			updatedAtMs: number
			seen?: Seen
			progress: Record<string, string>
			/** `block balance moved`; absent where the last is 0. As they were written up to November 2026. */
			books?: Record<Address, string>
			/** Of `pieces` of a table of books, in base64. Absent where there are none. */
			packedBooks?: string[]
			/** Absent where there are none. */
			gaps?: StoredGap[]
			payees?: Record<Address, string>
			told: (StoredAnnouncement & { id: string; block: BlockJson })[]
		}
	>
	totals: Record<string, Total>
	deliveries: Delivery[]
	/** Absent where none was ever kept. */
	history?: { next: number; entries: readonly HistoryEntry[] }
	/** Where the books stand; absent: here. */
	books?: BooksAt
}

/** Content of `state.json`. */
export interface StateFile {
	readonly doc: StateDoc
	/** Null: they stand in the document, and are read with it. */
	readonly booksAt: BooksAt | null
}

export const stateFileFormat: Format<StateFile> = {
	version: 2,
	migrations: { 1: withRenewedBooks },
	*encode({ doc, booksAt }) {
		yield* document(doc, booksAt)
	},
	decode(data) {
		const { books: booksAt = null } = data as StateJson
		if (booksAt !== null && !(isBookId(booksAt.id) && (booksAt.before === null || isBookId(booksAt.before))))
			throw new Error('no name of a file')
		return { doc: documentOf(data as StateJson), booksAt }
	},
}

/** With all that is remembered in it. */
export const stateFormat: Format<StateDoc> = {
	version: 2,
	migrations: { 1: withRenewedBooks },
	encode: (doc) => document(doc, null),
	decode: (data) => documentOf(data as StateJson),
}

function* document({ networks, totals, deliveries, history }: StateDoc, booksAt: BooksAt | null): Iterable<Piece> {
	if (booksAt !== null) yield `{"books":${JSON.stringify(booksAt)},"networks":`
	else yield '{"networks":'
	yield* object(networks, (record) => network(record, booksAt === null))
	yield ',"totals":'
	yield* object(totals, (total) => [JSON.stringify(total)])
	yield ',"deliveries":'
	yield* array(deliveries.values(), (entry) => entry)
	if (history.next > 1) {
		yield `,"history":{"next":${history.next},"entries":`
		yield* array(history.entries, (entry) => entry)
		yield '}'
	}
	yield '}'
}

function documentOf({ networks, totals, deliveries, history = emptyHistory }: StateJson): StateDoc {
	return {
		networks: new Map(
			Object.entries(networks).map(
				([name, { checkpoint, settled, progress, told, books, packedBooks, gaps, payees, ...rest }]): [
					string,
					NetworkRecord,
				] => [
					name,
					{
						...rest,
						checkpoint: blockOf(checkpoint),
						settled: blockOf(settled),
						progress: new Map(Object.entries(progress).map(([token, next]) => [token, BigInt(next)])),
						books: booksOf(books, packedBooks),
						gaps: gapsOf(gaps ?? []),
						...(payees && {
							payees: new Map(
								(Object.entries(payees) as [Address, string][]).map(([watch, text]) => [watch, payeesOf(text)]),
							),
						}),
						announcements: new Map(
							told.map((entry) => [entry.id, announcementOf(entry.id, blockOf(entry.block), entry)]),
						),
					},
				],
			),
		),
		totals: new Map(Object.entries(totals)),
		deliveries: new Map(deliveries.map((entry) => [entry.id, entry])),
		history,
	}
}

function* network(
	{ chainId, checkpoint, settled, updatedAtMs, seen, progress, announcements, books, gaps, payees }: NetworkRecord,
	withBooks: boolean,
): Iterable<Piece> {
	const facts = { chainId, checkpoint: blockJson(checkpoint), settled: blockJson(settled), updatedAtMs, seen }
	yield `${JSON.stringify(facts).slice(0, -1)},"progress":`
	yield* object(progress, (next) => [`"${next}"`])
	yield ',"told":'
	yield* array(announcements.values(), (entry) => ({
		id: entry.id,
		block: blockJson(entry.block),
		...storedOf(entry),
	}))
	if (withBooks && books.size > 0) {
		yield ',"packedBooks":['
		let comma = ''
		for (const piece of bookTableOf(books).pieces()) {
			yield `${comma}"${Buffer.from(piece).toString('base64')}"`
			comma = ','
		}
		yield ']'
	}
	if (gaps.size > 0) {
		yield ',"gaps":'
		yield* array(gaps.values(), storedGap)
	}
	if (payees !== undefined && payees.size > 0) {
		yield ',"payees":'
		yield* object(payees, (list) => [`"${payeesText(list)}"`])
	}
	yield '}'
}

function booksOf(texts: Record<Address, string> = {}, packed: readonly string[] = []): NetworkRecord['books'] {
	const books = new Map(
		(Object.entries(texts) as [Address, string][]).map(([address, text]) => [address, bookOf(text)]),
	)
	if (packed.length === 0) return books.size === 0 ? books : bookTableOf(books)
	const gatherer = createBookGatherer()
	for (const piece of packed) gatherer.add(Buffer.from(piece, 'base64'))
	return gatherer.done().after(books)
}

/** From version 1 to 2: marks of code of 8 bytes. Those of books in a file of their own, see `readBooks.ts`. */
function withRenewedBooks(data: unknown): StateJson {
	const { networks, ...rest } = data as StateJson
	const renewed = Object.entries(networks).map(([name, network]) => {
		if (network.packedBooks === undefined) return [name, network]
		const key = freshKey()
		const packedBooks = network.packedBooks.map((piece) =>
			renewedBooks(Buffer.from(piece, 'base64'), key).toString('base64'),
		)
		return [name, { ...network, packedBooks }]
	})
	return { networks: Object.fromEntries(renewed), ...rest }
}

function bookOf(text: string): Book {
	const [block = '', balance = '', moved = '0', code] = text.split(' ')
	const mark = code === undefined ? {} : { code: code === '-' ? null : code }
	return { block: BigInt(block), balanceWei: BigInt(balance), movedWei: BigInt(moved), ...mark }
}

/** By delivery or announcement; they never change, others take their place. */
const made = new WeakMap<object, Uint8Array>()

function remembered<K extends object>(key: K, json: (key: K) => object): Uint8Array {
	let bytes = made.get(key)
	if (bytes === undefined) {
		bytes = Buffer.from(JSON.stringify(json(key)))
		made.set(key, bytes)
	}
	return bytes
}

function* object<V>(map: ReadonlyMap<string, V>, text: (value: V) => Iterable<Piece>): Iterable<Piece> {
	let comma = ''
	yield '{'
	for (const [key, value] of map) {
		yield `${comma}${JSON.stringify(key)}:`
		yield* text(value)
		comma = ','
	}
	yield '}'
}

function* array<V extends object>(values: Iterable<V>, json: (value: V) => object): Iterable<Piece> {
	let first = true
	yield '['
	for (const value of values) {
		if (!first) yield COMMA
		yield remembered(value, json)
		first = false
	}
	yield ']'
}

const COMMA = Buffer.from(',')
const blockJson = ({ number, hash }: BlockRef): BlockJson => [String(number), hash]
const blockOf = ([number, hash]: BlockJson): BlockRef => ({ number: BigInt(number), hash: hash as Hash & Hex })
