/** Many processes that want one folder at once. */

import { afterEach, beforeEach, expect, test } from 'vitest'
import { createChance } from '../../../support/chance.js'
import { startChild, stopChildren } from '../../child.js'
import { makeFolder, removeFolder } from '../folder.js'

let folder: string

beforeEach(async () => {
	folder = await makeFolder()
})

afterEach(async () => {
	stopChildren()
	await removeFolder(folder)
})

const races = 1_000

test(`behavior: of 2 to 16 that come at once after a kill -9, one gets it (${races} races)`, async () => {
	const chance = createChance(7)
	const waiting = async () => {
		const child = startChild('holder.ts', folder, 'waiting')
		expect(await child.line()).toBe('ready')
		return child
	}
	const comers = await Promise.all(Array.from({ length: 16 }, waiting))
	for (let race = 0; race < races; race++) {
		const some = comers.slice(0, 2 + chance.number(15))
		// One that stands still in the midst of it, and comes to itself when another has the folder.
		const slow = chance.percent(30) ? some[1] : undefined
		const said = some.map((each) => each.ask('go'))
		if (slow !== undefined) {
			slow.signal('SIGSTOP')
			await Promise.all(said.filter((_, at) => at !== 1))
			slow.signal('SIGCONT')
		}
		const words = await Promise.all(said)
		expect(words.filter((word) => word === 'held')).toHaveLength(1)
		expect(words.filter((word) => word === 'locked')).toHaveLength(some.length - 1)
		const winner = words.indexOf('held')
		await comers[winner]?.kill('SIGKILL')
		comers.splice(winner, 1)
		comers.push(await waiting())
	}
}, 900_000)
