// What left the outbox, in both stores: once each, newest first, for as long as it is to be kept.
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { historyRowOf } from '../../src/core/outbox/historyEntries.js'
import type { HistoryQuery, HistoryRow } from '../../src/model/history.js'
import type { StatePlace } from '../../src/model/state.js'
import { journalAt, openHistory, openStore, peek } from '../../src/state/open.js'
import { temporaryFolder } from '../support/folder.js'
import { standingClock } from '../support/standingClock.js'
import { emptied, startServer } from './postgres/server.js'
import { blockOf, commitOf, deliveryOf } from './samples.js'

const server = await startServer()
afterAll(() => server?.stop())

const clock = standingClock
const keepMs = 90 * 86_400_000

const places: [string, () => Promise<StatePlace | null>][] = [
	['a folder', async () => ({ kind: 'folder', dir: join(temporaryFolder(), 'state') })],
	[
		'PostgreSQL',
		async () => {
			if (server === null) return null
			await emptied(server)
			return { kind: 'postgres', url: server.url() }
		},
	],
]

describe.each(places)('history in %s', (_, make) => {
	let place: StatePlace

	beforeEach(async () => {
		const made = await make()
		if (made === null) throw new Error('no server')
		place = made
	})

	const open = (historyMs: number | undefined = keepMs) =>
		openStore(place, { clock, ...(historyMs === undefined ? {} : { historyMs }) })

	async function rows(query: HistoryQuery = {}, below: string | null = null): Promise<readonly HistoryRow[]> {
		const reader = await openHistory(place)
		try {
			const found: HistoryRow[] = []
			for await (const { entry } of reader.read(query, below)) if (entry !== null) found.push(entry as HistoryRow)
			return found
		} finally {
			await reader.close()
		}
	}

	test('default: a folded alert is kept in the same write as the delivery that reports it, never sent', async () => {
		const store = await open()
		const folded = [deliveryOf('b'), deliveryOf('c', { receiver: 'mail', recipient: 'ops@example.org' })]
		await store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a')], folded }))
		expect((await store.deliveries()).map(({ id }) => id)).toEqual(['a'])
		await store.close()
		const found = await rows()
		expect(found.map(({ id, result, attempts, recipient }) => [id, result, attempts, recipient])).toEqual([
			['c', 'folded', 0, 'ops@example.org'],
			['b', 'folded', 0, null],
		])
		expect(found[1]?.message).toEqual(deliveryOf('b').message)
	})

	test('behavior: a delivery is in the history as soon as it left the outbox, and on one page only', async () => {
		const store = await open()
		const reader = await openHistory(place, store.unwritten)
		/** The first so many below a cursor, and the cursor of the last. */
		async function page(below: string | null, size: number) {
			const ids: string[] = []
			let next = below
			for await (const { entry, cursor } of reader.read({}, below)) {
				if (ids.length === size) break
				if (entry !== null) ids.push((entry as HistoryRow).id)
				next = cursor
			}
			return { ids, next }
		}
		try {
			await store.post(['a', 'b', 'c', 'd'].map((id) => deliveryOf(id)))
			for (const id of ['a', 'b', 'c']) await store.resolve([{ id, result: 'delivered' }])
			const { ids, next } = await page(null, 2)
			expect(ids).toEqual(['c', 'b'])
			await store.resolve([{ id: 'd', result: 'delivered' }])
			expect((await page(next, 2)).ids).toEqual(['a'])
			// Now all are written.
			await store.close()
			expect((await page(next, 2)).ids).toEqual(['a'])
			expect((await page(null, 9)).ids).toEqual(['d', 'c', 'b', 'a'])
		} finally {
			await reader.close()
		}
	})

	test('default: a delivered message is kept with its attempts, the last failure and the answer', async () => {
		const before = clock()
		const store = await open()
		const mail = { receiver: 'mail', recipient: 'ops@example.org' }
		await store.post([deliveryOf('a'), deliveryOf('b', mail)])
		await store.resolve([{ id: 'b', result: 'retry', code: 'failed', error: 'HTTP 503', nextAttemptAtMs: 0 }])
		await store.resolve([{ id: 'a', result: 'delivered', answer: 'hook answered 204' }])
		await store.resolve([{ id: 'b', result: 'delivered' }])
		await store.close()
		const [second, first] = await rows()
		expect(first).toMatchObject({
			...{ id: 'a', receiver: 'hook', recipient: null, result: 'delivered', attempts: 1 },
			...{ lastError: null, answer: 'hook answered 204', message: deliveryOf('a').message },
		})
		expect(second).toMatchObject({ id: 'b', ...mail, attempts: 2, lastError: 'HTTP 503', answer: null })
		for (const row of [first, second]) {
			expect(row?.createdAtMs).toBeGreaterThanOrEqual(deliveryOf('a').createdAtMs - 10_000)
			expect(row?.endedAtMs).toBeGreaterThanOrEqual(before - 10_000)
			expect(row?.endedAtMs).toBeLessThanOrEqual(clock() + 10_000)
		}
	})

	test('behavior: nothing is a row before it is over; dropped is said', async () => {
		const store = await open()
		await store.post(['dead', 'parked', 'gone', 'held', 's2'].map((id) => deliveryOf(id)))
		await store.resolve([
			{ id: 'dead', result: 'dead', code: 'refused', error: 'no', nextAttemptAtMs: 0 },
			{ id: 'parked', result: 'retry', code: 'login-refused', error: 'no', nextAttemptAtMs: 0 },
			{ id: 'held', result: 'wait', as: 'digest', untilMs: 99 },
		])
		expect(await store.drop(['gone', 'never there'])).toBe(1)
		await store.resolve([{ id: 's2', result: 'delivered' }])
		await store.close()
		expect((await rows()).map(({ id, result, attempts }) => [id, result, attempts])).toEqual([
			['s2', 'delivered', 1],
			['gone', 'dropped', 0],
		])
	})

	test('behavior: the same word twice makes one row', async () => {
		const store = await open()
		await store.post([deliveryOf('a')])
		await Promise.all([1, 2, 3].map(() => store.resolve([{ id: 'a', result: 'delivered' }])))
		await store.resolve([{ id: 'a', result: 'delivered' }])
		await store.close()
		expect(await rows()).toHaveLength(1)
	})

	test('behavior: many are read newest first, on from any cursor, over restarts', async () => {
		for (let round = 0; round < 3; round++) {
			const store = await open()
			const ids = Array.from({ length: 40 }, (_, index) => `d${round * 40 + index}`)
			await store.post(ids.map((id) => deliveryOf(id)))
			await store.resolve(ids.map((id) => ({ id, result: 'delivered' })))
			await store.close()
		}
		const wanted = Array.from({ length: 120 }, (_, index) => `d${119 - index}`)
		expect((await rows()).map(({ id }) => id)).toEqual(wanted)
		const reader = await openHistory(place)
		const pages: string[] = []
		let below: string | null = null
		for (;;) {
			let count = 0
			for await (const { entry, cursor } of reader.read({}, below)) {
				below = cursor
				if (entry !== null) pages.push((entry as HistoryRow).id)
				if (entry !== null && ++count === 33) break
			}
			if (count === 0) break
		}
		await reader.close()
		expect(pages).toEqual(wanted)
	})

	test('behavior: `0` keeps none, no word about it leaves what is there', async () => {
		let store = await open()
		await store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
		await store.resolve([{ id: 'a', result: 'delivered' }])
		await store.close()
		store = await openStore(place, { clock })
		await store.resolve([{ id: 'b', result: 'delivered' }])
		await store.close()
		expect((await rows()).map(({ id }) => id)).toEqual(['a'])
		store = await open(0)
		await store.resolve([{ id: 'c', result: 'delivered' }])
		// Forgetting goes on beside the store.
		await expect.poll(() => rows()).toEqual([])
		await store.close()
		expect(await rows()).toEqual([])
		// What the snapshot brings along is left out of the next one.
		store = await openStore(place, { clock, historyMs: 0, leastJournalBytes: 1 })
		await store.post([deliveryOf('d')])
		await store.close()
		expect((await peek(place))?.rows ?? []).toEqual([])
	})

	test('behavior: history older than its retention is forgotten', async () => {
		const now = { ms: clock() - 100 * 86_400_000 }
		const early = { clock: () => now.ms, historyMs: keepMs }
		let store = await openStore(place, early)
		await store.post([deliveryOf('old')])
		await store.resolve([{ id: 'old', result: 'delivered' }])
		await store.close()
		if (place.kind === 'postgres')
			await server?.sql(`update tracewatch.history set ended_at_ms = ended_at_ms - 100 * 86400000::bigint`)
		store = await open()
		await store.post([deliveryOf('new')])
		await store.resolve([{ id: 'new', result: 'delivered' }])
		await expect.poll(async () => (await rows()).map(({ id }) => id)).toEqual(['new'])
		await store.close()
	})

	test('behavior: a hole matches every query: its rows may have been about anything', async () => {
		const hole = { seq: 7, endedAtMs: clock(), hole: { rows: 3, fromMs: clock() - 1_000 } }
		await (await open()).close()
		const journal = await journalAt(place)
		await journal.addHistory([hole])
		if (place.kind === 'postgres') await journal.close()
		for (const query of [{}, { address: `0x${'12'.repeat(20)}` }, { network: 'base' }])
			expect(await rows(query)).toEqual([hole])
		expect(await rows({ sinceMs: clock() + 60_000 })).toEqual([])
	})

	test('error: rows of a copy that was cut off: later ones come after them', async () => {
		let store = await open()
		await store.post([deliveryOf('a')])
		await store.close()
		const journal = await journalAt(place)
		const left = { ...historyRowOf(deliveryOf('left'), { result: 'delivered', atMs: clock() }), seq: 1 }
		await journal.addHistory([left])
		if (place.kind === 'postgres') await journal.close()
		store = await open()
		await store.resolve([{ id: 'a', result: 'delivered' }])
		expect(await store.deliveries()).toEqual([])
		await store.close()
		expect((await rows()).map(({ id }) => id)).toEqual(['a', 'left'])
	})

	test('behavior: a query passes over what surely does not match', async () => {
		const store = await open()
		const other = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e'
		const one = deliveryOf('one')
		const data = { ...one.message.data, id: `1:0xab:root:transfer:${other.toLowerCase()}` } as typeof one.message.data
		await store.post([deliveryOf('two'), { ...one, message: { ...one.message, data } }])
		await store.resolve([
			{ id: 'one', result: 'delivered' },
			{ id: 'two', result: 'delivered' },
		])
		await store.close()
		expect((await rows({ address: other })).map(({ id }) => id)).toEqual(['one'])
		expect(await rows({ network: 'base' })).toEqual([])
		expect(await rows({ sinceMs: clock() + 60_000 })).toEqual([])
	})
})
