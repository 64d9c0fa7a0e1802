/**
 * Rows in the form in which version 0.1.0 wrote them, and reads them: two versions may share a database for a while.
 */

import { afterAll, describe, expect, test } from 'vitest'
import { openPostgresStore } from '../../../src/state/postgres/postgresStore.js'
import { addressOf, announcementOf, blockOf, commitOf, deliveryOf } from '../samples.js'
import { startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

const sql = async (text: string) => (await server?.sql(text)) ?? []
const content = (turn: number) =>
	JSON.stringify({ txHash: blockOf(7).hash, alerts: announcementOf('x', 1).alerts, turn }).replaceAll("'", "''")

describe.skipIf(server === null)('rows of version 0.1.0', () => {
	test('default: they are read, and what is written can be read by it', async () => {
		const store = await openPostgresStore(server?.url() ?? '', { clock: () => 1_000, leaseMs: 300_000, skewMs: 0 })
		await store.acquireLease('ethereum')
		await store.commit(commitOf({ checkpoint: blockOf(100), deliveries: [deliveryOf('msg_a')] }))
		for (const [id, turn] of [
			['a', 0],
			['b', 1],
		] as const)
			await sql(`insert into tracewatch.told (network, id, block_number, block_hash, content)
				values ('ethereum', '${id}', 95, '${blockOf(95).hash}', '${content(turn)}')`)
		await sql(`insert into tracewatch.cover (network, address, since, first, left_at, owed)
			values ('ethereum', '${addressOf(2)}', 80, 80, 99, '[["10","20"]]')`)
		await sql('update tracewatch.network set revision = revision + 1, coverage_revision = revision + 1')
		const state = await store.network('ethereum')
		expect(
			[...(state?.announcements.values() ?? [])].map(({ id, status, revision }) => [id, status, revision]),
		).toEqual([
			['a', 'announced', 0],
			['b', 'retracted', 1],
		])
		expect(state?.covered.get(addressOf(2))).toEqual({
			since: 80n,
			from: 80n,
			leftAt: 99n,
			missed: [{ from: 10n, to: 20n }],
		})
		await store.commit(commitOf({ announcements: [announcementOf('c', 96, 3)] }))
		const [row] = await sql(`select content from tracewatch.told where id = 'c'`)
		const { txHash, alerts } = announcementOf('c', 96, 3)
		expect(row?.content).toEqual({ txHash, alerts, turn: 3 })
		// Its lanes are named by receiver and recipient, as JSON.
		expect(await sql('select lane from tracewatch.lane')).toEqual([{ lane: '["hook",null]' }])
		await store.close()
	})
})
