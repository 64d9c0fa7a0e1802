// Books as earlier versions packed them, with marks of 8 bytes: in `state.json`, and in a file of their own.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../src/model/glossary.js'
import type { Store } from '../../../src/model/ports.js'
import { openFileStore } from '../../../src/state/file/store.js'
import { addressOf, blockOf, commitOf } from '../samples.js'
import { fileOf, makeFolder, removeFolder } from './folder.js'

let root: string
beforeEach(async () => {
	root = await makeFolder()
})
afterEach(() => removeFolder(root))

const open = (folder: string, mostBooksInside = 0) => openFileStore(folder, { clock: () => 0, mostBooksInside })

/** A book as it was written up to version 1 of `state.json`, by hand: its mark is of 8 bytes. */
function oldRun(books: readonly [Address, block: number, wei: number, code: string | null][]): Buffer {
	const base = Buffer.alloc(8)
	base.writeDoubleBE(100)
	const rows = books.map(([address, block, wei, code]) => {
		const head = (0x40 + (code === null ? 0 : 0x20) + 2).toString(16)
		const digits = [block - 100, Math.floor(wei / 256), wei % 256].map((byte) => byte.toString(16).padStart(2, '0'))
		return Buffer.from(`${address.slice(2)}${head}${digits.join('')}${code ?? ''}`, 'hex')
	})
	return Buffer.concat([base, ...rows])
}

const [codeA, codeB] = ['0123456789abcdef', '0123456789abcdee']
const oldBooks = [
	[addressOf(1), 101, 1_001, codeA],
	[addressOf(2), 102, 1_002, null],
	[addressOf(3), 103, 1_003, codeA],
	[addressOf(4), 104, 1_004, codeB],
] as const

async function expectOldBooks(store: Store): Promise<void> {
	const books = (await store.network('ethereum'))?.books
	const marks = new Map([codeA, codeB].map((code) => [code, books?.markOf?.(code)]))
	expect(new Set(marks.values()).size).toBe(2)
	const expected = oldBooks.map(([address, block, wei, code]) => {
		const mark = code === null ? null : marks.get(code)
		return [address, { block: BigInt(block), balanceWei: BigInt(wei), movedWei: 0n, code: mark }] as const
	})
	expect(new Map(books)).toEqual(new Map(expected))
}

/** The folder as the version before left it. */
async function oldFolder(change: (data: { networks: { ethereum: object } }) => object): Promise<void> {
	const store = await open(root)
	await store.commit(commitOf({ checkpoint: blockOf(104) }))
	await store.close()
	const path = join(root, 'state.json')
	const { data } = JSON.parse(await readFile(path, 'utf8'))
	await writeFile(path, fileOf(change(data), 1))
}

test('behavior: books of version 1 in state.json keep what code they were closed with', async () => {
	const half = (from: number, to: number) => oldRun(oldBooks.slice(from, to).map((one) => [...one])).toString('base64')
	await oldFolder((data) => {
		Object.assign(data.networks.ethereum, { packedBooks: [half(0, 2), half(2, 4)] })
		return data
	})
	for (let n = 0; n < 2; n++) {
		const store = await open(root, n === 0 ? 1_000 : 0)
		await expectOldBooks(store)
		await store.commit(commitOf({ checkpoint: blockOf(105 + n) }))
		await store.close()
	}
})

test('behavior: books of version 1 in a file of their own too, also where nothing changes but one', async () => {
	const run = oldRun(oldBooks.map((one) => [...one]))
	const head = Buffer.concat([Buffer.from([8]), Buffer.from('ethereum'), Buffer.alloc(4)])
	const sums = Buffer.alloc(8)
	sums.writeUInt32LE(head.length + run.length, 0)
	sums.writeUInt32LE(crc32(Buffer.concat([head, run])), 4)
	const bytes = Buffer.concat([Buffer.from('tracewatch books 1\n'), sums, head, run])
	const at = { id: '0123456789ab', bytes: bytes.length, sum: crc32(sums), before: null, sizes: { ethereum: 4 } }
	await writeFile(join(root, 'books.0123456789ab.data'), bytes)
	await oldFolder((data) => ({ books: at, ...data }))
	await writeFile(join(root, 'books.0123456789ab.data'), bytes)
	const nine = { block: 9n, balanceWei: 9n, movedWei: 0n }
	for (let n = 0; n < 3; n++) {
		const store = await open(root)
		await expectOldBooks(store)
		const books = new Map([[addressOf(9), n === 2 ? nine : null]])
		await store.commit(commitOf({ checkpoint: blockOf(105 + n), ...(n > 0 && { books }) }))
		await store.close()
	}
	const { data } = JSON.parse(await readFile(join(root, 'state.json'), 'utf8'))
	expect(data.books.id).not.toBe('0123456789ab')
})
