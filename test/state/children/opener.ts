/** Opens the store of a folder, and says how that went. */

import { StateError } from '../../../src/errors.js'
import { openFileStore } from '../../../src/state/file/store.js'

const [, , folder = ''] = process.argv
try {
	await (await openFileStore(folder, { clock: () => 0 })).close()
	process.stdout.write('opened\n')
} catch (error) {
	if (!(error instanceof StateError)) throw error
	process.stdout.write(`${error.reason}: ${error.message}\n`)
}
