/** Takes the lock of a folder, says so, and gives it back when asked. */

import { createInterface } from 'node:readline'
import { StateError } from '../../../src/errors.js'
import { lockState } from '../../../src/state/file/lock.js'

const [, , folder = '', kind] = process.argv
try {
	const release = await lockState(folder, { kind: kind === 'path' ? 'path' : 'abstract' })
	process.stdout.write('held\n')
	for await (const line of createInterface({ input: process.stdin })) {
		if (line !== 'release') continue
		await release()
		process.stdout.write('released\n')
	}
} catch (error) {
	if (!(error instanceof StateError)) throw error
	process.stdout.write(`${error.reason}\n`)
}
