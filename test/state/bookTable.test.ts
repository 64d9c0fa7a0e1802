// Packed books against a plain map, through changes at random; and what a book weighs.
import { expect, test } from 'vitest'
import type { Book } from '../../src/model/books.js'
import type { Address } from '../../src/model/glossary.js'
import { unpackBooks } from '../../src/state/bookFormat.js'
import { type BookTable, bookTableOf, createBookGatherer } from '../../src/state/bookTable.js'
import { afterwards } from '../../src/watch/booksSummary.js'
import { randomOf } from '../support/random.js'

const addressOf = (n: number): Address =>
	`0x${(BigInt(n) * 0x9e3779b97f4a7c15f39cc0605cedc834n).toString(16).padStart(40, '0').slice(-40)}`

function factsOf(books: ReadonlyMap<Address, Book>) {
	const blocks = [...books.values()].map(({ block }) => block)
	const lowest = blocks.reduce<bigint | null>((low, block) => (low === null || block < low ? block : low), null)
	return { lowest, waiting: [...books.values()].filter(({ movedWei }) => movedWei !== 0n).length }
}

function expectSame(table: BookTable, books: ReadonlyMap<Address, Book>): void {
	expect(new Map(table)).toEqual(books)
	expect(table.size).toBe(books.size)
	expect(table.facts?.(3)).toMatchObject(factsOf(books))
	const read = [...table.pieces()].flatMap((piece) => [...unpackBooks(Buffer.from(piece))])
	expect(new Map(read)).toEqual(books)
	const gatherer = createBookGatherer()
	for (const piece of table.pieces()) gatherer.add(Buffer.from(piece))
	expect(new Map(gatherer.done())).toEqual(books)
	const middle = 2n ** 39n
	const beyond = [...books].flatMap(([address, one]) => (one.block > middle || one.movedWei !== 0n ? [address] : []))
	expect([...(table.beyond?.(middle) ?? [])].sort()).toEqual(beyond.sort())
	const seen: Address[] = []
	for (let from = 0, part = table.some?.(from, 50); part !== undefined; part = table.some?.(from, 50)) {
		seen.push(...part.addresses)
		from = part.next
		if (from === 0) break
	}
	expect(seen.sort()).toEqual([...books.keys()].sort())
}

test('default: what a table says after any changes is what a map says, and the table before stays as it was', () => {
	const random = randomOf(7)
	const wei = () =>
		BigInt(Math.floor(random() * 2 ** 30)) ** BigInt(1 + Math.floor(random() * 8)) * BigInt(random() < 0.1 ? 0 : 1)
	let table = bookTableOf(new Map())
	let books: ReadonlyMap<Address, Book> = new Map()
	for (let turn = 0; turn < 100; turn++) {
		const changes = new Map<Address, Book | null>()
		for (let n = 0; n < random() * 60; n++) {
			const code = [{}, { code: null }, { code: 'c0de00ff' }][Math.floor(random() * 3)]
			const book: Book = {
				block: BigInt(Math.floor(random() * 2 ** 40)),
				balanceWei: wei(),
				movedWei: random() < 0.2 ? wei() * (random() < 0.5 ? 1n : -1n) : 0n,
				...code,
			}
			changes.set(addressOf(Math.floor(random() * 400)), random() < 0.2 ? null : book)
		}
		const next = new Map(books)
		for (const [address, book] of changes) {
			if (book === null) next.delete(address)
			else next.set(address, book)
		}
		const before = table
		table = table.after(changes)
		expectSame(before, books)
		// Whoever sums the books up, and whoever writes them, packs them once.
		expect(before.after(changes)).toBe(table)
		expectSame(before.after(new Map(changes)) as BookTable, next)
		books = next
		expectSame(table, books)
	}
	const [one] = books.keys()
	expect(one && table.get(one)).toEqual(one && books.get(one))
	expect(table.has(addressOf(9_999))).toBe(false)
})

test('default: a balance of 32 bytes, and as much that moved', () => {
	const most = 2n ** 256n - 1n
	const books = new Map([[addressOf(1), { block: 5n, balanceWei: most, movedWei: -most, code: null }]])
	expectSame(bookTableOf(books), books)
})

test('error: what was cut is no book', () => {
	const [piece] = bookTableOf(new Map([[addressOf(1), { block: 5n, balanceWei: 9n, movedWei: 0n }]])).pieces()
	expect(() => unpackBooks(Buffer.from(piece ?? []).subarray(0, -1))).toThrow(RangeError)
})

test('default: books of plain addresses with whole amounts weigh 40 bytes each in base64, at most', () => {
	const books = new Map<Address, Book>()
	// As of a watchlist: a fifth empty, the rest with up to 1,000 coins of 18 decimals; looked at within 64 blocks.
	for (let n = 0; n < 100_000; n++) {
		const balanceWei = n % 5 === 0 ? 0n : BigInt(n) * 10n ** 16n + BigInt(n)
		books.set(addressOf(n), { block: 23_000_000n + BigInt(n % 64), balanceWei, movedWei: 0n, code: null })
	}
	const table = bookTableOf(books)
	const bytes = [...table.pieces()].reduce((sum, piece) => sum + Buffer.from(piece).toString('base64').length + 3, 0)
	expect(bytes / books.size).toBeLessThan(42)
})

// In one breath 16,000 took 100 ms and more.
test('behavior: while many books are packed, others have their turn', async () => {
	const bookAt = (n: number, block: bigint): Book => ({ block, balanceWei: BigInt(n), movedWei: 0n, code: null })
	const numbers = Array.from({ length: 16_000 }, (_, n) => n)
	const before = bookTableOf(new Map(numbers.map((n) => [addressOf(n), bookAt(n, 1n)])))
	const changes = new Map(numbers.map((n) => [addressOf(n), n % 10 === 0 ? null : bookAt(n, 2n)]))
	let turns = 0
	let isDone = false
	const others = () => {
		turns++
		if (!isDone) setImmediate(others)
	}
	setImmediate(others)
	const after = await afterwards(before, changes)
	isDone = true
	expect(turns).toBeGreaterThan(30)
	expect(new Map(after)).toEqual(new Map([...changes].filter(([, book]) => book !== null)))
	expect(before.after(changes)).toBe(after)
})
