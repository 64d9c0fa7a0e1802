import { afterAll, describe } from 'vitest'
import { openPostgresStore } from '../../../src/state/postgres/store.js'
import { storeContract } from '../contract.js'
import { emptied, startServer } from './server.js'

const server = await startServer()

afterAll(() => server?.stop())

describe.skipIf(server === null)('PostgreSQL', () => {
	if (server === null) return
	storeContract('PostgreSQL store', async () => ({
		open: (clock) => openPostgresStore(server.url(), { clock, leaseMs: 30_000, skewMs: 0 }),
		remove: () => emptied(server),
	}))
})
