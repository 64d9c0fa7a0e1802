import { afterAll, describe, expect, test } from 'vitest'
import { readKeptRows, writeKeptRows } from '../../../src/state/postgres/kept.js'
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

	test('kept watchlists: written once, forgotten when gone, and an earlier form is taken', async () => {
		const url = await server.fresh('kept')
		const contentOf = async () => {
			const pieces: unknown[] = []
			for await (const piece of (await readKeptRows(url)) ?? []) pieces.push(piece)
			return pieces
		}
		const keep = (key: string, pieces: readonly string[]) => writeKeptRows(url, { key, pieces: () => pieces })
		expect(await readKeptRows(url)).toBeNull()
		await keep('a', ['1', '2', '2', '3'])
		expect(await contentOf()).toEqual([1, 2, 2, 3])
		const rows = () =>
			server.sql<{ content: unknown; xmin: string }>('select content, xmin::text from tracewatch.kept', [], 'kept')
		const writtenBy = async (piece: number) => (await rows()).find(({ content }) => content === piece)?.xmin
		const before = await writtenBy(3)
		await keep('b', ['1', '4', '3'])
		expect(await contentOf()).toEqual([1, 4, 3])
		expect(await writtenBy(3)).toBe(before)
		expect(await rows()).toHaveLength(4)
		await writeKeptRows(url, { key: 'b', pieces: () => expect.unreachable('nothing is to be made') })

		const whole = { lists: [], rules: [] }
		await server.sql('delete from tracewatch.kept', [], 'kept')
		await server.sql(`insert into tracewatch.kept values ('watchlists', $1)`, [JSON.stringify(whole)], 'kept')
		expect(await contentOf()).toEqual([whole])
		await keep('c', ['5'])
		expect(await contentOf()).toEqual([5])
		expect(await rows()).toHaveLength(2)
	})
})
