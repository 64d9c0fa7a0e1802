// Books in memory: whatever is changed, they are what a plain map is, and the set before stays as it was.
import { expect, test } from 'vitest'
import type { Book } from '../../src/model/books.js'
import type { Address } from '../../src/model/glossary.js'
import { booksOf, noBooks } from '../../src/state/bookShards.js'
import { randomOf } from '../support/random.js'

const addressOf = (n: number): Address =>
	`0x${((BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bn) % 2n ** 160n).toString(16).padStart(40, '0')}`
/** As a text: to compare maps of thousands of objects takes seconds. */
const byAddress = (books: Iterable<[Address, Book]>) =>
	[...books]
		.map(([address, { block, balanceWei, movedWei }]) => `${address} ${block} ${balanceWei} ${movedWei}`)
		.sort()
		.join('\n')

test('default: after any changes each set is what a map is', async () => {
	const random = randomOf(7)
	let map = new Map<Address, Book>()
	let books = noBooks
	for (let step = 1; step <= 60; step++) {
		const changes = new Map<Address, Book | null>()
		for (let n = 0; n < random() * 700; n++) {
			const movedWei = random() < 0.8 ? 0n : -7n
			const book = { block: BigInt(step), balanceWei: BigInt(n), movedWei }
			changes.set(addressOf(Math.floor(random() * 3_000)), random() < 0.3 ? null : book)
		}
		const [before, mapBefore] = [books, map]
		map = new Map(map)
		for (const [address, book] of changes) book === null ? map.delete(address) : map.set(address, book)
		books = books.after(changes)
		expect(books.size).toBe(map.size)
		expect(byAddress(books)).toBe(byAddress(map))
		expect(byAddress(before)).toBe(byAddress(mapBefore))
		const waiting = [...map].filter(([, { movedWei }]) => movedWei !== 0n).map(([address]) => address)
		const blocks = [...map.values()].map(({ block }) => block).sort((a, b) => Number(a - b))
		const facts = books.facts?.(5)
		expect([facts?.lowest, facts?.waiting]).toEqual([blocks[0] ?? null, waiting.length])
		expect(facts?.some.every((address) => waiting.includes(address))).toBe(true)
		const block = BigInt(step - 3)
		const beyond = [...map].filter(([, book]) => book.movedWei !== 0n || book.block > block)
		expect([...(books.beyond?.(block) ?? [])].sort()).toEqual(beyond.map(([address]) => address).sort())
	}
	const seen: Address[] = []
	for (let from = '', isEnd = false; !isEnd; isEnd = from === '') {
		const { addresses = [], next = '' } = (await books.some?.(from, 100)) ?? {}
		seen.push(...addresses)
		from = next
	}
	expect(seen.sort()).toEqual([...map.keys()].sort())
})

test('behavior: a change of few among many copies few', () => {
	const many = booksOf(
		new Map(Array.from({ length: 50_000 }, (_, n) => [addressOf(n), { block: 1n, balanceWei: 1n, movedWei: 0n }])),
	)
	let read = 0
	const book: Book = {
		get block() {
			read++
			return 2n
		},
		balanceWei: 1n,
		movedWei: 0n,
	}
	const counted = many.after(new Map(Array.from({ length: 1_000 }, (_, n) => [addressOf(n), book] as const)))
	read = 0
	counted.after(new Map([[addressOf(7), { block: 3n, balanceWei: 1n, movedWei: 0n }]]))
	expect(read).toBeLessThan(30)
})
