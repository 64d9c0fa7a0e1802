// Books in sheets: what they weigh, also when they were written again and again; what a step writes.
import { afterAll, describe, expect, test } from 'vitest'
import type { Book } from '../../../src/model/books.js'
import type { Address } from '../../../src/model/glossary.js'
import { sized } from '../../support/longRun.js'
import { randomOf } from '../../support/random.js'
import { blockOf, commitOf } from '../samples.js'
import { type Server, startServer } from './server.js'
import { addressOf, type Books, bookOf, booksOf, hashOf, opened } from './sheetBooks.js'

const server = await startServer()
afterAll(async () => {
	await server?.stop()
})

/** Tables, what they have apart, and indexes. */
async function sizeOf(at: Server, database: string): Promise<number> {
	const [row] = await at.sql<{ bytes: string }>(
		`select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c
		where relnamespace = 'tracewatch'::regnamespace and relname = 'sheet' and relkind = 'r'`,
		[],
		database,
	)
	return Number(row?.bytes)
}

describe.skipIf(server === null)('books in a database', () => {
	if (server === null) return

	// Of few what is there once weighs more: the end of the last page, what was written over since it was given free.
	const [count, most] = sized([30_000, 45], [1_000_000, 40])
	const kinds: readonly (readonly [string, (n: number) => string | null])[] = [
		['contracts, each of code of its own', hashOf],
		['plain accounts', () => null],
		['contracts of a hundred codes, as proxies are', (n) => hashOf(n % 100)],
	]
	test.each(kinds.slice(0, sized(1, 3)))(
		`behavior: ${count} books of %s take at most ${most} bytes each, opened and after 500 polls`,
		async (what, codeOf) => {
			const database = `weighed${what.length}`
			const store = await opened(await server.fresh(database))
			await store.commit(commitOf({ checkpoint: blockOf(1) }))
			const [perPoll, polls] = [Math.ceil(count / 64), sized(40, 500)]
			const bookAt = (n: number, block: number) => [addressOf(n), { ...bookOf(n, block), code: codeOf(n) }] as const
			const closing = (from: number, block: number) =>
				Array.from({ length: perPoll }, (_, n) => bookAt((from + n) % count, block))
			for (let n = 0; n < count; n += perPoll) {
				await store.commit(commitOf({ books: new Map(closing(n, 20_000_000)) }))
			}
			const fresh = (await sizeOf(server, database)) / count
			const random = randomOf(3)
			let longestMs = 0
			for (let poll = 1; poll <= polls; poll++) {
				const block = 20_000_000 + poll
				const touched = Array.from({ length: sized(10, 200) }, () => Math.floor(random() * count))
				const books = [...closing(poll * perPoll, block), ...touched.map((n) => bookAt(n, block))]
				const sinceMs = performance.now()
				await store.commit(commitOf({ checkpoint: blockOf(block), books: new Map(books) }))
				longestMs = Math.max(longestMs, performance.now() - sinceMs)
			}
			const worn = (await sizeOf(server, database)) / count
			console.info(
				`${count} books of ${what}: ${fresh.toFixed(1)} bytes each, then ${worn.toFixed(1)}; longest ${longestMs} ms`,
			)
			expect(fresh).toBeLessThan(most)
			expect(worn).toBeLessThan(most)
		},
		sized(60_000, 900_000),
	)

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
			const rows = 'select count(*)::int as count from tracewatch.sheet'
			return (await server.sql<{ count: number }>(rows, [], 'steps'))[0]?.count ?? 0
		}
		for (let step = 2; step <= sized(40, 300); step++) {
			const changes = new Map<Address, Book | null>()
			// It grows, is mostly taken away, and grows again.
			const goes = step % 20 > 14 ? 0.9 : 0.1
			for (let n = 0; n < random() * 200; n++) {
				const code = [{}, { code: null }, { code: 'c0de00ff' }][Math.floor(random() * 3)]
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
})
