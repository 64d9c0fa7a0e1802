// Books in a file of their own: of the same step as the checkpoint, whatever is cut off, spoilt or put back.
import { cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Book } from '../../../src/model/books.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Log, Store } from '../../../src/model/ports.js'
import { openFileStore } from '../../../src/state/file/store.js'
import { readDocument, readPlace, writeDocument } from '../../../src/state/transfer.js'
import { randomOf } from '../../support/random.js'
import { silent } from '../../support/silent.js'
import { addressOf, blockOf, commitOf } from '../samples.js'
import { makeFolder, removeFolder } from './folder.js'

let root: string
beforeEach(async () => {
	root = await makeFolder()
})
afterEach(() => removeFolder(root))

const open = (folder: string, mostBooksInside = 0, log: Log = silent) =>
	openFileStore(folder, { clock: () => 0, log, mostBooksInside })

async function booksOf(store: Store, network = 'ethereum'): Promise<ReadonlyMap<Address, Book>> {
	return new Map((await store.network(network))?.books)
}

async function booksIn(folder: string): Promise<ReadonlyMap<Address, Book>> {
	const store = await open(folder)
	const books = await booksOf(store)
	await store.close()
	return books
}

const dataOf = async (folder: string) => (await readdir(folder)).filter((name) => /^books\..*\.data$/.test(name))
const bookOf = (block: number, wei = block): Book => ({ block: BigInt(block), balanceWei: BigInt(wei), movedWei: 0n })
const many = (count: number, block: number) =>
	new Map(Array.from({ length: count }, (_, n) => [addressOf(n), bookOf(block, n)] as const))

test('behavior: each step has its books, also where the file has those of later steps', async () => {
	const random = randomOf(11)
	const steps: { readonly state: Buffer; readonly books: ReadonlyMap<Address, Book> }[] = []
	let books: ReadonlyMap<Address, Book> = new Map()
	let store = await open(root)
	for (let step = 1; step <= 30; step++) {
		const changes = new Map<Address, Book | null>()
		for (let n = 0; n < random() * 40; n++) {
			const book = {
				...bookOf(step, Math.floor(random() * 2 ** 50)),
				...(random() < 0.3 && { code: 'c0de00ff' }),
			}
			changes.set(addressOf(Math.floor(random() * 900)), random() < 0.2 ? null : book)
		}
		await store.commit(commitOf({ checkpoint: blockOf(step), books: changes }))
		books = new Map([...[...books].filter(([address]) => !changes.has(address)), ...changes].flatMap(notGone))
		expect(await booksOf(store)).toEqual(books)
		steps.push({ state: await readFile(join(root, 'state.json')), books })
		if (step % 10 !== 0) continue
		await store.close()
		store = await open(root)
		expect(await booksOf(store)).toEqual(books)
	}
	await store.close()
	const [name = ''] = await dataOf(root)
	for (const { state, books } of steps) {
		const then = join(root, 'then')
		await rm(then, { recursive: true, force: true })
		await mkdir(then)
		await cp(join(root, name), join(then, name))
		await cp(join(root, 'coverage.json'), join(then, 'coverage.json'))
		await writeFile(join(then, 'state.json'), state)
		expect(await booksIn(then)).toEqual(books)
		// And it goes on from there.
		const store = await open(then)
		await store.commit(commitOf({ checkpoint: blockOf(99), books: new Map([[addressOf(5), bookOf(99)]]) }))
		await store.close()
		expect(await booksIn(then)).toEqual(new Map([...books, [addressOf(5), bookOf(99)]]))
	}
})

function notGone<T>([address, book]: readonly [Address, T | null]): (readonly [Address, T])[] {
	return book === null ? [] : [[address, book]]
}

test('behavior: books of an earlier state move to a file of their own, and back when they are few', async () => {
	const few = await open(root, 1_000)
	await few.commit(commitOf({ checkpoint: blockOf(1), books: many(900, 1) }))
	await few.close()
	expect(await dataOf(root)).toEqual([])
	const apart = await open(root, 500)
	expect(await booksOf(apart)).toEqual(many(900, 1))
	await apart.commit(commitOf({ checkpoint: blockOf(2), books: new Map([[addressOf(1), bookOf(2)]]) }))
	await apart.close()
	expect(await dataOf(root)).toHaveLength(1)
	expect((await readFile(join(root, 'state.json'), 'utf8')).includes('packedBooks')).toBe(false)
	const now = new Map([...many(900, 1), [addressOf(1), bookOf(2)]])
	expect(await booksIn(root)).toEqual(now)
	const inside = await open(root, 1_000)
	await inside.commit(commitOf({ checkpoint: blockOf(3) }))
	expect(await booksOf(inside)).toEqual(now)
	await inside.close()
	expect(await dataOf(root)).toEqual([])
	expect(await booksIn(root)).toEqual(now)
})

test.each<[string, (path: string) => Promise<unknown>, string]>([
	['is cut off', async (path) => truncate(path, (await stat(path)).size - 1), 'its end is missing'],
	['is gone', (path) => rm(path), 'it is missing'],
	['has other bytes in it', (path) => flip(path, 300), 'does not match its checksums'],
	['has another length in it', (path) => flip(path, 22), 'it breaks off'],
	['is something else', (path) => flip(path, 0), 'does not begin as a file of books does'],
])('error: where the file of the books %s, none is taken for closed', async (_, spoil, words) => {
	const store = await open(root)
	await store.commit(commitOf({ checkpoint: blockOf(1), books: many(100, 1) }))
	await store.commit(commitOf({ checkpoint: blockOf(2), books: many(10, 2) }))
	await store.close()
	const [name = ''] = await dataOf(root)
	await spoil(join(root, name))
	await expect(readPlace({ kind: 'folder', dir: root }, () => 0)).rejects.toMatchObject({ reason: 'damaged' })
	const warned: string[] = []
	const log: Log = { ...silent, warn: (facts) => void warned.push(JSON.stringify(facts)) }
	const again = await open(root, 0, log)
	expect(warned).toEqual([expect.stringContaining(words)])
	expect((await again.network('ethereum'))?.checkpoint.number).toBe(2n)
	expect(await booksOf(again)).toEqual(new Map())
	await again.commit(commitOf({ checkpoint: blockOf(3), books: many(3, 3) }))
	await again.close()
	expect(await booksIn(root)).toEqual(many(3, 3))
})

async function flip(path: string, at: number): Promise<void> {
	const bytes = await readFile(path)
	bytes[at] = (bytes[at] ?? 0) ^ 0x40
	await writeFile(path, bytes)
}

test('error: bytes of a step that failed, as many as those that count, are not taken for these', async () => {
	const store = await open(root)
	await store.commit(commitOf({ checkpoint: blockOf(1), books: many(100, 1) }))
	const [name = ''] = await dataOf(root)
	const { size } = await stat(join(root, name))
	await store.commit(commitOf({ checkpoint: blockOf(2), books: new Map([[addressOf(1), bookOf(2, 7)]]) }))
	await store.close()
	const one = await readFile(join(root, name))
	await truncate(join(root, name), size)
	const other = join(root, 'other')
	await mkdir(other)
	for (const file of [name, 'coverage.json', 'state.json.prev']) await cp(join(root, file), join(other, file))
	await cp(join(root, 'state.json.prev'), join(other, 'state.json'))
	const second = await open(other)
	await second.commit(commitOf({ checkpoint: blockOf(2), books: new Map([[addressOf(1), bookOf(2, 8)]]) }))
	await second.close()
	expect((await stat(join(other, name))).size).toBe(one.length)
	await cp(join(other, name), join(root, name))
	expect(await booksIn(root)).toEqual(new Map())
})

test('error: a step whose state cannot be written leaves the books as they were', async () => {
	const store = await open(root)
	await store.commit(commitOf({ checkpoint: blockOf(1), books: many(300, 1) }))
	const spoilt = join(root, 'state.json.tmp')
	await mkdir(spoilt)
	await expect(store.commit(commitOf({ checkpoint: blockOf(2), books: many(20, 2) }))).rejects.toMatchObject({
		reason: 'disk',
	})
	await cp(root, `${root}-then`, { recursive: true })
	expect(await booksOf(store)).toEqual(many(300, 1))
	await rm(spoilt, { recursive: true })
	await store.commit(commitOf({ checkpoint: blockOf(2), books: new Map([[addressOf(7), bookOf(2)]]) }))
	await store.close()
	expect(await booksIn(root)).toEqual(new Map([...many(300, 1), [addressOf(7), bookOf(2)]]))
	await rm(join(`${root}-then`, 'state.json.tmp'), { recursive: true })
	expect(await booksIn(`${root}-then`)).toEqual(many(300, 1))
	await removeFolder(`${root}-then`)
})

test('behavior: a step writes what it changes, and the file is made anew before it is twice as much', async () => {
	const store = await open(root)
	await store.commit(commitOf({ checkpoint: blockOf(1), books: many(20_000, 1) }))
	const whole = (await stat(join(root, (await dataOf(root))[0] ?? ''))).size
	expect(whole / 20_000).toBeLessThan(40)
	expect((await stat(join(root, 'state.json'))).size).toBeLessThan(1_000)
	await store.commit(commitOf({ checkpoint: blockOf(2), books: many(100, 2) }))
	const [name = ''] = await dataOf(root)
	expect((await stat(join(root, name))).size - whole).toBeLessThan(100 * 40)
	for (let step = 3; (await dataOf(root)).length === 1; step++) {
		await store.commit(commitOf({ checkpoint: blockOf(step), books: many(19_000, step) }))
		expect(step).toBeLessThan(20)
	}
	const sizes = await Promise.all((await dataOf(root)).map(async (file) => (await stat(join(root, file))).size))
	expect(Math.min(...sizes) / 20_000).toBeLessThan(40)
	await store.close()
	expect(new Map([...(await booksIn(root))].slice(19_000))).toEqual(new Map([...many(20_000, 1)].slice(19_000)))
})

test('behavior: two networks, and a document of all to another place', async () => {
	const store = await open(root)
	await store.commit(commitOf({ checkpoint: blockOf(1), books: many(30, 1) }))
	await store.commit(commitOf({ network: 'base', chainId: 8453, checkpoint: blockOf(9), books: many(5, 9) }))
	await store.close()
	const whole = await readPlace({ kind: 'folder', dir: root }, () => 0)
	if (whole === null) throw new Error('nothing was stored')
	await writeDocument(join(root, 'document'), whole)
	const { state } = await readDocument(join(root, 'document'))
	expect(new Map(state.networks.get('ethereum')?.books)).toEqual(many(30, 1))
	expect(new Map(state.networks.get('base')?.books)).toEqual(many(5, 9))
})
