/**
 * Books as rows, one each. In memory are those that were asked for since the last commit, and of the others how many
 * are closed at each block: a million books take as little as none.
 */

import { finish, type Steps, stepItems } from '../../../core/steps.js'
import type { Book } from '../../../model/books.js'
import type { Address } from '../../../model/glossary.js'
import type { Books } from '../../bookShards.js'
import type { Ask } from '../connection/database.js'
import { PIECE, pieces } from '../connection/pieces.js'

type Changes = ReadonlyMap<Address, Book | null>

/** The books at one revision of the network. `get` throws for a book that was not loaded. */
export interface RowBooks extends Books {
	after(changes: Changes): RowBooks
	afterSteps(changes: Changes): Steps<RowBooks>
	/** `by`: within a transaction, its own; default: a connection of the books' own. */
	load(addresses: Iterable<Address>, by?: Ask): Promise<void>
}

interface BookRow {
	readonly address: Address
	readonly block: string
	readonly balance: string
	readonly moved: string
	/** Empty: the address has no code; null: not known. */
	readonly code: string | null
	/** Null: not known. */
	readonly moved_at: string | null
}

const COLUMNS = 'address, block, balance, moved, code, moved_at'

/** All books, for a copy of the whole state. */
export async function readBooks(ask: Ask, network: string): Promise<ReadonlyMap<Address, Book>> {
	const books = new Map<Address, Book>()
	for await (const row of rowsIn(ask, network, '')) books.set(row.address, bookOf(row))
	return books
}

async function* rowsIn(ask: Ask, network: string, condition: string, ...values: unknown[]): AsyncIterable<BookRow> {
	for (let after = ''; ; ) {
		const rows = await ask<BookRow>(
			`select ${COLUMNS} from tracewatch.book
			where network = $1 and address > $2 ${condition} order by address limit ${PIECE}`,
			[network, after, ...values],
		)
		yield* rows
		const last = rows.at(-1)
		if (last === undefined || rows.length < PIECE) return
		after = last.address
	}
}

/** How many books are closed at each block, and how many of all have unproved movements. */
interface Counts {
	readonly closedAt: ReadonlyMap<bigint, number>
	readonly waiting: number
}

/** `ask`: for now; `later`: for what is asked for afterwards. */
export async function openBooks(ask: Ask, later: Ask, network: string): Promise<RowBooks> {
	const rows = await ask<{ block: string; books: number; waiting: number }>(
		`select block, count(*)::int as books, (count(*) filter (where moved <> 0))::int as waiting
		from tracewatch.book where network = $1 group by block`,
		[network],
	)
	const closedAt = new Map(rows.map(({ block, books }) => [BigInt(block), books]))
	return setOf(later, network, { closedAt, waiting: rows.reduce((sum, row) => sum + row.waiting, 0) }, new Map())
}

export function noRows(later: Ask, network: string): RowBooks {
	return setOf(later, network, { closedAt: new Map(), waiting: 0 }, new Map())
}

function setOf(ask: Ask, network: string, counts: Counts, loaded: Map<Address, Book | null>): RowBooks {
	const { closedAt, waiting } = counts
	let size = 0
	for (const books of closedAt.values()) size += books

	function bookAt(address: Address): Book | undefined {
		const book = loaded.get(address)
		if (book === undefined) throw new Error(`the book of ${address} is read before it was loaded`)
		return book ?? undefined
	}

	function* afterSteps(changes: Changes): Steps<RowBooks> {
		if (changes.size === 0) return set
		const next = new Map(closedAt)
		let still = waiting
		let seen = 0
		const count = (book: Book | null | undefined, by: 1 | -1) => {
			if (book == null) return
			const books = (next.get(book.block) ?? 0) + by
			if (books === 0) next.delete(book.block)
			else next.set(book.block, books)
			if (book.movedWei !== 0n) still += by
		}
		for (const [address, book] of changes) {
			if (++seen % stepItems === 0) yield
			count(bookAt(address), -1)
			count(book, 1)
		}
		return setOf(ask, network, { closedAt: next, waiting: still }, new Map(changes))
	}

	const set: RowBooks = {
		size,
		async load(addresses, by = ask) {
			const missing = [...new Set(addresses)].filter((address) => !loaded.has(address))
			for (const piece of pieces(missing)) {
				const rows = await by<BookRow>(
					`select ${COLUMNS} from tracewatch.book where network = $1 and address = any($2)`,
					[network, piece],
				)
				for (const address of piece) loaded.set(address, null)
				for (const row of rows) loaded.set(row.address, bookOf(row))
			}
		},
		has: (address) => bookAt(address) !== undefined,
		get: bookAt,
		after: (changes) => finish(afterSteps(changes)),
		afterSteps,
		async facts(most) {
			let lowest: bigint | null = null
			for (const block of closedAt.keys()) if (lowest === null || block < lowest) lowest = block
			const some: Address[] = []
			for (const [address, book] of loaded) if (book !== null && book.movedWei !== 0n) some.push(address)
			const others = Math.min(most, waiting) - some.length
			if (others > 0) {
				// The loaded ones may be changed, and not written yet.
				const rows = await ask<{ address: Address }>(
					`select address from tracewatch.book
					where network = $1 and moved <> 0 and address <> all($2) order by address limit $3`,
					[network, [...loaded.keys()], others],
				)
				some.push(...rows.map(({ address }) => address))
			}
			return { lowest, waiting, some: some.slice(0, most) }
		},
		async beyond(block) {
			const found: Address[] = []
			for await (const row of rowsIn(ask, network, 'and (moved <> 0 or block > $3)', String(block))) {
				loaded.set(row.address, bookOf(row))
				found.push(row.address)
			}
			return found
		},
		async some(from, most) {
			const rows = await ask<{ address: Address }>(
				'select address from tracewatch.book where network = $1 and address > $2 order by address limit $3',
				[network, from, most],
			)
			return {
				addresses: rows.map(({ address }) => address),
				next: rows.length < most ? '' : (rows.at(-1)?.address ?? ''),
			}
		},
		keys: notWhole,
		values: notWhole,
		entries: notWhole,
		forEach: notWhole,
		[Symbol.iterator]: notWhole,
	}
	return set
}

function notWhole(): never {
	throw new Error('books in a database are never visited one by one')
}

/** Null deletes a book. */
export async function writeBooks(
	ask: Ask,
	network: string,
	changes: Iterable<readonly [Address, Book | null]>,
): Promise<void> {
	for (const piece of pieces(changes)) {
		const gone = piece.flatMap(([address, book]) => (book === null ? [address] : []))
		if (gone.length > 0) {
			await ask('delete from tracewatch.book where network = $1 and address = any($2)', [network, gone])
		}
		const there = piece.flatMap(([address, book]) => (book === null ? [] : [{ address, ...book }]))
		if (there.length === 0) continue
		await ask(INSERT, [
			network,
			there.map(({ address }) => address),
			there.map(({ block }) => String(block)),
			there.map(({ balanceWei }) => String(balanceWei)),
			there.map(({ movedWei }) => String(movedWei)),
			there.map(({ code }) => (code === undefined ? null : (code ?? ''))),
			there.map(({ movedAt }) => (movedAt === undefined ? null : String(movedAt))),
		])
	}
}

const INSERT = `
	insert into tracewatch.book (network, address, block, balance, moved, code, moved_at)
	select $1, * from unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::text[], $7::numeric[])
	on conflict (network, address) do update set
		block = excluded.block, balance = excluded.balance, moved = excluded.moved, code = excluded.code,
		moved_at = excluded.moved_at`

function bookOf({ block, balance, moved, code, moved_at: at }: BookRow): Book {
	const mark = code === null ? {} : { code: code === '' ? null : code }
	const last = at === null ? {} : { movedAt: BigInt(at) }
	return { block: BigInt(block), balanceWei: BigInt(balance), movedWei: BigInt(moved), ...mark, ...last }
}
