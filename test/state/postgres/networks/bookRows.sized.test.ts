// Books as rows: what a step writes and undoes, and tables of before there were rows.
import { afterAll, describe, expect, test } from 'vitest'
import type { Book } from '../../../../src/model/books.js'
import type { Address } from '../../../../src/model/glossary.js'
import { sized } from '../../../support/longRun.js'
import { randomOf } from '../../../support/random.js'
import { blockOf, commitOf } from '../../samples.js'
import { addressOf, type Books, bookOf, booksOf, opened } from '../bookRows.js'
import { startServer } from '../server.js'

const server = await startServer()
afterAll(async () => {
	await server?.stop()
})

describe.skipIf(server === null)('books in a database', () => {
	if (server === null) return

	test('default: after any steps and restarts there is what a map says', async () => {
		const url = await server.fresh('steps')
		const random = randomOf(5)
		let store = await opened(url)
		let books: Books = new Map()
		await store.commit(commitOf({ checkpoint: blockOf(1) }))
		for (let step = 2; step <= sized(40, 300); step++) {
			const changes = new Map<Address, Book | null>()
			// It grows, is mostly taken away, and grows again.
			const goes = step % 20 > 14 ? 0.9 : 0.1
			for (let n = 0; n < random() * 200; n++) {
				const code = [{}, { code: null }, { code: 'c0de00ffc0de00ff' }][Math.floor(random() * 3)]
				const balanceWei = 7n ** BigInt(Math.floor(random() * 40))
				const book = { block: BigInt(step), balanceWei, movedWei: -5n, ...code }
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
		const rows = await server.sql<{ count: number }>('select count(*)::int as count from tracewatch.book', [], 'steps')
		expect(rows).toEqual([{ count: books.size }])
	})

	test('behavior: no book is in memory before it is asked for, nor after the next step', async () => {
		const url = await server.fresh('asked')
		const first = await opened(url)
		const all = new Map([1, 2, 3].map((n) => [addressOf(n), bookOf(n, n)] as const))
		await first.commit(commitOf({ checkpoint: blockOf(9), books: all }))
		await first.close()
		const store = await opened(url)
		const books = (await store.network('ethereum'))?.books
		expect(() => books?.get(addressOf(1))).toThrow('before it was loaded')
		expect(() => [...(books?.keys() ?? [])]).toThrow('one by one')
		await books?.load?.([addressOf(1), addressOf(99)])
		expect([books?.get(addressOf(1)), books?.has(addressOf(99))]).toEqual([bookOf(1, 1), false])
		expect(() => books?.get(addressOf(2))).toThrow('before it was loaded')
		expect(await books?.facts?.(5)).toEqual({ lowest: 1n, waiting: 0, some: [] })

		// Facts of changes that are not written yet, and of those that are.
		const moved = { ...bookOf(2, 8), movedWei: 5n }
		const changes = new Map<Address, Book | null>([
			[addressOf(1), null],
			[addressOf(2), moved],
		])
		await books?.load?.(changes.keys())
		const facts = { lowest: 3n, waiting: 1, some: [addressOf(2)] }
		expect(await books?.after?.(changes).facts?.(5)).toEqual(facts)
		const { books: after } = await store.commit(commitOf({ books: changes }))
		expect([after.size, await after.facts?.(5)]).toEqual([2, facts])
		expect(() => after.get(addressOf(3))).toThrow('before it was loaded')
		const { books: next } = await store.commit(commitOf({ books: new Map([[addressOf(3), bookOf(3, 7)]]) }))
		expect(await next.facts?.(5)).toEqual({ lowest: 7n, waiting: 1, some: [addressOf(2)] })
		expect([...((await next.beyond?.(7n)) ?? [])]).toEqual([addressOf(2)])
		expect([...((await next.beyond?.(6n)) ?? [])].sort()).toEqual([addressOf(2), addressOf(3)].sort())
	})

	test('behavior: a step that fails leaves the books as they were, and the next one continues from there', async () => {
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
