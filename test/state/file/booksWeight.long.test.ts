// What a million books weigh in a folder, while polls go on.
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openFileStore } from '../../../src/state/file/store.js'
import { randomOf } from '../../support/random.js'
import { addressOf, blockOf, commitOf } from '../samples.js'
import { makeFolder, removeFolder } from './folder.js'

let root: string
beforeEach(async () => {
	root = await makeFolder()
})
afterEach(() => removeFolder(root))

const count = 1_000_000

/** As of a hash of code: its first 8 bytes. */
const hashOf = (n: number) => createHash('sha256').update(String(n)).digest('hex').slice(0, 16)

test.each<[string, (n: number) => string | null]>([
	['contracts, each of code of its own', hashOf],
	['contracts of a hundred codes, as proxies are', (n) => hashOf(n % 100)],
	['plain accounts', () => null],
])(
	'behavior: a million books of %s take at most 40 bytes each, opened and over 150 polls',
	async (what, codeOf) => {
		const store = await openFileStore(root, { clock: () => 0 })
		const random = randomOf(3)
		const bookAt = (n: number, block: number) => {
			const balanceWei = (BigInt(n) * 0x9e3779b97f4a7c15n) % 10n ** 19n
			return [addressOf(n), { block: BigInt(block), balanceWei, movedWei: 0n, code: codeOf(n) }] as const
		}
		await open()
		let file = await counts()
		const [fresh, sizes] = [await weight(), [] as number[]]
		let writes = 0
		let beside = 0
		for (let poll = 1; poll <= 150; poll++) {
			const block = 20_000_000 + poll
			const touched = Array.from({ length: 15_825 }, (_, n) =>
				bookAt(n < 15_625 ? (poll * 15_625 + n) % count : Math.floor(random() * count), block),
			)
			await store.commit(commitOf({ checkpoint: blockOf(block), books: new Map(touched) }))
			if ((await files()).length > 1) beside++
			const latest = await counts()
			if (latest !== file) writes++
			file = latest
			sizes.push(await weight())
		}
		await store.close()
		console.info(
			`a million books of ${what}: ${fresh.toFixed(1)} bytes each, then up to ${Math.max(...sizes).toFixed(1)}`,
		)
		expect(fresh).toBeLessThan(40)
		expect(Math.max(...sizes)).toBeLessThan(40)
		expect(writes).toBeGreaterThan(5)
		// The one before stays for some polls, for those who copy both.
		expect(beside).toBeGreaterThan(writes)
		expect(beside).toBeLessThan(100)

		async function open(): Promise<void> {
			await store.commit(commitOf({ checkpoint: blockOf(1) }))
			const all = Array.from({ length: count }, (_, n) => bookAt(n, 20_000_000))
			await store.commit(commitOf({ books: new Map(all) }))
		}

		async function files(): Promise<string[]> {
			return (await readdir(root)).filter((name) => name.startsWith('books.'))
		}

		async function counts(): Promise<string> {
			const { data } = JSON.parse(await readFile(join(root, 'state.json'), 'utf8'))
			return `books.${data.books.id}.data`
		}

		/** Of the file that counts. */
		async function weight(): Promise<number> {
			return (await stat(join(root, file))).size / count
		}
	},
	900_000,
)
