/**
 * Commits one step after the other: each closes the book of one of 50 addresses at its checkpoint, and takes another's
 * away. Says each number once its promise has settled. Starts where the store stands.
 */

import { openFileStore } from '../../support/fileStore.js'
import { addressOf, blockOf, commitOf } from '../samples.js'

const [, , folder = ''] = process.argv
const store = await openFileStore(folder, { clock: Date.now })
for (let number = Number((await store.network('ethereum'))?.checkpoint.number ?? 0n) + 1; ; number++) {
	const book = { block: BigInt(number), balanceWei: BigInt(number) ** 5n, movedWei: 0n }
	const books = new Map([
		[addressOf(number % 50), book],
		[addressOf((number + 20) % 50), null],
	])
	// Long ones, so that a kill may come within.
	for (let n = 0; n < 200; n++) books.set(addressOf(1_000 + n), book)
	await store.commit(commitOf({ checkpoint: blockOf(number), books }))
	process.stdout.write(`${number}\n`)
}
