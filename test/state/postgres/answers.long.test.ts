import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../../src/model/ports.js'
import { emptyState } from '../../../src/state/document.js'
import { openStore } from '../../../src/state/open.js'
import { pgJournal } from '../../../src/state/postgres/pgJournal.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'
import { blockOf, commitOf, deliveryOf } from '../samples.js'
import { type Gate, openGate } from './gate.js'
import { openPgStore } from './pgStore.js'
import { emptied, startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

describe.skipIf(server === null)('answers of the database that come late, or never', () => {
	if (server === null) return
	let gate: Gate
	let store: Store
	const rows = () => server.sql<{ seq: string }>('select seq from tracewatch.history order by seq')
	const lines = () => server.sql<{ seq: number }>('select seq::int from tracewatch.journal order by seq')
	const open = (rest = {}) =>
		openPgStore(gate.url(server.url()), { clock: standingClock, historyMs: 3_600_000, leaseMs: 300_000, ...rest })

	beforeEach(async () => {
		await emptied(server)
		gate = await openGate(server.port)
		store = await open()
		await store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a'), deliveryOf('b')] }))
	})

	afterEach(async () => {
		await store.close()
		await gate.close()
	})

	test('behavior: a write whose answer is lost is appended once, with its history rows', async () => {
		gate.lose('insert into tracewatch.journal')
		await store.resolve([{ id: 'a', result: 'delivered' }])
		expect((await store.deliveries()).map(({ id }) => id)).toEqual(['b'])
		gate.lose('insert into tracewatch.journal')
		await store.commit(commitOf({ checkpoint: blockOf(2) }))
		expect([(await lines()).map(({ seq }) => seq), await rows()]).toEqual([[1, 2, 3], [{ seq: '1' }]])
		expect((await store.summary()).receivers.get('hook')).toMatchObject({ delivered: 1, pending: 1 })
	})

	test('behavior: a right to write whose answer is lost is there', async () => {
		await store.close()
		gate.lose('insert into tracewatch.head')
		store = await open()
		await store.commit(commitOf({ checkpoint: blockOf(3) }))
		expect(await server.sql('select epoch::int from tracewatch.head')).toEqual([{ epoch: 2 }])
	})

	test('behavior: a snapshot whose answer is lost is taken once, and the lines go on after it', async () => {
		const many = Array.from({ length: 2_001 }, (_, at) => deliveryOf(`d${at}`))
		for (const text of ['update tracewatch.head set snapshot = $5', 'insert into tracewatch.snapshot']) {
			gate.lose(text)
			await store.commit(commitOf({ folded: many }))
		}
		await store.commit(commitOf({ checkpoint: blockOf(4) }))
		expect(await rows()).toHaveLength(4_002)
		await store.close()
		store = await open()
		expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(4))
		expect(await server.sql('select count(distinct id)::int as snapshots from tracewatch.snapshot')).toEqual([
			{ snapshots: 1 },
		])
	})

	test('behavior: the lease is renewed while a large snapshot is being written', async () => {
		await store.close()
		store = await open({ leaseMs: 1_500 })
		const part = gate.holdBack('insert into tracewatch.snapshot')
		const written = store.commit(commitOf({ folded: Array.from({ length: 2_001 }, (_, at) => deliveryOf(`d${at}`)) }))
		await part.arrived
		for (let renewals = 0; renewals < 3; renewals++) {
			const renewal = gate.holdBack('update tracewatch.head set expires = clock')
			await renewal.arrived
			renewal.open()
		}
		part.open()
		await written
		expect(await server.sql('select epoch::int, snapshot_seq::int from tracewatch.head')).toEqual([
			{ epoch: 2, snapshot_seq: 2 },
		])
	})

	test('behavior: a renewal under way at the end is answered before the lease is given back', async () => {
		await store.close()
		store = await open({ leaseMs: 1_500 })
		const renewal = gate.holdBack('update tracewatch.head set expires = clock')
		await renewal.arrived
		const end = gate.holdBack("set expires = '-infinity'")
		const order: string[] = []
		const isBack = end.arrived.then(() => order.push('given back'))
		const closing = store.close()
		for (let trips = 0; trips < 200; trips++) await rows()
		order.push('renewed')
		renewal.open()
		await isBack
		end.open()
		await closing
		store = await open()
		expect(order).toEqual(['renewed', 'given back'])
	})

	test('error: a database that lost the last line ends the instance, and nothing is written', async () => {
		await store.close()
		let lost = 0
		store = await open({ onLost: () => lost++ })
		await store.commit(commitOf({ checkpoint: blockOf(2) }))
		// As a replica that takes over without the last commit.
		await server.sql('delete from tracewatch.journal where seq = 2')
		await server.sql('update tracewatch.head set seq = 1')
		const late = store.commit(commitOf({ checkpoint: blockOf(3) }))
		await expect(late).rejects.toMatchObject({ reason: 'lost', message: expect.stringContaining('older') })
		expect([lost, await lines()]).toEqual([1, [{ seq: 1 }]])
		await store.close()
		store = await open()
		await store.commit(commitOf({ checkpoint: blockOf(2) }))
		expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(2))
	})

	test('error: an instance that writes nothing ends, too, at the next renewal', async () => {
		await store.close()
		const lost: string[] = []
		store = await open({ leaseMs: 1_500, onLost: ({ message }: Error) => lost.push(message) })
		await store.commit(commitOf({ checkpoint: blockOf(2) }))
		await server.sql('delete from tracewatch.journal where seq = 2')
		await server.sql('update tracewatch.head set seq = 1')
		await expect.poll(() => lost).toEqual([expect.stringContaining('older')])
		await expect(store.drop(['a'])).rejects.toMatchObject({ reason: 'lost' })
	})

	test('behavior: a change by an operator beside the daemon is taken in, with or without a next write', async () => {
		const beside = await openPgStore(server.url(), { clock: standingClock, historyMs: 3_600_000, isBeside: true })
		expect(await beside.drop(['a'])).toBe(1)
		await store.commit(commitOf({ checkpoint: blockOf(5) }))
		expect((await store.deliveries()).map(({ id }) => id)).toEqual(['b'])
		expect(await beside.retry(['b'], 7)).toBe(1)
		await beside.close()
		expect(await rows()).toEqual([{ seq: '1' }])
		await store.close()
		// A renewal shows it to an instance that writes nothing.
		store = await open({ leaseMs: 1_500 })
		const other = await openPgStore(server.url(), { clock: standingClock, isBeside: true })
		await other.drop(['b'])
		await other.close()
		await expect.poll(async () => (await store.deliveries()).length).toBe(0)
	})

	test('behavior: a snapshot without a change, whose answer is lost, is whole at the next start', async () => {
		await store.close()
		const journal = pgJournal(gate.url(server.url()))
		const loaded = await journal.acquire()
		await journal.compact(loaded?.whole ?? emptyState, null)
		gate.lose('update tracewatch.head set snapshot = $5')
		await journal.compact(loaded?.whole ?? emptyState, null)
		await journal.close()
		store = await open()
		expect((await store.deliveries()).map(({ id }) => id)).toEqual(['a', 'b'])
	})

	test('behavior: an instance keeps its lease while it loads a state that takes longer than a lease', async () => {
		const expires = async () => {
			const [head] = await server.sql<{ at: string }>('select expires::text as at from tracewatch.head')
			return head?.at
		}
		await store.close()
		const { arrived, open: letThrough } = gate.holdBack('from tracewatch.journal where')
		const opening = open({ leaseMs: 1_500 })
		await arrived
		const before = await expires()
		await expect.poll(async () => (await expires()) === before, { timeout: 5_000 }).toBe(false)
		letThrough()
		store = await opening
		await store.commit(commitOf({ checkpoint: blockOf(2) }))
	})

	test('behavior: an instance that stands by also waits for a database that is away, and takes over', async () => {
		const url = await server.fresh('away')
		const name = new URL(url).pathname.slice(1)
		const holder = await openPgStore(url, { clock: standingClock })
		/** Of each wait: whether the database was away. */
		const waits: boolean[] = []
		const onWait = (away: unknown) => void waits.push(away !== null)
		const standBy = { signal: new AbortController().signal, onWait }
		const said: string[] = []
		const say = (level: string) => (_: object, message: string) => void said.push(`${level} ${message}`)
		const log = { ...silent, info: say('info'), warn: say('warn') }
		const next = openStore({ kind: 'postgres', url }, { clock: standingClock, standBy, log })
		const passes = (isAway: boolean) => {
			const before = waits.length
			return Promise.race([next, expect.poll(() => waits.slice(before), { timeout: 10_000 }).toContain(isAway)])
		}
		await passes(false)
		await server.sql(`alter database ${name} allow_connections = false`)
		await server.cutAll()
		await passes(true)
		await server.sql(`alter database ${name} allow_connections = true`)
		await passes(false)
		await holder.close()
		await (await next).close()
		const inUse = expect.stringMatching(/^info the state in the database at .* is in use by .*: standing by$/)
		const isAway = expect.stringMatching(/^warn cannot .* the state in the database at .*: standing by$/)
		expect(said).toEqual([inUse, isAway, inUse, 'info this instance has taken over'])
	})

	test('behavior: a command of an operator leaves the state whole for a daemon that starts meanwhile', async () => {
		await store.close()
		const place = { kind: 'postgres', url: gate.url(server.url()) } as const
		const beside = await openStore(place, { clock: standingClock, isBeside: true, leastJournalBytes: 1 })
		const parts = gate.holdBack('insert into tracewatch.snapshot')
		await beside.drop(['a'])
		const closing = beside.close()
		await Promise.race([parts.arrived, closing])
		store = await openPgStore(server.url(), { clock: standingClock })
		parts.open()
		await closing
		await store.close()
		store = await open()
		expect((await store.deliveries()).map(({ id }) => id)).toEqual(['b'])
	})

	test('error: a command of an operator that loaded the state three snapshots ago is to be run again', async () => {
		const beside = await openPgStore(server.url(), { clock: standingClock, isBeside: true })
		await store.close()
		store = await open({ leastJournalBytes: 1 })
		// Each is larger than the snapshot before.
		for (const [at, size] of [20_000, 60_000, 180_000].entries()) {
			await store.post([deliveryOf(`large${at}`, { lastError: 'x'.repeat(size) })])
			await store.drop([`large${at}`])
		}
		await expect(beside.drop(['a'])).rejects.toMatchObject({
			reason: 'locked',
			message: expect.stringMatching(/nothing was written, try again/),
		})
		await beside.close()
		expect((await store.deliveries()).map(({ id }) => id)).toEqual(['a', 'b'])
	})

	test('error: an instance that was replaced writes nothing more, and is notified of it once', async () => {
		const lost: string[] = []
		await store.close()
		store = await open({ onLost: ({ reason }: Error & { reason: string }) => lost.push(reason) })
		await server.sql(`update tracewatch.head set expires = '-infinity'`)
		const successor = await openPgStore(server.url(), { clock: standingClock })
		for (let tries = 0; tries < 2; tries++)
			await expect(store.commit(commitOf({ checkpoint: blockOf(9) }))).rejects.toMatchObject({ reason: 'lost' })
		expect(lost).toEqual(['lost'])
		expect((await successor.network('ethereum'))?.checkpoint).toEqual(blockOf(1))
		await successor.close()
	})
})
