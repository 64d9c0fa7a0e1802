/** Opens the store of a folder or a database, and says how that went. */

import { StateError } from '../../../src/errors.js'
import { openFileStore } from '../../support/fileStore.js'
import { openPgStore } from '../postgres/pgStore.js'

const [, , place = ''] = process.argv
const open = () =>
	place.startsWith('postgres:') ? openPgStore(place, { clock: Date.now }) : openFileStore(place, { clock: () => 0 })
try {
	await (await open()).close()
	process.stdout.write('opened\n')
} catch (error) {
	if (!(error instanceof StateError)) throw error
	process.stdout.write(`${error.reason}: ${error.message}\n`)
}
