// Killed while it copies the watchlists: the copies are a whole set, the last one that was done or the one under way.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readCopies } from '../../../src/state/file/watchlistCopies.js'
import { temporaryFolder } from '../../support/folder.js'
import { startChild } from '../child.js'
import { contentOf, copySet } from '../copySets.js'

const kills = 100

test(`behavior: ${kills} times killed during copies, the next start gets a whole set, old or new`, async () => {
	const folder = temporaryFolder()
	let [copied, underWay] = [0, 0]
	for (let kill = 0; kill < kills; kill++) {
		const child = startChild('copier.ts', folder, String(copied + 1))
		let begun = copied
		const note = (line = '') => {
			const [word, number] = line.split(' ')
			if (word === 'begins') begun = Number(number)
			if (word === 'copied') copied = Number(number)
		}
		for (let line = 0; line < 1 + ((kill * 7) % 11); line++) note(await child.line())
		// At all moments of a write, which takes some milliseconds; a third of them are hit while one is under way.
		await sleep((kill * 5) % 13)
		await child.kill('SIGKILL')
		for (let line = await child.line(); line !== undefined; line = await child.line()) note(line)

		const found = await contentOf(await readCopies(folder))
		const number = Number(found?.revision.split(' ')[1] ?? 0)
		expect([copied, begun]).toContain(number)
		expect(found).toEqual(number === 0 ? null : await contentOf(copySet(number)))
		if (begun > copied) underWay++
		copied = number
	}
	// Otherwise a hundred proved little: kills fell into a write.
	expect(underWay).toBeGreaterThanOrEqual(10)
	// What kills left behind is removed: at most the copies of two sets, a temporary file, the index and the one before.
	expect(readdirSync(join(folder, 'last-good')).length).toBeLessThanOrEqual(9 + 3 + 3)
})
