/**
 * Commits one step after the other, each with a delivery, several in flight, and says each number once its promise has
 * settled. Starts where the store stands.
 */

import { openFileStore } from '../../support/fileStore.js'
import { blockOf, commitOf, deliveryOf } from '../samples.js'

const [, , folder = '', abreast = '1'] = process.argv
const store = await openFileStore(folder, { clock: Date.now })
let next = Number((await store.network('ethereum'))?.checkpoint.number ?? 0n) + 1

async function work(): Promise<void> {
	for (;;) {
		const number = next++
		await store.commit(commitOf({ checkpoint: blockOf(number), deliveries: [deliveryOf(`d${number}`)] }))
		process.stdout.write(`${number}\n`)
	}
}

await Promise.all(Array.from({ length: Number(abreast) }, work))
