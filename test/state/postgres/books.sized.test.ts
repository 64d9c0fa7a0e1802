// Books in sheets: what they weigh, also when they were written again and again; what a step writes; earlier rows.
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Book } from '../../../src/model/books.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Store } from '../../../src/model/ports.js'
import { openPostgresStore } from '../../../src/state/postgres/store.js'
import { sized } from '../../support/longRun.js'
import { randomOf } from '../../support/random.js'
import { startChild, stopChildren } from '../child.js'
import { blockOf, commitOf } from '../samples.js'
import { type Server, startServer } from './server.js'

const server = await startServer()
afterAll(async () => {
	stopChildren()
	await server?.stop()
})

type Books = ReadonlyMap<Address, Book>

/** As if by chance. */
function addressOf(n: number): Address {
	const number = (BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bn) % 2n ** 160n
	return `0x${number.toString(16).padStart(40, '0')}`
}

/** An account of up to ten coins. */
function bookOf(n: number, block: number): Book {
	return { block: BigInt(block), balanceWei: (BigInt(n) * 0x9e3779b97f4a7c15n) % 10n ** 19n, movedWei: 0n, code: null }
}

async function opened(url: string, clock: () => number = Date.now): Promise<Store> {
	const store = await openPostgresStore(url, { clock, leaseMs: 30_000, skewMs: 0 })
	onTestFinished(() => store.close())
	await store.acquireLease('ethereum')
	return store
}

async function booksOf(store: Store, network = 'ethereum'): Promise<Books> {
	return new Map((await store.network(network))?.books)
}

/** Tables, what they have apart, and indexes. */
async function sizeOf(at: Server, database: string): Promise<number> {
	const [row] = await at.sql<{ bytes: string }>(
		`select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c
		where relnamespace = 'tracewatch'::regnamespace and relname like 'book%' and relkind = 'r'`,
		[],
		database,
	)
	return Number(row?.bytes)
}

describe.skipIf(server === null)('books in a database', () => {
	if (server === null) return

	// Of few what is there once weighs more: the end of the last page, what was written over since it was given free.
	const [count, most] = sized([30_000, 45], [1_000_000, 40])
	test(`behavior: ${count} books take at most ${most} bytes each, opened and after an hour of polls`, async () => {
		const store = await opened(await server.fresh('weighed'))
		await store.commit(commitOf({ checkpoint: blockOf(1) }))
		const [perPoll, polls] = [Math.ceil(count / 64), sized(64, 300)]
		const closing = (from: number, block: number) =>
			Array.from({ length: perPoll }, (_, n) => (from + n) % count).map(
				(n) => [addressOf(n), bookOf(n, block)] as const,
			)
		for (let n = 0; n < count; n += perPoll) {
			await store.commit(commitOf({ books: new Map(closing(n, 20_000_000)) }))
		}
		const fresh = (await sizeOf(server, 'weighed')) / count
		const random = randomOf(3)
		let longestMs = 0
		for (let poll = 1; poll <= polls; poll++) {
			const block = 20_000_000 + poll
			const touched = Array.from({ length: sized(10, 200) }, () => Math.floor(random() * count))
			const books = [
				...closing(poll * perPoll, block),
				...touched.map((n) => [addressOf(n), bookOf(n, block)] as const),
			]
			const sinceMs = performance.now()
			await store.commit(commitOf({ checkpoint: blockOf(block), books: new Map(books) }))
			longestMs = Math.max(longestMs, performance.now() - sinceMs)
		}
		const worn = (await sizeOf(server, 'weighed')) / count
		console.info(`${count} books: ${fresh.toFixed(1)} bytes each, then ${worn.toFixed(1)}; longest ${longestMs} ms`)
		expect(fresh).toBeLessThan(most)
		expect(worn).toBeLessThan(most)
	})

	test('behavior: where most sheets are written at once, again and again, the table is made anew', async () => {
		const count = sized(60_000, 300_000)
		let nowMs = Date.now()
		const store = await opened(await server.fresh('strewn'), () => nowMs)
		const strewn = (share: number, block: number) =>
			Array.from({ length: count / share }, (_, n) => n * share).map((n) => [addressOf(n), bookOf(n, block)] as const)
		await store.commit(commitOf({ checkpoint: blockOf(1), books: new Map(strewn(1, 1)) }))
		for (let block = 2; block < 5; block++) {
			await store.commit(commitOf({ checkpoint: blockOf(block), books: new Map(strewn(60, block)) }))
		}
		// As polls go on, and not more often than each ten minutes.
		const each = async () => {
			nowMs += 60_000
			await store.commit(commitOf({ books: new Map(strewn(count, 4)) }))
			return (await sizeOf(server, 'strewn')) / count
		}
		// With what is no matter among so few.
		await expect.poll(each, { interval: 200 }).toBeLessThan(36 + 1_048_576 / count)
		expect(await booksOf(store)).toEqual(new Map([...strewn(1, 1), ...strewn(60, 4)]))
	})

	test('default: after any steps and restarts there is what a map says, and few sheets hold few books', async () => {
		const url = await server.fresh('steps')
		const random = randomOf(5)
		let store = await opened(url)
		let books: Books = new Map()
		await store.commit(commitOf({ checkpoint: blockOf(1) }))
		const sheets = async () => {
			const rows = 'select count(*)::int as count from tracewatch.book_sheet'
			return (await server.sql<{ count: number }>(rows, [], 'steps'))[0]?.count ?? 0
		}
		for (let step = 2; step <= sized(40, 300); step++) {
			const changes = new Map<Address, Book | null>()
			// It grows, is mostly taken away, and grows again.
			const goes = step % 20 > 14 ? 0.9 : 0.1
			for (let n = 0; n < random() * 200; n++) {
				const code = [{}, { code: null }, { code: 'c0de00ff00000001' }][Math.floor(random() * 3)]
				const book = {
					block: BigInt(step),
					balanceWei: 7n ** BigInt(Math.floor(random() * 40)),
					movedWei: -5n,
					...code,
				}
				changes.set(addressOf(Math.floor(random() * 900)), random() < goes ? null : book)
			}
			await store.commit(commitOf({ checkpoint: blockOf(step), books: changes }))
			books = new Map(
				[...books, ...changes].flatMap(([address]) => {
					const book = changes.has(address) ? changes.get(address) : books.get(address)
					return book == null ? [] : [[address, book] as const]
				}),
			)
			expect(await booksOf(store)).toEqual(books)
			if (step % 5 !== 0) continue
			await store.close()
			store = await opened(url)
			expect(await booksOf(store)).toEqual(books)
		}
		const gone = new Map([...books.keys()].slice(10).map((address) => [address, null]))
		await store.commit(commitOf({ books: gone }))
		await store.close()
		store = await opened(url)
		await store.commit(commitOf({ books: new Map([...books].slice(0, 10)) }))
		expect(await sheets()).toBe(1)
		expect(await booksOf(store)).toEqual(new Map([...books].slice(0, 10)))
		await store.commit(commitOf({ books: new Map([...books.keys()].map((address) => [address, null])) }))
		expect(await sheets()).toBe(0)
	})

	test('behavior: a step that fails leaves the books as they were, and the next one goes on from there', async () => {
		const url = await server.fresh('undone')
		const store = await opened(url)
		const of = (from: number, to: number, block: number) =>
			new Map(Array.from({ length: to - from }, (_, n) => [addressOf(from + n), bookOf(n, block)] as const))
		await store.commit(commitOf({ checkpoint: blockOf(1), books: of(0, 100, 1) }))
		await server.sql(
			`create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
			create trigger refuse before update on tracewatch.network for each row execute function public.refuse()`,
			[],
			'undone',
		)
		await expect(store.commit(commitOf({ checkpoint: blockOf(2), books: of(50, 300, 2) }))).rejects.toThrow('no')
		await server.sql('drop function public.refuse cascade', [], 'undone')
		expect(await booksOf(store)).toEqual(of(0, 100, 1))
		await store.commit(commitOf({ checkpoint: blockOf(3), books: of(90, 200, 3) }))
		await store.close()
		expect(await booksOf(await opened(url))).toEqual(new Map([...of(0, 100, 1), ...of(90, 200, 3)]))
	})

	/** As the version before wrote them: a row each. */
	async function rowsOf(name: string, count: number): Promise<{ readonly url: string; readonly books: Books }> {
		const url = (await server?.fresh(name)) ?? ''
		const store = await opened(url)
		await store.commit(commitOf({ checkpoint: blockOf(7) }))
		await store.close()
		await server?.sql(
			`drop view tracewatch.book; drop function tracewatch.brought_up_to_date; drop table tracewatch.book_sheet;
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

	test('error: an older program that goes on running is told why it cannot, before it writes anything', async () => {
		const { url, books } = await rowsOf('older', 100)
		const before = (await server.sql<{ revision: string }>('select revision from tracewatch.network', [], 'older'))[0]
		const store = await opened(url)
		expect(await booksOf(store)).toEqual(books)
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
		expect(await booksOf(store)).toEqual(books)
	})
})
