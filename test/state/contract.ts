/** What every store must do, whatever it keeps its memory in. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StateError } from '../../src/errors.js'
import type { Backfill, Delivery, Store } from '../../src/model.js'
import { addressOf, blockOf, commitOf, coverOf, deliveryOf, toldOf } from './samples.js'

/** A place where a store can be opened, closed and opened again. */
export interface StorePlace {
	open(clock: () => number): Promise<Store>
	/** Removes all of it. */
	remove(): Promise<void>
}

const NOW_MS = 1_790_000_000_000

export function storeContract(name: string, makePlace: () => Promise<StorePlace>): void {
	describe(name, () => {
		let place: StorePlace
		let store: Store
		let nowMs = NOW_MS

		beforeEach(async () => {
			nowMs = NOW_MS
			place = await makePlace()
			store = await place.open(() => nowMs)
		})

		afterEach(async () => {
			await store.close()
			await place.remove()
		})

		async function reopened(): Promise<Store> {
			await store.close()
			store = await place.open(() => nowMs)
			return store
		}

		const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id)

		describe('network', () => {
			test('default: null before the first commit', async () => {
				expect(await store.network('ethereum')).toBeNull()
				expect((await store.summary()).networks.size).toBe(0)
			})

			test('default: what the first commit brought, settled where it stands, and the same after a restart', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(100) }))
				const expected = {
					chainId: 1,
					checkpoint: blockOf(100),
					settled: blockOf(100),
					told: new Map(),
					covers: new Map(),
					backfills: [],
				}
				expect(await store.network('ethereum')).toEqual(expected)
				expect(await (await reopened()).network('ethereum')).toEqual(expected)
			})

			test('behavior: networks do not touch each other', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(100) }))
				await store.commit(commitOf({ network: 'base', chainId: 8453, checkpoint: blockOf(7) }))
				await store.commit(commitOf({ checkpoint: blockOf(101) }))
				expect((await store.network('base'))?.checkpoint).toEqual(blockOf(7))
				expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(101))
			})
		})

		describe('commit', () => {
			test('default: absent fields stay as they are', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(100), settled: blockOf(90), told: [toldOf('a', 95)] }))
				await store.commit(commitOf({ deliveries: [deliveryOf('d1')] }))
				const state = await (await reopened()).network('ethereum')
				expect(state?.checkpoint).toEqual(blockOf(100))
				expect(state?.settled).toEqual(blockOf(90))
				expect(state?.told).toEqual(new Map([['a', toldOf('a', 95)]]))
				expect(await store.deliveries()).toEqual([deliveryOf('d1')])
			})

			test('behavior: a told entry of the same id takes the place of the one before', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(100), settled: blockOf(90), told: [toldOf('a', 95)] }))
				await store.commit(commitOf({ told: [toldOf('a', 97, 1)] }))
				expect((await store.network('ethereum'))?.told).toEqual(new Map([['a', toldOf('a', 97, 1)]]))
			})

			test('behavior: told entries at or below the settled block are forgotten', async () => {
				const told = [toldOf('below', 94), toldOf('at', 95), toldOf('above', 96)]
				await store.commit(commitOf({ checkpoint: blockOf(100), settled: blockOf(90), told }))
				await store.commit(commitOf({ settled: blockOf(95) }))
				expect([...((await (await reopened()).network('ethereum'))?.told.keys() ?? [])]).toEqual(['above'])
			})

			test('behavior: a checkpoint that is taken back below the settled block takes that along', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(100), settled: blockOf(90) }))
				await store.commit(commitOf({ checkpoint: blockOf(80) }))
				expect((await store.network('ethereum'))?.settled).toEqual(blockOf(80))
			})

			test('behavior: numbers and amounts of any size come back exactly', async () => {
				const huge = { number: 2n ** 63n + 1n, hash: blockOf(1).hash }
				await store.commit(commitOf({ checkpoint: huge }))
				expect((await (await reopened()).network('ethereum'))?.checkpoint).toEqual(huge)
			})

			test('behavior: deliveries are appended in order, and an id that is there is not added again', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a'), deliveryOf('b')] }))
				const changed = deliveryOf('a', { createdAtMs: 5 })
				await store.commit(
					commitOf({ checkpoint: blockOf(2), deliveries: [changed, deliveryOf('c'), deliveryOf('c')] }),
				)
				expect(await store.deliveries()).toEqual([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
				expect(ids(await (await reopened()).deliveries())).toEqual(['a', 'b', 'c'])
			})

			test('error: another chain id is refused, and nothing of the step is kept', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(100) }))
				const step = commitOf({ chainId: 5, checkpoint: blockOf(101), deliveries: [deliveryOf('a')] })
				await expect(store.commit(step)).rejects.toMatchObject({
					reason: 'mismatch',
					message: expect.stringMatching(/'ethereum' is of chain 1, but it now says chain 5/),
				})
				expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(100))
				expect(await store.deliveries()).toEqual([])
			})

			test('error: a first step without a checkpoint is refused', async () => {
				await expect(store.commit(commitOf({ deliveries: [deliveryOf('a')] }))).rejects.toThrow(StateError)
				expect(await store.deliveries()).toEqual([])
			})
		})

		describe('enrol', () => {
			const backfill: Backfill = { id: 'b1', span: { from: 10n, to: 50n }, addresses: [addressOf(1)] }
			const other: Backfill = { id: 'b2', span: { from: 1n, to: 5n }, addresses: [addressOf(2)] }

			beforeEach(async () => {
				await store.commit(commitOf({ checkpoint: blockOf(100) }))
			})

			test('default: covers and backfills are there, also after a restart', async () => {
				const left = coverOf(5, { leftAt: 90n, owed: [{ from: 1n, to: 4n }] })
				const covers = new Map([
					[addressOf(1), coverOf(101)],
					[addressOf(2), left],
				])
				await store.enrol('ethereum', { covers, backfills: [backfill, other] })
				const state = await (await reopened()).network('ethereum')
				expect(state?.covers).toEqual(covers)
				expect(state?.backfills).toEqual([backfill, other])
				expect((await store.summary()).networks.get('ethereum')?.backfills).toEqual([backfill, other])
			})

			test('behavior: changed covers take the place of the ones before, others stay', async () => {
				await store.enrol('ethereum', { covers: new Map([[addressOf(1), coverOf(1)]]), backfills: null })
				const change = new Map([[addressOf(1), coverOf(1, { leftAt: 99n })]]).set(addressOf(2), coverOf(7))
				await store.enrol('ethereum', { covers: change, backfills: null })
				expect((await store.network('ethereum'))?.covers).toEqual(change)
			})

			test('behavior: null leaves the backfills, a list replaces them', async () => {
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill, other] })
				await store.enrol('ethereum', { covers: new Map([[addressOf(3), coverOf(1)]]), backfills: null })
				expect((await store.network('ethereum'))?.backfills).toEqual([backfill, other])
				await store.enrol('ethereum', { covers: new Map(), backfills: [other] })
				expect((await store.network('ethereum'))?.backfills).toEqual([other])
			})

			test('behavior: a backfill shrinks as it comes on, and is gone at its end', async () => {
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
				const rest = { ...backfill, span: { from: 30n, to: 50n } }
				expect((await (await reopened()).network('ethereum'))?.backfills).toEqual([rest])
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 49n } }))
				const lastBlock = { ...backfill, span: { from: 50n, to: 50n } }
				expect((await store.network('ethereum'))?.backfills).toEqual([lastBlock])
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 50n } }))
				expect((await store.network('ethereum'))?.backfills).toEqual([])
				expect((await (await reopened()).network('ethereum'))?.backfills).toEqual([])
			})

			test('behavior: a backfill enrolled again goes on where it was', async () => {
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
				// As somebody saw it who looked before that commit.
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill, other] })
				const rest = { ...backfill, span: { from: 30n, to: 50n } }
				expect((await store.network('ethereum'))?.backfills).toEqual([rest, other])
			})

			test('behavior: a new backfill under the id of a finished one is scanned from its beginning', async () => {
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 50n } }))
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
				expect((await (await reopened()).network('ethereum'))?.backfills).toEqual([backfill])
			})

			test('behavior: a backfill that gets another address is scanned from its beginning', async () => {
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
				const wider = { ...backfill, addresses: [addressOf(1), addressOf(9)] }
				await store.enrol('ethereum', { covers: new Map(), backfills: [wider] })
				expect((await store.network('ethereum'))?.backfills).toEqual([wider])
			})

			test('behavior: a backfill that begins earlier than before is scanned from its new beginning', async () => {
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
				const longer = { ...backfill, span: { from: 9n, to: 50n } }
				await store.enrol('ethereum', { covers: new Map(), backfills: [longer] })
				expect((await store.network('ethereum'))?.backfills).toEqual([longer])
			})

			test('behavior: a backfill that begins later than it had come begins there', async () => {
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
				const shorter = { ...backfill, span: { from: 40n, to: 50n } }
				await store.enrol('ethereum', { covers: new Map(), backfills: [shorter] })
				expect((await store.network('ethereum'))?.backfills).toEqual([shorter])
			})

			test('behavior: progress never goes back', async () => {
				await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 29n } }))
				await store.commit(commitOf({ backfill: { id: 'b1', scannedTo: 19n } }))
				expect((await store.network('ethereum'))?.backfills).toEqual([{ ...backfill, span: { from: 30n, to: 50n } }])
			})

			test('behavior: progress of a backfill that is gone is passed over', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(101), backfill: { id: 'gone', scannedTo: 29n } }))
				expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(101))
				expect((await store.network('ethereum'))?.backfills).toEqual([])
			})

			test('error: a network without a checkpoint is refused', async () => {
				await expect(store.enrol('base', { covers: new Map(), backfills: [] })).rejects.toThrow(StateError)
			})
		})

		describe('claim', () => {
			const claim = (perLane = 10) => store.claim({ nowMs, perLane })

			test('default: nothing to take, nothing due', async () => {
				expect(await claim()).toEqual([])
				expect(await store.nextDueMs()).toBeNull()
			})

			test('default: one list a lane, in order of posting, no more than asked for', async () => {
				await store.post([
					deliveryOf('a1', { receiver: 'hook' }),
					deliveryOf('m1', { receiver: 'mail', recipient: 'one@example.org' }),
					deliveryOf('a2', { receiver: 'hook' }),
					deliveryOf('n1', { receiver: 'mail', recipient: 'two@example.org' }),
					deliveryOf('a3', { receiver: 'hook' }),
				])
				const lanes = (await claim(2)).map(ids)
				expect(new Set(lanes.map(String))).toEqual(new Set(['a1,a2', 'm1', 'n1']))
			})

			test('behavior: a lane of which something is taken is left alone until all of it is settled', async () => {
				await store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
				expect((await claim(2)).map(ids)).toEqual([['a', 'b']])
				expect(await claim()).toEqual([])
				expect(await store.nextDueMs()).toBeNull()
				await store.resolve([{ id: 'a', result: 'delivered' }])
				expect(await claim()).toEqual([])
				await store.release(['b'])
				expect((await claim()).map(ids)).toEqual([['b', 'c']])
			})

			test('behavior: a lane whose first delivery is not due waits, and others do not', async () => {
				await store.post([
					deliveryOf('a', { nextAttemptAtMs: nowMs + 50 }),
					deliveryOf('b'),
					deliveryOf('x', { receiver: 'other', nextAttemptAtMs: nowMs + 90 }),
				])
				expect(await claim()).toEqual([])
				expect(await store.nextDueMs()).toBe(nowMs + 50)
				nowMs += 50
				expect((await claim()).map(ids)).toEqual([['a', 'b']])
				expect(await store.nextDueMs()).toBe(nowMs + 40)
			})

			test('behavior: parked and dead deliveries block nothing', async () => {
				await store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
				await claim()
				await store.resolve([
					{ id: 'a', result: 'dead', error: 'refused', nextAttemptAtMs: 0 },
					{ id: 'b', result: 'parked', error: 'gone', nextAttemptAtMs: 0 },
				])
				await store.release(['c'])
				expect((await claim()).map(ids)).toEqual([['c']])
			})

			test('behavior: what was taken when the program died can be taken again', async () => {
				await store.post([deliveryOf('a')])
				await claim()
				store = await reopened()
				expect((await claim()).map(ids)).toEqual([['a']])
			})
		})

		describe('resolve', () => {
			test('default: a delivered one is counted and forgotten', async () => {
				await store.post([deliveryOf('a'), deliveryOf('b')])
				await store.claim({ nowMs, perLane: 1 })
				nowMs += 7
				await store.resolve([{ id: 'a', result: 'delivered' }])
				expect(ids(await (await reopened()).deliveries())).toEqual(['b'])
				expect((await store.summary()).receivers.get('hook')).toEqual({
					pending: 1,
					parked: 0,
					dead: 0,
					delivered: 1,
					lastDeliveredAtMs: NOW_MS + 7,
				})
			})

			test('behavior: a retry counts the attempt, keeps the words and the place in line', async () => {
				await store.post([deliveryOf('a'), deliveryOf('b')])
				await store.claim({ nowMs, perLane: 1 })
				await store.resolve([{ id: 'a', result: 'retry', error: 'HTTP 503', nextAttemptAtMs: nowMs + 1000 }])
				expect(await (await reopened()).deliveries()).toEqual([
					deliveryOf('a', { attempts: 1, nextAttemptAtMs: nowMs + 1000, lastError: 'HTTP 503' }),
					deliveryOf('b'),
				])
			})

			test('behavior: dead and parked ones stay listed with their reason', async () => {
				await store.post([deliveryOf('a'), deliveryOf('b')])
				await store.resolve([
					{ id: 'a', result: 'dead', error: 'HTTP 413', nextAttemptAtMs: 0 },
					{ id: 'b', result: 'parked', error: 'HTTP 410', nextAttemptAtMs: 0 },
				])
				expect(await (await reopened()).deliveries()).toMatchObject([
					deliveryOf('a', { status: 'dead', attempts: 1, lastError: 'HTTP 413' }),
					deliveryOf('b', { status: 'parked', attempts: 1, lastError: 'HTTP 410' }),
				])
				expect((await store.summary()).receivers.get('hook')).toMatchObject({ pending: 0, parked: 1, dead: 1 })
			})

			test('behavior: one that was dropped meanwhile is passed over', async () => {
				await store.post([deliveryOf('a')])
				await store.claim({ nowMs, perLane: 1 })
				expect(await store.drop(['a'])).toBe(1)
				await store.resolve([{ id: 'a', result: 'delivered' }])
				expect(await store.deliveries()).toEqual([])
			})
		})

		describe('retry and drop', () => {
			test('default: whatever its status, it is due now, in its old place', async () => {
				await store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c'), deliveryOf('d')])
				await store.resolve([
					{ id: 'a', result: 'dead', error: 'x', nextAttemptAtMs: 0 },
					{ id: 'b', result: 'parked', error: 'x', nextAttemptAtMs: 0 },
					{ id: 'c', result: 'retry', error: 'x', nextAttemptAtMs: nowMs + 9999 },
				])
				expect(await store.retry(['a', 'b', 'c', 'unknown'], nowMs)).toBe(3)
				expect((await store.claim({ nowMs, perLane: 9 })).map(ids)).toEqual([['a', 'b', 'c', 'd']])
			})

			test('default: dropped ones are gone, whatever their status', async () => {
				await store.post([deliveryOf('a'), deliveryOf('b')])
				await store.resolve([{ id: 'a', result: 'dead', error: 'x', nextAttemptAtMs: 0 }])
				expect(await store.drop(['a', 'b', 'b', 'unknown'])).toBe(2)
				expect(await (await reopened()).deliveries()).toEqual([])
			})

			test('behavior: dropping what is taken frees its lane', async () => {
				await store.post([deliveryOf('a'), deliveryOf('b')])
				await store.claim({ nowMs, perLane: 1 })
				await store.drop(['a'])
				expect((await store.claim({ nowMs, perLane: 1 })).map(ids)).toEqual([['b']])
			})
		})

		describe('onPosted', () => {
			test('default: called after deliveries were added, by a step, a post or a second chance, and not else', async () => {
				let calls = 0
				let seen: readonly Delivery[] = []
				const called = async (count: number) => expect.poll(() => calls).toBe(count)
				const stop = store.onPosted(() => {
					calls++
					void store.deliveries().then((all) => {
						seen = all
					})
				})
				await store.commit(commitOf({ checkpoint: blockOf(1) }))
				await store.commit(commitOf({ deliveries: [deliveryOf('a')] }))
				await called(1)
				await expect.poll(() => ids(seen)).toEqual(['a'])
				await store.post([deliveryOf('a')])
				await store.post([deliveryOf('b')])
				await called(2)
				await store.retry(['a'], nowMs)
				await called(3)
				stop()
				await store.post([deliveryOf('c')])
				await store.deliveries()
				expect(calls).toBe(3)
			})
		})

		describe('summary', () => {
			test('default: per network where it stands and since when', async () => {
				await store.commit(commitOf({ checkpoint: blockOf(100), settled: blockOf(90) }))
				nowMs += 5
				await store.commit(commitOf({ settled: blockOf(91) }))
				expect((await (await reopened()).summary()).networks).toEqual(
					new Map([
						[
							'ethereum',
							{
								chainId: 1,
								checkpoint: blockOf(100),
								settled: blockOf(91),
								backfills: [],
								updatedAtMs: NOW_MS,
							},
						],
					]),
				)
			})
		})

		describe('close', () => {
			test('default: waits for what was asked before, and takes nothing after', async () => {
				const asked = store.post([deliveryOf('a')])
				await store.close()
				await asked
				await expect(store.post([deliveryOf('b')])).rejects.toThrow('closed')
				store = await place.open(() => nowMs)
				expect(ids(await store.deliveries())).toEqual(['a'])
			})
		})

		test('behavior: a hundred changes at once are all there', async () => {
			await store.commit(commitOf({ checkpoint: blockOf(0) }))
			const posts = Array.from({ length: 100 }, (_, index) => store.post([deliveryOf(`d${index}`)]))
			const steps = Array.from({ length: 100 }, (_, index) =>
				store.commit(commitOf({ checkpoint: blockOf(index + 1) })),
			)
			await Promise.all([...posts, ...steps])
			await reopened()
			expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(100))
			expect(await store.deliveries()).toHaveLength(100)
		})
	})
}
