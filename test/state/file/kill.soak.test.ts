import { expect, test } from 'vitest'
import { openFileStore } from '../../support/fileStore.js'
import { startChild } from '../child.js'
import { makeFolder, removeFolder } from './folder.js'

const KILLS = 30

/** Seeded: the same run each time as far as processes allow. */
function randomNumbers(seed: number): () => number {
	let state = seed
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
		return state / 2 ** 32
	}
}

test.each([1, 8])(
	'behavior: after kill -9, with %i changes at a time, whatever was acknowledged is there, whole',
	async (abreast) => {
		const folder = await makeFolder()
		const random = randomNumbers(abreast)
		let last = 0
		try {
			for (let kill = 0; kill < KILLS / 2; kill++) {
				const child = startChild('writer.ts', folder, String(abreast))
				let acknowledged = last
				const until = 1 + Math.floor(random() * 30)
				for (let line = 0; line < until; line++) acknowledged = Math.max(acknowledged, Number(await child.line()))
				await child.kill('SIGKILL')
				// What it still said before it died counts too.
				for (let line = await child.line(); line !== undefined; line = await child.line()) {
					acknowledged = Math.max(acknowledged, Number(line))
				}
				const store = await openFileStore(folder, { clock: () => 0 })
				const at = Number((await store.network('ethereum'))?.checkpoint.number)
				expect(at).toBeGreaterThanOrEqual(acknowledged)
				// Checkpoint and deliveries are one step: none is there without the other.
				const expected = Array.from({ length: at }, (_, index) => `d${index + 1}`)
				expect((await store.deliveries()).map(({ id }) => id)).toEqual(expected)
				await store.close()
				last = at
			}
			expect(last).toBeGreaterThan(KILLS)
		} finally {
			await removeFolder(folder)
		}
	},
)
