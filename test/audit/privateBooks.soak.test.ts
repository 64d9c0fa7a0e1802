// Books of a private network with the state in a database. What a change does to a state is one function for folder
// and database, so each release tries this, and not each change.
import { afterAll, describe } from 'vitest'
import { openPgStore } from '../state/postgres/pgStore.js'
import { startServer } from '../state/postgres/server.js'
import { privateBooks } from './privateBooks.js'

const server = await startServer()
afterAll(() => server?.stop())

describe.skipIf(server === null)('in a database', () => {
	let count = 0
	privateBooks(async (clock) => {
		const url = (await server?.fresh(`private${count++}`)) ?? ''
		return await openPgStore(url, { clock, leaseMs: 300_000 })
	})
})
