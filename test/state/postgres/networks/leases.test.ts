import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../../../src/model/ports.js'
import { openPostgresStore, type PostgresStoreOptions } from '../../../../src/state/postgres/postgresStore.js'
import { addressOf, blockOf, commitOf, coverageOf, deliveryOf, readState } from '../../samples.js'
import { emptied, startServer } from '../server.js'

const server = await startServer()
afterAll(() => server?.stop())

const NAME = 'ethereum'
const opened: Store[] = []

/** Long enough that nothing runs out within a test, unless the test says so. */
async function instance(owner: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
	const store = await openPostgresStore(server?.url() ?? '', { clock: Date.now, leaseMs: 300_000, owner, ...options })
	opened.push(store)
	return store
}

const sql = async (text: string) => (await server?.sql(text)) ?? []
/** As if whoever has it had been silent for as long as a lease is. */
const runOut = () => sql(`update tracewatch.lease set expires = clock_timestamp() - interval '1 ms'`)
const leaseNow = async () => (await sql('select split_part(owner, $$#$$, 1) as owner, epoch from tracewatch.lease'))[0]
const lost = { name: 'StateError', reason: 'lost' }

describe.skipIf(server === null)('the right to poll a network', () => {
	let a: Store
	let b: Store

	beforeEach(async () => {
		if (server) await emptied(server)
		a = await instance('a')
		b = await instance('b')
	})

	afterEach(async () => {
		for (const store of opened.splice(0)) await store.close()
	})

	test('default: one has it, however often both ask', async () => {
		expect(await a.acquireLease(NAME)).toBe(true)
		expect(await b.acquireLease(NAME)).toBe(false)
		expect(await a.acquireLease(NAME)).toBe(true)
		expect(await b.acquireLease('base')).toBe(true)
		expect(await a.acquireLease('base')).toBe(false)
	})

	test('default: of many who ask in the same moment, one has it', async () => {
		const many = await Promise.all(Array.from({ length: 8 }, (_, index) => instance(`i${index}`)))
		for (let network = 0; network < 20; network++) {
			const answers = await Promise.all(many.map((store) => store.acquireLease(`n${network}`)))
			expect(answers.filter(Boolean)).toHaveLength(1)
		}
	})

	test('behavior: after another instance had it, nothing is committed before the caller is ready', async () => {
		const calls: string[] = []
		const note = async () => {
			await expect(a.commit(commitOf({ checkpoint: blockOf(9) }))).rejects.toMatchObject(lost)
			calls.push('new')
		}
		expect(await a.acquireLease(NAME, note)).toBe(true)
		await runOut()
		expect(await a.acquireLease(NAME, note)).toBe(true)
		expect(calls).toEqual(['new'])
		await runOut()
		await b.acquireLease(NAME)
		await b.close()
		expect(await a.acquireLease(NAME, note)).toBe(true)
		expect(calls).toEqual(['new', 'new'])
		await a.commit(commitOf({ checkpoint: blockOf(1) }))
	})

	test('behavior: closing gives it back at once', async () => {
		await a.acquireLease(NAME)
		await a.close()
		expect(await b.acquireLease(NAME)).toBe(true)
	})

	test('behavior: it is kept up while nothing is asked, through cut connections too', async () => {
		// Longer than any process here stands still: what would lose it is that no renewal comes.
		const brief = await instance('brief', { leaseMs: 60_000, renewEveryMs: 1_000 })
		expect(await brief.acquireLease('brief')).toBe(true)
		const expires = async () =>
			Number((await sql('select extract(epoch from expires) as at from tracewatch.lease'))[0]?.at)
		for (let renewal = 0; renewal < 3; renewal++) {
			const before = await expires()
			expect(await server?.cutAll()).toBeGreaterThan(0)
			await expect.poll(expires).toBeGreaterThan(before)
			expect(await b.acquireLease('brief')).toBe(false)
		}
		await brief.commit(commitOf({ network: 'brief', checkpoint: blockOf(1) }))
	})

	test('behavior: it runs out by the database clock, whatever clock the instances have', async () => {
		const ahead = await instance('ahead', { clock: () => Date.now() + 600_000 })
		const behind = await instance('behind', { clock: () => Date.now() - 600_000 })
		expect(await behind.acquireLease(NAME)).toBe(true)
		expect(await ahead.acquireLease(NAME)).toBe(false)
		await runOut()
		expect(await ahead.acquireLease(NAME)).toBe(true)
		expect(await behind.acquireLease(NAME)).toBe(false)
	})

	test('behavior: the epoch grows when the owner changes, and not else', async () => {
		await a.acquireLease(NAME)
		await a.acquireLease(NAME)
		expect(await leaseNow()).toEqual({ owner: 'a', epoch: '1' })
		await runOut()
		await a.acquireLease(NAME)
		expect(await leaseNow()).toEqual({ owner: 'a', epoch: '1' })
		await runOut()
		await b.acquireLease(NAME)
		expect(await leaseNow()).toEqual({ owner: 'b', epoch: '2' })
		await b.close()
		await a.acquireLease(NAME)
		expect(await leaseNow()).toEqual({ owner: 'a', epoch: '3' })
	})

	describe('commit and enrol', () => {
		const step = (number: number) => commitOf({ checkpoint: blockOf(number), deliveries: [deliveryOf(`d${number}`)] })
		const covered = new Map([[addressOf(1), coverageOf(1)]])

		test('error: never asked for, so refused, the first step of a network too', async () => {
			await expect(a.commit(step(1))).rejects.toMatchObject(lost)
			await b.acquireLease(NAME)
			await expect(a.commit(step(1))).rejects.toMatchObject(lost)
			expect(await b.network(NAME)).toBeNull()
			expect(await b.deliveries()).toEqual([])
		})

		test('error: taken over meanwhile, so refused, and nothing of it is kept', async () => {
			await a.acquireLease(NAME)
			await a.commit(step(1))
			await runOut()
			await b.acquireLease(NAME)
			await expect(a.commit(step(2))).rejects.toMatchObject(lost)
			await expect(a.enrol(NAME, { covered, backfills: null })).rejects.toMatchObject(lost)
			await b.commit(step(3))
			const state = await b.network(NAME)
			expect([state?.checkpoint, state?.covered.size]).toEqual([blockOf(3), 0])
			expect((await b.deliveries()).map(({ id }) => id)).toEqual(['d1', 'd3'])
		})

		test('error: taken over and given back meanwhile, and yet refused', async () => {
			await a.acquireLease(NAME)
			await a.commit(step(1))
			await runOut()
			await b.acquireLease(NAME)
			await b.commit(step(2))
			await b.close()
			await expect(a.commit(step(2))).rejects.toMatchObject(lost)
			expect(await a.acquireLease(NAME)).toBe(true)
			expect((await a.network(NAME))?.checkpoint).toEqual(blockOf(2))
		})

		test('behavior: run out but not taken over, so it continues', async () => {
			await a.acquireLease(NAME)
			await runOut()
			await a.commit(step(1))
			expect(await b.acquireLease(NAME)).toBe(false)
		})

		test('behavior: who takes over knows all that was written before', async () => {
			await a.acquireLease(NAME)
			await a.commit(step(1))
			await a.network(NAME)
			await runOut()
			await b.acquireLease(NAME)
			await b.enrol(NAME, { covered, backfills: [{ id: 'b', span: { from: 1n, to: 9n }, addresses: [addressOf(1)] }] })
			await b.commit(commitOf({ backfill: { id: 'b', scannedTo: 4n } }))
			await runOut()
			await a.acquireLease(NAME)
			expect(await readState(await a.network(NAME))).toEqual(await readState(await b.network(NAME)))
			expect(await a.network(NAME)).toMatchObject({ covered, backfills: [{ span: { from: 5n, to: 9n } }] })
		})

		test('behavior: what does not change is not read again', async () => {
			await a.acquireLease(NAME)
			await a.commit(step(1))
			await a.enrol(NAME, { covered, backfills: null })
			const before = (await a.network(NAME))?.covered
			await a.commit(step(2))
			expect((await a.network(NAME))?.covered).toBe(before)
			await a.enrol(NAME, { covered: new Map([[addressOf(2), coverageOf(2)]]), backfills: null })
			expect((await a.network(NAME))?.covered.size).toBe(2)
		})
	})

	describe('cede', () => {
		test('default: the one who asks next has it', async () => {
			await a.acquireLease(NAME)
			await a.releaseLease(NAME)
			await expect(a.commit(commitOf({ checkpoint: blockOf(1) }))).rejects.toMatchObject(lost)
			expect(await b.acquireLease(NAME)).toBe(true)
		})

		test('behavior: alone, it is taken up again', async () => {
			await a.acquireLease(NAME)
			await a.releaseLease(NAME)
			expect(await a.acquireLease(NAME)).toBe(true)
			expect(await leaseNow()).toEqual({ owner: 'a', epoch: '1' })
		})

		test('behavior: who asked without success before goes first, once', async () => {
			await a.acquireLease(NAME)
			await b.acquireLease(NAME)
			await a.releaseLease(NAME)
			expect(await a.acquireLease(NAME)).toBe(false)
			expect(await b.acquireLease(NAME)).toBe(true)
		})

		test('behavior: when that one has died, it is taken up again at the second try', async () => {
			await a.acquireLease(NAME)
			await b.acquireLease(NAME)
			await b.close()
			await a.releaseLease(NAME)
			expect(await a.acquireLease(NAME)).toBe(false)
			expect(await a.acquireLease(NAME)).toBe(true)
		})

		test('behavior: what one does not have, one cannot give away', async () => {
			await a.acquireLease(NAME)
			await b.releaseLease(NAME)
			expect(await b.acquireLease(NAME)).toBe(false)
			await a.commit(commitOf({ checkpoint: blockOf(1) }))
		})
	})
})
