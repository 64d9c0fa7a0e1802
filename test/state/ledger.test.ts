// One ledger and one store over any journal: the rules are held here, on one in memory.
import { describe, expect, test } from 'vitest'
import { StateError } from '../../src/errors.js'
import type { Store } from '../../src/model/ports.js'
import { openStoreOn } from '../../src/state/store.js'
import { storeContract } from './contract.js'
import { memoryDisk } from './memoryJournal.js'
import { addressOf, blockOf, commitOf, coverageOf, deliveryOf, START_MS } from './samples.js'

const clock = () => START_MS
const ids = async (store: Store) => (await store.deliveries()).map(({ id }) => id)

storeContract('store on a journal in memory', async () => {
	const disk = memoryDisk()
	return { open: (clock) => openStoreOn(disk.open(), { clock }), remove: async () => undefined }
})

async function untilWritten<T>(act: () => Promise<T>): Promise<T> {
	for (;;) {
		try {
			return await act()
		} catch (error) {
			if (!(error instanceof StateError) || error.reason !== 'disk') throw error
		}
	}
}

/** Its callers try again, as those of the program do. */
storeContract('store on a journal whose every write fails at first', async () => {
	const disk = memoryDisk()
	let calls = 0
	disk.failure = () => (++calls % 2 === 1 ? 'before' : null)
	return {
		async open(clock) {
			const store = await openStoreOn(disk.open(), { clock, leastJournalBytes: 2_000 })
			const running = new Set<Promise<unknown>>()
			const again = Object.entries(store).map(([name, act]) => [
				name,
				name === 'onPosted'
					? act
					: (...args: never[]) => {
							if (name === 'close') return Promise.all(running).then(() => store.close())
							const result = untilWritten(() => (act as (...args: never[]) => Promise<unknown>)(...args))
							running.add(result.catch(() => undefined))
							return result
						},
			])
			return Object.fromEntries(again) as Store
		},
		remove: async () => undefined,
	}
})

describe('writes', () => {
	/** A store whose writes end when the test says. */
	async function held() {
		const disk = memoryDisk()
		const waiting: (() => void)[] = []
		disk.pause = () => new Promise((resolve) => waiting.push(resolve))
		const store = await openStoreOn(disk.open(), { clock })
		const settled: string[] = []
		const post = (id: string) =>
			store.post([deliveryOf(id)]).then(
				() => settled.push(id),
				() => settled.push(`${id} failed`),
			)
		const writing = async (count: number) => expect.poll(() => waiting.length, { interval: 1 }).toBe(count)
		return { disk, store, settled, post, writing, end: () => waiting.at(-1)?.() }
	}

	test('default: writes requested together become one line, and show once that is durable', async () => {
		const { disk, store, settled, post, writing, end } = await held()
		const posted = [post('a'), post('b')]
		await writing(1)
		expect([await ids(store), settled]).toEqual([[], []])
		end()
		await Promise.all(posted)
		expect(disk.lines()).toHaveLength(1)
		expect(await ids(store)).toEqual(['a', 'b'])
	})

	test('behavior: writes during another become the next line, and a failed one takes no other along', async () => {
		const { disk, store, settled, post, writing, end } = await held()
		const posted = [post('a')]
		await writing(1)
		posted.push(post('b'), post('c'))
		end()
		await writing(2)
		expect(settled).toEqual(['a'])
		posted.push(post('d'))
		disk.failure = () => 'before'
		end()
		await writing(3)
		disk.failure = () => null
		end()
		await Promise.all(posted)
		expect(settled).toEqual(['a', 'b failed', 'c failed', 'd'])
		expect(await ids(store)).toEqual(['a', 'd'])
		expect(disk.lines()).toHaveLength(2)
	})

	test('behavior: a change that is refused fails alone, and what changes nothing writes nothing', async () => {
		const disk = memoryDisk()
		const store = await openStoreOn(disk.open(), { clock })
		const [refused, taken] = await Promise.allSettled([store.commit(commitOf({})), store.post([deliveryOf('a')])])
		expect(refused).toMatchObject({ status: 'rejected', reason: { reason: 'mismatch' } })
		expect(taken.status).toBe('fulfilled')
		await store.post([deliveryOf('a')])
		await store.drop(['none'])
		expect(disk.lines()).toHaveLength(1)
	})
})

describe('a journal that others write', () => {
	test('behavior: both changes take effect, computed from the state that they meet', async () => {
		const disk = memoryDisk()
		const [one, other] = [await openStoreOn(disk.open(), { clock }), await openStoreOn(disk.open(), { clock })]
		await one.commit(commitOf({ checkpoint: blockOf(100), deliveries: [deliveryOf('a'), deliveryOf('b')] }))
		const covered = new Map([[addressOf(1), coverageOf(101)]])
		const backfills = [{ id: 'x', span: { from: 1n, to: 50n }, addresses: [addressOf(1)] }]
		// The other knows nothing of the network yet: its write meets the line, and both are there.
		await other.post([deliveryOf('c')])
		await other.enrol('ethereum', { covered, backfills })
		expect(await other.drop(['a', 'none'])).toBe(1)
		expect(await one.retry(['a', 'b'], 7)).toBe(1)
		const expected = await one.network('ethereum')
		expect(expected?.backfills).toEqual(backfills)
		await other.post([deliveryOf('d')])
		const late = await openStoreOn(disk.open(), { clock })
		for (const store of [other, late]) {
			expect(await ids(store)).toEqual(['b', 'c', 'd'])
			expect(await store.network('ethereum')).toEqual(expected)
		}
	})

	test('behavior: a write whose answer was lost counts once, its history rows too', async () => {
		const disk = memoryDisk()
		const store = await openStoreOn(disk.open(), { clock, historyMs: 1_000 })
		await store.post([deliveryOf('a'), deliveryOf('b')])
		disk.failure = () => 'after'
		await expect(store.drop(['a'])).rejects.toMatchObject({ reason: 'disk' })
		disk.failure = () => null
		expect(await store.drop(['a'])).toBe(0)
		expect(await store.drop(['b'])).toBe(1)
		expect(disk.rows).toEqual([1, 2])
		expect(await ids(await openStoreOn(disk.open(), { clock }))).toEqual([])
	})
})

describe('snapshots', () => {
	test('behavior: a change that is too large for a line is in a snapshot, with its history rows', async () => {
		const disk = memoryDisk()
		const store = await openStoreOn(disk.open(), { clock, historyMs: 1_000 })
		const many = Array.from({ length: 2_001 }, (_, at) => deliveryOf(`d${at}`))
		await store.commit(commitOf({ checkpoint: blockOf(1), folded: many }))
		expect([disk.snapshots(), disk.lines(), disk.rows.length]).toEqual([1, [], 2_001])
		await store.post([deliveryOf('a')])
		const again = await openStoreOn(disk.open(), { clock })
		expect([await ids(again), (await again.network('ethereum'))?.checkpoint]).toEqual([['a'], blockOf(1)])
	})

	test('behavior: a snapshot that fails leaves the lines, and is tried again after more of them', async () => {
		const disk = memoryDisk()
		let tried = 0
		disk.failure = (call) => (call === 'compact' && ++tried < 3 ? 'before' : null)
		const store = await openStoreOn(disk.open(), { clock, leastJournalBytes: 4_000 })
		for (let at = 0; disk.snapshots() === 0 && at < 100; at++) await store.post([deliveryOf(`d${at}`)])
		expect([tried, disk.snapshots()]).toEqual([3, 1])
		const posted = await ids(store)
		expect(await ids(await openStoreOn(disk.open(), { clock }))).toEqual(posted)
	})
})
