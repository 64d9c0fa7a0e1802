import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Delivery } from '../../../../src/model/delivery.js'
import type { Store } from '../../../../src/model/ports.js'
import { openPostgresStore, type PostgresStoreOptions } from '../../../../src/state/postgres/postgresStore.js'
import { testInFull } from '../../../support/longRun.js'
import { deliveryOf } from '../../samples.js'
import { emptied, startServer } from '../server.js'

const server = await startServer()
afterAll(() => server?.stop())

const opened: Store[] = []

/** Long enough that nothing runs out within a test, unless the test says so. */
async function instance(options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
	const store = await openPostgresStore(server?.url() ?? '', { clock: Date.now, leaseMs: 300_000, ...options })
	opened.push(store)
	return store
}

const ids = (queues: readonly (readonly Delivery[])[]) =>
	queues.map((queue) => queue.map(({ id }) => id).join(' ')).sort()
const claim = async (store: Store, perQueue = 10) => ids(await store.claim({ nowMs: Date.now(), perQueue }))
/** As if whoever works on queues had been silent for as long as a lease is. */
const runOut = () => server?.sql(`update tracewatch.queue set claimed_until = clock_timestamp() - interval '1 ms'`)
const late = {
	result: 'retry',
	code: 'server-failed',
	error: 'HTTP 503',
	nextAttemptAtMs: Date.now() + 3_600_000,
} as const

describe.skipIf(server === null)('deliveries, taken by several', () => {
	let a: Store
	let b: Store

	beforeEach(async () => {
		if (server) await emptied(server)
		a = await instance()
		b = await instance()
	})

	afterEach(async () => {
		for (const store of opened.splice(0)) await store.close()
	})

	test('default: each queue goes to one, whole; the next of it only when all that was taken is settled', async () => {
		await a.post([
			deliveryOf('a1'),
			deliveryOf('x1', { receiver: 'other' }),
			deliveryOf('a2'),
			deliveryOf('a3'),
			deliveryOf('x2', { receiver: 'other' }),
		])
		expect(await claim(a, 2)).toEqual(['a1 a2', 'x1 x2'])
		expect(await claim(b)).toEqual([])
		await a.release(['x1', 'x2'])
		await a.resolve([{ id: 'a1', result: 'delivered' }])
		expect(await claim(b)).toEqual(['x1 x2'])
		await a.resolve([{ id: 'a2', ...late }])
		expect(await claim(b)).toEqual([])
		await a.drop(['a2'])
		expect(await claim(b)).toEqual(['a3'])
	})

	test('behavior: who closes gives back what it had', async () => {
		await a.post([deliveryOf('a1')])
		await claim(a)
		await a.close()
		expect(await claim(b)).toEqual(['a1'])
	})

	testInFull('behavior: who works on a queue keeps it, however long that takes', async () => {
		// Longer than any process here stands still: what would lose it is that no renewal comes.
		const busy = await instance({ leaseMs: 60_000, renewEveryMs: 500 })
		await busy.post([deliveryOf('a1'), deliveryOf('a2')])
		expect(await claim(busy, 1)).toEqual(['a1'])
		const until = async () =>
			Number((await server?.sql('select max(extract(epoch from claimed_until)) as at from tracewatch.queue'))?.[0]?.at)
		for (let renewal = 0; renewal < 3; renewal++) {
			const before = await until()
			await expect.poll(until).toBeGreaterThan(before)
			expect(await claim(b)).toEqual([])
		}
		await busy.resolve([{ id: 'a1', result: 'delivered' }])
		expect(await claim(b)).toEqual(['a2'])
	})

	test('behavior: who is silent for too long loses it, and others know when to look', async () => {
		await a.post([deliveryOf('a1')])
		await claim(a)
		const dueMs = await b.nextDueMs()
		// The lease, give or take what passes here meanwhile, and how well two clocks are known.
		expect(dueMs).toBeGreaterThan(Date.now() + 240_000)
		expect(dueMs).toBeLessThan(Date.now() + 310_000)
		expect(await a.nextDueMs()).toBeNull()
		await runOut()
		expect(await claim(b)).toEqual(['a1'])
	})

	test('behavior: a late success counts all the same; a late failure is passed over', async () => {
		await a.post([deliveryOf('a1'), deliveryOf('a2'), deliveryOf('a3')])
		await claim(a)
		await runOut()
		expect(await claim(b)).toEqual(['a1 a2 a3'])
		await a.resolve([
			{ id: 'a1', result: 'delivered' },
			{ id: 'a2', ...late },
			{ id: 'a3', result: 'dead', code: 'message-refused', error: 'HTTP 400', nextAttemptAtMs: 0 },
		])
		expect((await b.deliveries()).map(({ id, status, attempts }) => [id, status, attempts])).toEqual([
			['a2', 'pending', 0],
			['a3', 'pending', 0],
		])
		// It is still with b, and stays there.
		expect(await claim(a)).toEqual([])
		await b.resolve([
			{ id: 'a1', result: 'delivered' },
			{ id: 'a2', result: 'delivered' },
			{ id: 'a3', result: 'delivered' },
		])
		expect((await b.summary()).receivers.get('hook')).toMatchObject({ delivered: 3, pending: 0 })
	})

	test('behavior: a late failure is passed over also when the one who took over has ended', async () => {
		await a.post([deliveryOf('a1')])
		await claim(a)
		await runOut()
		await claim(b)
		await b.resolve([{ id: 'a1', result: 'dead', code: 'message-refused', error: 'HTTP 400', nextAttemptAtMs: 0 }])
		await a.resolve([{ id: 'a1', ...late }])
		expect(await b.deliveries()).toMatchObject([{ id: 'a1', status: 'dead', attempts: 1, lastError: 'HTTP 400' }])
	})

	test('behavior: many at once take each delivery once, in order within its queue', async () => {
		const queues = 7
		const each = 40
		const all = Array.from({ length: queues * each }, (_, index) =>
			deliveryOf(`d${String(index).padStart(4, '0')}`, {
				receiver: 'mail',
				recipient: `r${index % queues}@example.org`,
			}),
		)
		await a.post(all)
		const workers = await Promise.all(Array.from({ length: 6 }, () => instance()))
		const told: string[] = []
		await Promise.all(
			workers.map(async (store, seed) => {
				while (told.length < all.length) {
					for (const queue of await store.claim({ nowMs: Date.now(), perQueue: 1 + (seed % 3) })) {
						for (const { id, recipient } of queue) {
							told.push(`${recipient} ${id}`)
							await store.resolve([{ id, result: 'delivered' }])
						}
					}
				}
			}),
		)
		for (let queue = 0; queue < queues; queue++) {
			const own = all
				.filter(({ recipient }) => recipient === `r${queue}@example.org`)
				.map((one) => `${one.recipient} ${one.id}`)
			expect(told.filter((line) => line.startsWith(`r${queue}@`))).toEqual(own)
		}
		expect((await a.summary()).receivers.get('mail')).toMatchObject({ pending: 0, delivered: all.length })
	})

	describe('word of new deliveries', () => {
		const hears = `select pid from pg_stat_activity where datname = current_database() and query ilike 'listen %'`
		/** Resolves when so many instances hear what others say. */
		const listening = (count: number) =>
			expect.poll(async () => (await server?.sql(`${hears} and state = 'idle'`))?.length).toBe(count)

		test('default: heard by others and by oneself, once', async () => {
			const calls: string[] = []
			b.onPosted(() => calls.push('b'))
			a.onPosted(() => calls.push('a'))
			await listening(2)
			const heard = async (count: number) => {
				await expect.poll(() => calls.length).toBe(count)
				expect(calls.filter((name) => name === 'a')).toHaveLength(count / 2)
			}
			await a.post([deliveryOf('last')])
			await heard(2)
			await a.post([deliveryOf('last')])
			await b.retry(['last'], Date.now())
			await heard(4)
		})

		testInFull('behavior: heard again after a cut, and what was said meanwhile', async () => {
			let calls = 0
			b.onPosted(() => calls++)
			await listening(1)
			const before = await server?.sql(hears)
			await server?.cutAll()
			await expect
				.poll(async () => await server?.sql(`select from pg_stat_activity where pid = ${before?.[0]?.pid}`))
				.toEqual([])
			await a.post([deliveryOf('meanwhile')])
			await expect.poll(() => calls).toBeGreaterThan(0)
		})
	})

	describe('clocks ten minutes apart', () => {
		const ahead = () => Date.now() + 600_000
		const behind = () => Date.now() - 600_000

		test('behavior: a delivery falls due for all at the same moment', async () => {
			const [fast, slow] = await Promise.all([instance({ clock: ahead }), instance({ clock: behind })])
			await fast.post([deliveryOf('later', { nextAttemptAtMs: ahead() + 60_000 })])
			await fast.post([deliveryOf('now', { receiver: 'other', nextAttemptAtMs: ahead() })])
			// Give or take what passes here meanwhile, and how well two clocks are known: far less than the ten minutes.
			expect(ids(await slow.claim({ nowMs: behind() + 20_000, perQueue: 9 }))).toEqual(['now'])
			expect(await slow.nextDueMs()).toBeGreaterThan(behind() + 20_000)
			expect(await slow.nextDueMs()).toBeLessThan(behind() + 70_000)
			expect(ids(await slow.claim({ nowMs: behind() + 70_000, perQueue: 9 }))).toEqual(['later'])
		})

		test('behavior: times come back as they were given', async () => {
			const fast = await instance({ clock: ahead })
			const one = deliveryOf('one', { createdAtMs: 1_789_000_000_123, nextAttemptAtMs: 1_790_000_000_001 })
			await fast.post([one])
			expect(await fast.deliveries()).toEqual([one])
		})
	})
})
