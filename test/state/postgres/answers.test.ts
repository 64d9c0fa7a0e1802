import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../../src/model/ports.js'
import { openPostgresStore } from '../../../src/state/postgres/postgresStore.js'
import { addressOf, blockOf, commitOf, coverageOf, deliveryOf } from '../samples.js'
import { type Gate, openGate } from './gate.js'
import { emptied, startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

describe.skipIf(server === null)('answers of the database that come late, or never', () => {
	if (server === null) return
	let gate: Gate
	/** By way of the gate. */
	let a: Store
	let b: Store

	beforeEach(async () => {
		await emptied(server)
		gate = await openGate(server.port)
		const options = { clock: Date.now, leaseMs: 300_000 }
		a = await openPostgresStore(gate.url(server.url()), options)
		b = await openPostgresStore(server.url(), options)
	})

	afterEach(async () => {
		await a.close()
		await b.close()
		await gate.close()
	})

	const claimed = async (store: Store) =>
		(await store.claim({ nowMs: Date.now(), perQueue: 9 })).flat().map(({ id }) => id)

	test('behavior: a queue that was lost before its content could be read is not handed out', async () => {
		await b.post([deliveryOf('d1')])
		const answer = gate.holdBack('skip locked')
		const late = claimed(a)
		await answer.arrived
		await expect
			.poll(async () => (await server.sql('select claimed_by from tracewatch.queue'))[0]?.claimed_by)
			.not.toBeNull()
		await server.sql(`update tracewatch.queue set claimed_until = clock_timestamp() - interval '1 ms'`)
		expect(await claimed(b)).toEqual(['d1'])
		answer.open()
		expect(await late).toEqual([])
		await b.resolve([{ id: 'd1', result: 'delivered' }])
	})

	test('behavior: a claim whose answer is lost is made again', async () => {
		await b.post([deliveryOf('d1')])
		gate.lose('skip locked')
		expect(await claimed(a)).toEqual(['d1'])
		expect(await claimed(b)).toEqual([])
	})

	test('behavior: a right to poll whose answer is lost is there', async () => {
		gate.lose('tracewatch.lease as l')
		expect(await a.acquireLease('ethereum')).toBe(true)
		expect(await server.sql('select epoch from tracewatch.lease')).toEqual([{ epoch: '1' }])
	})

	test('behavior: what is lost before its end is done again, once', async () => {
		await a.acquireLease('ethereum')
		gate.lose('insert into tracewatch.delivery')
		await a.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('d1')] }))
		expect((await b.network('ethereum'))?.checkpoint).toEqual(blockOf(1))
		expect((await b.deliveries()).map(({ id }) => id)).toEqual(['d1'])
		gate.lose('delete from tracewatch.delivery')
		await a.resolve([{ id: 'd1', result: 'delivered' }])
		expect((await b.summary()).receivers.get('hook')).toMatchObject({ delivered: 1, pending: 0 })
	})

	test('error: a step whose end was not heard of fails, and the next look reports what became of it', async () => {
		await a.acquireLease('ethereum')
		await a.commit(commitOf({ checkpoint: blockOf(1) }))
		gate.lose('commit')
		const step = commitOf({ checkpoint: blockOf(2), deliveries: [deliveryOf('d2')] })
		await expect(a.commit(step)).rejects.toMatchObject({ reason: 'disk' })
		expect((await a.network('ethereum'))?.checkpoint).toEqual(blockOf(2))
		await a.commit(commitOf({ checkpoint: blockOf(3), deliveries: [deliveryOf('d2'), deliveryOf('d3')] }))
		expect((await b.deliveries()).map(({ id }) => id)).toEqual(['d2', 'd3'])

		gate.lose('commit')
		const covered = new Map([[addressOf(1), coverageOf(4)]])
		await expect(a.enrol('ethereum', { covered, backfills: null })).rejects.toMatchObject({ reason: 'disk' })
		expect((await a.network('ethereum'))?.covered).toEqual(covered)
	})
})
