import { afterAll, describe } from 'vitest'
import { openPostgresStore } from '../../src/state/postgres.js'
import { storeContract } from './contract.js'
import { startServer } from './server.js'

const server = await startServer()

afterAll(() => server?.stop())

const TABLES = ['network', 'lease', 'told', 'cover', 'backfill', 'lane', 'delivery', 'total']

describe.skipIf(server === null)('PostgreSQL', () => {
	if (server === null) return
	storeContract('PostgreSQL store', async () => ({
		open: (clock) => openPostgresStore(server.url(), { clock, leaseMs: 30_000, skewMs: 0 }),
		remove: async () => {
			await server.sql(`truncate ${TABLES.map((name) => `tracewatch.${name}`).join(', ')}`)
		},
	}))
})
