// Books of a private network with the state in a folder, and in a database.
import { afterAll, describe } from 'vitest'
import { openFileStore } from '../../src/state/file/fileStore.js'
import { openPgStore } from '../state/postgres/pgStore.js'
import { startServer } from '../state/postgres/server.js'
import { temporaryFolder } from '../support/folder.js'
import { privateBooks } from './privateBooks.js'

const server = await startServer()
afterAll(() => server?.stop())

describe('in a folder', () => privateBooks((clock) => openFileStore(temporaryFolder(), { clock })))

describe.skipIf(server === null)('in a database', () => {
	let count = 0
	privateBooks(async (clock) => {
		const url = (await server?.fresh(`private${count++}`)) ?? ''
		return await openPgStore(url, { clock, leaseMs: 300_000 })
	})
})
