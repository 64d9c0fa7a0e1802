/** The contract's second half: what is sent, and when it is tried. */

import { describe, expect, test } from 'vitest'
import type { Delivery, ReasonCode } from '../../src/model/delivery.js'
import type { OpenPlace } from './contract.js'
import { alertOf, blockOf, commitOf, deliveryOf, START_MS } from './samples.js'

const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id)

export function deliveryContract(at: OpenPlace): void {
	describe('claim', () => {
		const claim = (perQueue = 10) => at.store.claim({ nowMs: at.nowMs, perQueue })

		test('default: nothing to take, nothing due', async () => {
			expect(await claim()).toEqual([])
			expect(await at.store.nextDueMs()).toBeNull()
		})

		test('default: a claim gives one list a queue, in order of posting, no longer than requested', async () => {
			await at.store.post([
				deliveryOf('a1', { receiver: 'hook' }),
				deliveryOf('m1', { receiver: 'mail', recipient: 'one@example.org' }),
				deliveryOf('a2', { receiver: 'hook' }),
				deliveryOf('n1', { receiver: 'mail', recipient: 'two@example.org' }),
				deliveryOf('a3', { receiver: 'hook' }),
			])
			const queues = (await claim(2)).map(ids)
			expect(new Set(queues.map(String))).toEqual(new Set(['a1,a2', 'm1', 'n1']))
		})

		test('behavior: urgent deliveries come first, in order of posting within each rank', async () => {
			const of = (id: string, data: object, rest: Partial<Delivery> = {}) => {
				const delivery = deliveryOf(id, rest)
				const { message } = delivery
				return { ...delivery, message: { ...message, data: { ...message.data, ...data } } } as Delivery
			}
			await at.store.post([
				of('in 1', { direction: 'in' }),
				of('out 1', { direction: 'out' }),
				of('unexplained 1', { kind: 'unexplained' }),
				of('in 2', { direction: 'in' }),
				of('out 2', { direction: 'out' }, { nextAttemptAtMs: at.nowMs + 50 }),
				of('out again', { direction: 'out' }, { rank: 3 }),
				of('out 3', { direction: 'out' }),
			])
			expect((await claim()).map(ids)).toEqual([['unexplained 1', 'out 1']])
			await at.store.release(['unexplained 1', 'out 1'])
			await at.store.drop(['unexplained 1', 'out 1'])
			// Nothing is taken past the first that is not due.
			expect(await claim()).toEqual([])
			expect(await at.store.nextDueMs()).toBe(at.nowMs + 50)
			at.nowMs += 50
			expect((await claim(4)).map(ids)).toEqual([['out 2', 'out 3', 'in 1', 'in 2']])
			await at.store.release(['out 2', 'out 3', 'in 1', 'in 2'])
			expect((await at.store.deliveries('pending')).map(({ rank }) => rank ?? null)).toEqual([
				null,
				null,
				null,
				3,
				null,
			])
		})

		test('behavior: a queue of which something is taken is left alone until all of it is settled', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
			expect((await claim(2)).map(ids)).toEqual([['a', 'b']])
			expect(await claim()).toEqual([])
			expect(await at.store.nextDueMs()).toBeNull()
			await at.store.resolve([{ id: 'a', result: 'delivered' }])
			expect(await claim()).toEqual([])
			await at.store.release(['b'])
			expect((await claim()).map(ids)).toEqual([['b', 'c']])
		})

		test('behavior: a queue whose first delivery is not due waits, and others do not', async () => {
			await at.store.post([
				deliveryOf('a', { nextAttemptAtMs: at.nowMs + 50 }),
				deliveryOf('b'),
				deliveryOf('x', { receiver: 'other', nextAttemptAtMs: at.nowMs + 90 }),
			])
			expect(await claim()).toEqual([])
			expect(await at.store.nextDueMs()).toBe(at.nowMs + 50)
			at.nowMs += 50
			expect((await claim()).map(ids)).toEqual([['a', 'b']])
			expect(await at.store.nextDueMs()).toBe(at.nowMs + 40)
		})

		test('behavior: dead deliveries and those that wait for their receiver block nothing', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
			await claim()
			await at.store.resolve([
				{ id: 'a', result: 'dead', code: 'refused', error: 'refused', nextAttemptAtMs: 0 },
				{
					...{ id: 'b', result: 'retry', code: 'refused', error: 'gone', nextAttemptAtMs: at.nowMs + 9999 },
					refused: { sinceMs: at.nowMs, times: 0 },
				},
			])
			await at.store.release(['c'])
			expect((await claim()).map(ids)).toEqual([['c']])
		})

		test('behavior: a dead delivery that is tried once more counts as pending', async () => {
			const failed = (lastErrorCode: ReasonCode) => ({ attempts: 1, lastErrorCode, lastError: 'no' })
			await at.store.post([
				deliveryOf('a', { ...failed('refused'), refused: { sinceMs: 1, times: 0 } }),
				deliveryOf('b', { ...failed('refused'), status: 'dead' }),
				deliveryOf('c', failed('failed')),
				deliveryOf('d'),
				deliveryOf('e', { ...failed('login-refused'), nextAttemptAtMs: 9, digestAtMs: 9 }),
			])
			const counts = async () => (await at.store.summary()).receivers.get('hook')
			expect(await counts()).toMatchObject({ pending: 2, held: 1, parked: 1, dead: 1 })
			await at.store.retry(['a', 'b'], at.nowMs)
			await at.reopened()
			expect(await counts()).toMatchObject({ pending: 3, parked: 1, dead: 0 })
		})

		test('behavior: a delivery that is set aside is due in its own time, and holds up no other', async () => {
			const asideUntil = (nextAttemptAtMs: number) => ({
				attempts: 6,
				lastErrorCode: 'message-failed',
				nextAttemptAtMs,
			})
			await at.store.post([
				deliveryOf('a', asideUntil(at.nowMs + 50) as Partial<Delivery>),
				deliveryOf('b'),
				deliveryOf('c', asideUntil(at.nowMs + 40) as Partial<Delivery>),
				deliveryOf('d', { nextAttemptAtMs: at.nowMs + 90 }),
				deliveryOf('x', { receiver: 'other' }),
			])
			expect(await at.store.nextDueMs()).toBe(START_MS - 1_000_000)
			expect(new Set((await claim()).map((queue) => String(ids(queue))))).toEqual(new Set(['b', 'x']))
			await at.store.resolve([
				{ id: 'b', result: 'delivered' },
				{ id: 'x', result: 'delivered' },
			])
			await at.reopened()
			expect(ids(await at.store.aside({ receiver: 'hook', recipient: null }))).toEqual(['a', 'c'])
			expect(await at.store.aside({ receiver: 'other', recipient: null })).toEqual([])
			expect((await at.store.summary()).receivers.get('hook')).toMatchObject({ pending: 3, aside: 2 })
			expect(await at.store.nextDueMs()).toBe(at.nowMs + 40)
			expect(await claim()).toEqual([])
			at.nowMs += 40
			expect((await claim()).map(ids)).toEqual([['c']])
			expect(await at.store.nextDueMs()).toBeNull()
			await at.store.resolve([
				{ id: 'c', result: 'retry', code: 'message-failed', error: 'HTTP 500', nextAttemptAtMs: at.nowMs + 500 },
			])
			expect(await at.store.nextDueMs()).toBe(at.nowMs + 10)
			at.nowMs += 50
			expect((await claim()).map(ids)).toEqual([['d', 'a']])
		})

		test('behavior: a delivery that was claimed when the program died can be claimed again', async () => {
			await at.store.post([deliveryOf('a')])
			await claim()
			await at.reopened()
			expect((await claim()).map(ids)).toEqual([['a']])
		})
	})

	test('default: waiting deliveries of a network are counted by receiver, and dead ones are not', async () => {
		const { message } = deliveryOf('a')
		// Words of others that look like a key.
		const label = '"network":"base"'
		const data = { ...message.data, network: 'base', watch: { ...alertOf('a').data.watch, label } }
		const onBase = { ...message, data } as Delivery['message']
		const labelled = { ...message, data: { ...data, network: 'ethereum' } } as Delivery['message']
		await at.store.post([
			deliveryOf('a', { message: labelled }),
			deliveryOf('b'),
			deliveryOf('c', { receiver: 'mail', recipient: 'one@example.org' }),
			deliveryOf('d', { message: onBase }),
			deliveryOf('f'),
		])
		await at.store.resolve([
			{
				...{ id: 'b', result: 'retry', code: 'refused', error: 'gone', nextAttemptAtMs: 0 },
				refused: { sinceMs: 7, times: 0 },
			},
			{ id: 'f', result: 'dead', code: 'refused', error: 'gone', nextAttemptAtMs: 0 },
		])
		const store = await at.reopened()
		expect(Object.fromEntries(await store.waiting('ethereum'))).toEqual({ hook: 2, mail: 1 })
		expect(Object.fromEntries(await store.waiting('base'))).toEqual({ hook: 1 })
		expect((await store.waiting('other')).size).toBe(0)
	})

	describe('resolve', () => {
		test('default: a delivered one is counted and forgotten', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b')])
			await at.store.claim({ nowMs: at.nowMs, perQueue: 1 })
			at.nowMs += 7
			await at.store.resolve([{ id: 'a', result: 'delivered' }])
			expect(ids(await (await at.reopened()).deliveries())).toEqual(['b'])
			expect((await at.store.summary()).receivers.get('hook')).toEqual({
				pending: 1,
				held: 0,
				parked: 0,
				dead: 0,
				delivered: 1,
				lastDeliveredAtMs: START_MS + 7,
			})
		})

		test('behavior: a retry counts the attempt, keeps the words, their code and the place in line', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b')])
			await at.store.claim({ nowMs: at.nowMs, perQueue: 1 })
			await at.store.resolve([
				{ id: 'a', result: 'retry', code: 'failed', error: 'HTTP 503', nextAttemptAtMs: at.nowMs + 1000 },
			])
			expect(await (await at.reopened()).deliveries()).toEqual([
				deliveryOf('a', {
					attempts: 1,
					nextAttemptAtMs: at.nowMs + 1000,
					lastError: 'HTTP 503',
					lastErrorCode: 'failed',
				}),
				deliveryOf('b'),
			])
		})

		test('behavior: dead ones, and those that wait for their receiver, stay listed with their reason', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b')])
			await at.store.resolve([
				{ id: 'a', result: 'dead', code: 'refused', error: 'HTTP 413', nextAttemptAtMs: 0 },
				{
					...{ id: 'b', result: 'retry', code: 'refused', error: 'HTTP 410', nextAttemptAtMs: 9 },
					...{ untried: true, refused: { sinceMs: 7, times: 0 } },
				},
			])
			expect(await (await at.reopened()).deliveries()).toMatchObject([
				deliveryOf('a', { status: 'dead', attempts: 1, lastError: 'HTTP 413', lastErrorCode: 'refused' }),
				deliveryOf('b', {
					...{ status: 'pending', attempts: 0, lastError: 'HTTP 410', lastErrorCode: 'refused' },
					...{ nextAttemptAtMs: 9, refused: { sinceMs: 7, times: 0 } },
				}),
			])
			const hook = async () => (await at.store.summary()).receivers.get('hook')
			expect(await hook()).toMatchObject({ pending: 0, parked: 1, dead: 1, refusal: 'HTTP 410' })
			const counted = { code: 'message-failed' as const, error: 'HTTP 410', refused: { sinceMs: 7, times: 1 } }
			await at.store.resolve([{ id: 'b', result: 'retry', nextAttemptAtMs: 9, ...counted }])
			expect(await hook()).toMatchObject({ pending: 1, refused: 1, parked: 0, dead: 1 })
		})

		test('default: a delivery posted with a result is there with it, after all others, and never twice', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b')])
			const results = [
				{ id: 'a', result: 'dead' as const, code: 'refused' as const, error: 'HTTP 413', nextAttemptAtMs: 0 },
			]
			await at.store.resolve(results, [deliveryOf('x', { receiver: 'mail' }), deliveryOf('b', { attempts: 7 })])
			expect(await (await at.reopened()).deliveries()).toEqual([
				deliveryOf('a', { status: 'dead', attempts: 1, lastError: 'HTTP 413', lastErrorCode: 'refused' }),
				deliveryOf('b'),
				deliveryOf('x', { receiver: 'mail' }),
			])
		})

		test('behavior: a delivery posted with a result is reported to listeners', async () => {
			await at.store.post([deliveryOf('a')])
			let calls = 0
			const stop = at.store.onPosted(() => calls++)
			await at.store.resolve([{ id: 'a', result: 'delivered' }])
			expect(calls).toBe(0)
			await at.store.resolve([], [deliveryOf('x')])
			await expect.poll(() => calls).toBe(1)
			stop()
		})

		test('behavior: a result of a delivery that was dropped meanwhile is passed over', async () => {
			await at.store.post([deliveryOf('a')])
			await at.store.claim({ nowMs: at.nowMs, perQueue: 1 })
			expect(await at.store.drop(['a'])).toBe(1)
			await at.store.resolve([{ id: 'a', result: 'delivered' }])
			expect(await at.store.deliveries()).toEqual([])
		})
	})

	describe('retry and drop', () => {
		test('default: a delivery of any status that is retried is due now, in its old place', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c'), deliveryOf('d')])
			await at.store.resolve([
				{ id: 'a', result: 'dead', code: 'refused', error: 'x', nextAttemptAtMs: 0 },
				{
					...{ id: 'b', result: 'retry', code: 'message-failed', error: 'x', nextAttemptAtMs: at.nowMs + 9999 },
					refused: { sinceMs: 7, times: 1 },
				},
				{ id: 'c', result: 'retry', code: 'refused', error: 'x', nextAttemptAtMs: at.nowMs + 9999 },
			])
			expect(await at.store.retry(['a', 'b', 'c', 'unknown'], at.nowMs)).toBe(3)
			expect((await at.store.claim({ nowMs: at.nowMs, perQueue: 9 })).map(ids)).toEqual([['a', 'c', 'd', 'b']])
		})

		test('default: dropped ones are gone, whatever their status', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b')])
			await at.store.resolve([{ id: 'a', result: 'dead', code: 'refused', error: 'x', nextAttemptAtMs: 0 }])
			expect(await at.store.drop(['a', 'b', 'b', 'unknown'])).toBe(2)
			expect(await (await at.reopened()).deliveries()).toEqual([])
		})

		test('behavior: dropping what is taken frees its queue', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b')])
			await at.store.claim({ nowMs: at.nowMs, perQueue: 1 })
			await at.store.drop(['a'])
			expect((await at.store.claim({ nowMs: at.nowMs, perQueue: 1 })).map(ids)).toEqual([['b']])
		})
	})

	describe('onPosted', () => {
		test('default: called after deliveries were added by a step, a post or a second chance, not else', async () => {
			let calls = 0
			let seen: readonly Delivery[] = []
			const called = async (count: number) => expect.poll(() => calls).toBe(count)
			const stop = at.store.onPosted(() => {
				calls++
				void at.store.deliveries().then((all) => {
					seen = all
				})
			})
			await at.store.commit(commitOf({ checkpoint: blockOf(1) }))
			await at.store.commit(commitOf({ deliveries: [deliveryOf('a')] }))
			await called(1)
			await expect.poll(() => ids(seen)).toEqual(['a'])
			await at.store.post([deliveryOf('a')])
			await at.store.post([deliveryOf('b')])
			await called(2)
			await at.store.retry(['a'], at.nowMs)
			await called(3)
			stop()
			await at.store.post([deliveryOf('c')])
			await at.store.deliveries()
			expect(calls).toBe(3)
		})
	})
}
