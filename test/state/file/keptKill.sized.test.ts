// Killed while it keeps the watchlists: what is kept is a whole set, the last one that was done or the one under way.
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readKept } from '../../../src/state/file/kept.js'
import { temporaryFolder } from '../../support/folder.js'
import { sized } from '../../support/longRun.js'
import { startChild } from '../child.js'
import { piecesOf } from '../keptSets.js'

const kills = sized(6, 100)

async function contentOf(folder: string): Promise<readonly unknown[]> {
	const pieces: unknown[] = []
	for await (const piece of (await readKept(folder)) ?? []) pieces.push(piece)
	return pieces
}

test(`behavior: ${kills} times killed during writes, the next start gets a whole set, old or new`, async () => {
	const folder = temporaryFolder()
	let kept = 0
	let [underWay, files] = [0, new Set<string>()]
	for (let kill = 0; kill < kills; kill++) {
		const child = startChild('keeper.ts', folder, String(kept + 1))
		let begun = kept
		const note = (line = '') => {
			const [word, number] = line.split(' ')
			if (word === 'begins') begun = Number(number)
			if (word === 'kept') kept = Number(number)
		}
		for (let line = 0; line < 1 + ((kill * 7) % 11); line++) note(await child.line())
		// At all moments of a write, which takes some milliseconds; a third of them are hit while one is under way.
		await sleep((kill * 5) % 13)
		await child.kill('SIGKILL')
		for (let line = await child.line(); line !== undefined; line = await child.line()) note(line)

		const found = await contentOf(folder)
		const sets = [...new Set([kept, begun])].filter((number) => number > 0)
		const whole = sets.find(
			(number) => JSON.stringify(piecesOf(number).map((one) => JSON.parse(one))) === JSON.stringify(found),
		)
		if (kept > 0) expect(whole, `kept ${kept}, begun ${begun}, ${found.length} pieces`).toBeDefined()
		else expect(whole === undefined ? found : []).toEqual([])
		if (begun > kept) underWay++
		kept = whole ?? kept
		files = new Set([...files, ...readdirSync(folder).filter((name) => name.endsWith('.data'))])
	}
	// Otherwise a hundred proved little: kills fell into a write, and the file with the pieces was also made anew.
	expect(underWay).toBeGreaterThanOrEqual(sized(0, 10))
	expect(files.size).toBeGreaterThan(sized(0, 1))
})
