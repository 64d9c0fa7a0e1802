import { expect, test } from 'vitest'
import type { Book } from '../../../src/model/books.js'
import type { Address } from '../../../src/model/glossary.js'
import { openFileStore } from '../../support/fileStore.js'
import { randomOf } from '../../support/random.js'
import { startChild } from '../child.js'
import { addressOf } from '../samples.js'
import { makeFolder, removeFolder } from './folder.js'

const KILLS = 60

/** As `bookWriter.ts` leaves them after so many steps. */
function booksAfter(steps: number): ReadonlyMap<Address, Book> {
	const books = new Map<Address, Book>()
	for (let number = 1; number <= steps; number++) {
		books.set(addressOf(number % 50), { block: BigInt(number), balanceWei: BigInt(number) ** 5n, movedWei: 0n })
		books.delete(addressOf((number + 20) % 50))
	}
	const last = { block: BigInt(steps), balanceWei: BigInt(steps) ** 5n, movedWei: 0n }
	for (let n = 0; n < 200; n++) books.set(addressOf(1_000 + n), last)
	return books
}

test('behavior: after kill -9 the books are of the same step as the checkpoint', async () => {
	const folder = await makeFolder()
	const random = randomOf(3)
	const warned: string[] = []
	const log = { debug() {}, info() {}, warn: (_: object, words: string) => warned.push(words), error() {} }
	try {
		for (let kill = 0; kill < KILLS; kill++) {
			const child = startChild('bookWriter.ts', folder)
			const until = 1 + Math.floor(random() * 40)
			let acknowledged = 0
			for (let line = 0; line < until; line++) acknowledged = Number(await child.line())
			await child.kill('SIGKILL')
			for (let line = await child.line(); line !== undefined; line = await child.line()) acknowledged = Number(line)
			const store = await openFileStore(folder, { clock: () => 0, log: { ...log, child: () => ({ ...log }) as never } })
			const state = await store.network('ethereum')
			const at = Number(state?.checkpoint.number)
			expect(at).toBeGreaterThanOrEqual(acknowledged)
			expect(new Map(state?.books)).toEqual(booksAfter(at))
			await store.close()
		}
		expect(warned).toEqual([])
	} finally {
		await removeFolder(folder)
	}
})
