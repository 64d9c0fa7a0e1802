/**
 * Takes the lock of a folder, at once or (`waiting`) at each `go`, says how that went, and gives it back when asked.
 */

import { createInterface } from 'node:readline'
import { StateError } from '../../../src/errors.js'
import { holdFolder } from '../../../src/state/file/disk/hold.js'

const [, , folder = '', when = 'at once'] = process.argv
let release: () => Promise<void> = async () => undefined
const say = (line: string) => process.stdout.write(`${line}\n`)

async function take(): Promise<void> {
	try {
		release = (await holdFolder(folder)).release
		say('held')
	} catch (error) {
		if (!(error instanceof StateError)) throw error
		say(when === 'words' ? JSON.stringify(error.message) : error.reason)
	}
}

if (when === 'waiting') say('ready')
else await take()
for await (const line of createInterface({ input: process.stdin })) {
	if (line === 'go') await take()
	if (line !== 'release') continue
	await release()
	say('released')
}
