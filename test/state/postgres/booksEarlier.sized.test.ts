// Books of earlier versions of the tables: brought up to date, through kills, and older programs are told.
import { afterAll, describe, expect, test } from 'vitest'
import type { Book, BookSet } from '../../../src/model/books.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Store } from '../../../src/model/ports.js'
import { sized } from '../../support/longRun.js'
import { randomOf } from '../../support/random.js'
import { startChild, stopChildren } from '../child.js'
import { blockOf, commitOf } from '../samples.js'
import { startServer } from './server.js'
import { addressOf, type Books, bookOf, booksOf, hashOf, opened } from './sheetBooks.js'

const server = await startServer()
afterAll(async () => {
	stopChildren()
	await server?.stop()
})

/** A book of version 9 and its bytes, written by hand: 20 of the address, head, block, balance, moved, mark. */
function oldBook(n: number): { readonly address: Address; readonly book: Book; readonly bytes: Buffer } {
	const address = addressOf(n)
	const code = [{}, { code: null }, { code: hashOf(n) }][n % 3] as Pick<Book, 'code'>
	const block = n % 200
	const moved = n % 5 === 0 ? '8207d0' : ''
	const head = (moved === '' ? 0 : 0x80) + (code.code === undefined ? 0 : 0x40) + (code.code == null ? 0 : 0x20) + 5
	const balance = (0x0100000000 + n).toString(16).padStart(10, '0')
	const parts = [
		address.slice(2),
		head.toString(16).padStart(2, '0'),
		block < 128 ? block.toString(16).padStart(2, '0') : `${block.toString(16)}01`,
		balance,
		moved,
		code.code ?? '',
	]
	const book = { block: 20_000_000n + BigInt(block), balanceWei: BigInt(`0x${balance}`), ...code }
	const movedWei = moved === '' ? 0n : -2_000n
	return { address, book: { ...book, movedWei }, bytes: Buffer.from(parts.join(''), 'hex') }
}

describe.skipIf(server === null)('books of earlier tables', () => {
	if (server === null) return

	const OF_THIS_VERSION = `
		drop view tracewatch.book, tracewatch.book_sheet; drop table tracewatch.sheet;
		drop function tracewatch.brought_up_to_date, tracewatch.brought_up_to_date_again;`

	/** What is kept of them, by a store that has them. */
	async function keptOf(books: Books, store: Store): Promise<Books> {
		const kept = (await store.network('ethereum'))?.books
		return new Map([...books].map(([address, book]) => [address, { ...book, ...shortened(book, kept) }]))
	}

	function shortened({ code }: Book, kept: BookSet | undefined): Pick<Book, 'code'> {
		return code == null ? {} : { code: kept?.markOf?.(code) ?? '' }
	}

	/** As version 8 of the tables has them: a row each. */
	async function rowsOf(name: string, count: number): Promise<{ readonly url: string; readonly books: Books }> {
		const url = (await server?.fresh(name)) ?? ''
		const store = await opened(url)
		await store.commit(commitOf({ checkpoint: blockOf(7) }))
		await store.close()
		await server?.sql(
			`${OF_THIS_VERSION}
			create table tracewatch.book (
				network text not null, address text not null, block numeric not null, balance numeric not null,
				moved numeric not null, code text, primary key (network, address)
			);
			update tracewatch.version set version = 8`,
			[],
			name,
		)
		const codes = [{}, { code: null }, { code: 'c0de00ff00000001' }] as const
		const books = new Map(
			Array.from({ length: count }, (_, n) => {
				const { code: _code, ...plain } = bookOf(n, n % 5)
				const much = n % 11 === 0 ? { balanceWei: 2n ** 100n } : {}
				return [addressOf(n), { ...plain, movedWei: BigInt(n % 7) - 3n, ...much, ...codes[n % 3] } as Book] as const
			}),
		)
		for (const network of ['ethereum', 'other']) {
			await server?.sql(
				`insert into tracewatch.book (network, address, block, balance, moved, code)
				select '${network}', * from unnest($1::text[], $2::numeric[], $3::numeric[], $4::numeric[], $5::text[])`,
				[
					[...books.keys()],
					[...books.values()].map(({ block }) => String(block)),
					[...books.values()].map(({ balanceWei }) => String(balanceWei)),
					[...books.values()].map(({ movedWei }) => String(movedWei)),
					[...books.values()].map(({ code }) => (code === undefined ? null : (code ?? ''))),
				],
				name,
			)
		}
		return { url, books }
	}

	/** As version 9 has them: up to 60 a row, marks of 8 bytes, no key. */
	async function sheetsOf(name: string, count: number): Promise<{ readonly url: string; readonly books: Books }> {
		const url = (await server?.fresh(name)) ?? ''
		const store = await opened(url)
		await store.commit(commitOf({ checkpoint: blockOf(7) }))
		await store.close()
		await server?.sql(
			`${OF_THIS_VERSION}
			create table tracewatch.book_sheet (
				network text not null, sheet int not null, books bytea not null, primary key (network, sheet)
			);
			update tracewatch.version set version = 9`,
			[],
			name,
		)
		const books = new Map<Address, Book>()
		const [sheets, packed]: [number[], Buffer[]] = [[], []]
		for (let n = 0; n < count; n += 60) {
			const rows = Array.from({ length: Math.min(60, count - n) }, (_, place) => oldBook(n + place))
			for (const { address, book } of rows) books.set(address, book)
			sheets.push(sheets.length + 1)
			const base = Buffer.alloc(8)
			base.writeDoubleBE(20_000_000)
			packed.push(Buffer.concat([base, ...rows.map(({ bytes }) => bytes)]))
		}
		for (const network of ['ethereum', 'other']) {
			await server?.sql(
				`insert into tracewatch.book_sheet select '${network}', * from unnest($1::int[], $2::bytea[])`,
				[sheets, packed],
				name,
			)
		}
		return { url, books }
	}

	test('behavior: sheets of version 9 become such with shorter marks, and an older program is told', async () => {
		const { url, books } = await sheetsOf('sheets', 1_000)
		const store = await opened(url)
		expect(await booksOf(store)).toEqual(await keptOf(books, store))
		const others = `select count(*)::int as count from tracewatch.sheet where network = 'other'`
		expect(await server.sql(others, [], 'sheets')).toEqual([{ count: 18 }])
		// Other code is seen as such, whichever it was before.
		const table = (await store.network('ethereum'))?.books
		const marks = new Set([...books.values()].flatMap(({ code }) => (code == null ? [] : [table?.markOf?.(code)])))
		expect(marks.size).toBe(333)
		// A step writes what it touches, and the rest stays.
		const [first = addressOf(0)] = books.keys()
		const changed = { block: 30_000_000n, balanceWei: 1n, movedWei: 0n, code: hashOf(0) }
		await store.commit(commitOf({ checkpoint: blockOf(8), books: new Map([[first, changed]]) }))
		await store.close()
		const again = await opened(url)
		expect(await booksOf(again)).toEqual(await keptOf(new Map([...books, [first, changed]]), again))
		const version = await server.sql<{ version: number }>('select version from tracewatch.version', [], 'sheets')
		expect(version).toEqual([{ version: 10 }])
		const read = `select sheet, books from tracewatch.book_sheet
			where network = $1 and sheet > $2 order by sheet limit 500`
		await expect(server.sql(read, ['ethereum', 0], 'sheets')).rejects.toThrow('by a newer tracewatch')
		const write = `insert into tracewatch.book_sheet (network, sheet, books)
			select $1, * from unnest($2::int[], $3::bytea[])
			on conflict (network, sheet) do update set books = excluded.books`
		await expect(server.sql(write, ['ethereum', [1], [Buffer.alloc(9)]], 'sheets')).rejects.toThrow()
	})

	test('error: an older program that goes on running is told why it cannot, before it writes anything', async () => {
		const { url, books } = await rowsOf('older', 100)
		const before = (await server.sql<{ revision: string }>('select revision from tracewatch.network', [], 'older'))[0]
		const store = await opened(url)
		expect(await booksOf(store)).toEqual(await keptOf(books, store))
		// It reads all again where the revision is another than it knows, and comes upon its books.
		const after = (await server.sql<{ revision: string }>('select revision from tracewatch.network', [], 'older'))[0]
		expect(Number(after?.revision)).toBeGreaterThan(Number(before?.revision))
		const read = `select address, block, balance, moved, code from tracewatch.book
			where network = $1 and address > $2 order by address limit 5000`
		await expect(server.sql(read, ['ethereum', ''], 'older')).rejects.toThrow(
			'brought up to date by a newer tracewatch',
		)
		await expect(server.sql(`insert into tracewatch.book values ('a', 'b', 1, 1, 1)`, [], 'older')).rejects.toThrow()
	})

	test('behavior: rows of an earlier version become sheets, and a kill in the middle loses none', async () => {
		const { url, books } = await rowsOf('earlier', sized(10_000, 200_000))
		const version = async () =>
			(await server.sql<{ version: number }>('select version from tracewatch.version', [], 'earlier'))[0]?.version
		const left = 'select count(*)::int as count from tracewatch.book'
		let kills = 0
		const random = randomOf(9)
		while ((await version()) === 8) {
			expect((await server.sql<{ count: number }>(left, [], 'earlier'))[0]?.count).toBe(2 * books.size)
			const child = startChild('opener.ts', url)
			// From its first statement on.
			const isAtIt = async () =>
				(await server.sql(`select from pg_locks where mode = 'AccessExclusiveLock' and granted`)).length > 0
			const ended = child.line()
			while (!(await isAtIt()) && (await version()) === 8) await new Promise(setImmediate)
			if (kills < sized(3, 20)) {
				await new Promise((resolve) => setTimeout(resolve, random() * 300))
				await child.kill('SIGKILL')
				kills++
			}
			await ended
		}
		expect(kills).toBeGreaterThan(0)
		const store = await opened(url)
		expect(await booksOf(store)).toEqual(await keptOf(books, store))
	})
})
