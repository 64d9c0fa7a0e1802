/** `state.json`, with books that stand by themselves: these are written first, and count once it says so. */

import type { Address } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { StateDoc } from '../document.js'
import { type BooksAt, bookPath, bookWriter, removeOthers } from './bookFile.js'
import { stateFileFormat } from './codec.js'
import { durableFile } from './durable.js'
import { type FoundState, readState, statePath } from './read.js'
import { readBookFile } from './readBooks.js'

/** As `readState`, with all books in the state; `damage`: why they are not, though there were some. */
export type FoundWhole = FoundState & { readonly damage: string | null }

/** Throws StateError as `readState` does. */
export async function readWholeState(folder: string): Promise<FoundWhole> {
	const found = await readState(folder)
	const { state, booksAt } = found
	if (state === null || booksAt === null) return { ...found, damage: null }
	const read = await readBookFile(folder, booksAt)
	if ('damage' in read) return { ...found, damage: `${bookPath(folder, booksAt.id)} is damaged: ${read.damage}` }
	const networks = new Map(
		[...state.networks].map(([name, record]) => [name, { ...record, books: read.books.get(name) ?? record.books }]),
	)
	return { ...found, state: { ...state, networks }, damage: null }
}

export interface StateWriter {
	/** Says that books of these may differ in what is written next. */
	touch(network: string, addresses: Iterable<Address>): void
	/** For lowdb. */
	read(): Promise<StateDoc | null>
	write(state: StateDoc): Promise<void>
}

/** Books that are damaged are opened anew: nothing of them is taken for closed. */
export async function stateWriter(
	folder: string,
	{ state, booksAt, damage }: FoundWhole,
	{ log, mostBooksInside }: { readonly log?: Log | undefined; readonly mostBooksInside?: number | undefined },
): Promise<StateWriter> {
	const whole = durableFile(statePath(folder), stateFileFormat)
	if (damage !== null) log?.warn({ damage }, 'the books are opened anew, for their file cannot be believed')
	const at: BooksAt | null = damage === null ? booksAt : null
	await removeOthers(folder, at)
	const books = bookWriter(folder, at, mostBooksInside)
	return {
		touch: books.touch,
		read: async () => state,
		async write(doc) {
			const booksAt = await books.write(doc.networks)
			await whole.write({ doc, booksAt })
			await books.done(booksAt)
		},
	}
}
