/** The contract's third part: what waits for a digest. */

import { describe, expect, test } from 'vitest'
import { statusOf } from '../../src/core/outbox/waiting.js'
import type { Delivery } from '../../src/model/delivery.js'
import type { OpenPlace } from './contract.js'
import { deliveryOf } from './samples.js'

const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id)

export function heldContract(at: OpenPlace): void {
	describe('deliveries that wait for a digest', () => {
		const heldOf = (id: string, untilMs: number) => deliveryOf(id, { nextAttemptAtMs: untilMs, digestAtMs: untilMs })
		const defer = async (...ids: string[]) => {
			const untilMs = at.nowMs + 500
			await at.store.resolve(ids.map((id) => ({ id, result: 'wait', as: 'digest', untilMs })))
		}

		test('default: a held delivery is pending with a time, holds nothing back, and is counted as held', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
			await at.store.claim({ nowMs: at.nowMs, perQueue: 2 })
			await defer('a', 'b')
			expect(await at.store.nextDueMs()).toBe(deliveryOf('c').nextAttemptAtMs)
			expect((await at.store.claim({ nowMs: at.nowMs + 499, perQueue: 9 })).map(ids)).toEqual([['c']])
			const store = await at.reopened()
			const held = [heldOf('a', at.nowMs + 500), heldOf('b', at.nowMs + 500)]
			expect(await store.deliveries('pending')).toEqual([...held, deliveryOf('c')])
			expect(ids(await store.aside(deliveryOf('c')))).toEqual(['a', 'b'])
			expect((await store.summary()).receivers.get('hook')).toMatchObject({ pending: 1, held: 2 })
			await store.resolve([{ id: 'c', result: 'delivered' }])
			expect(await store.nextDueMs()).toBe(at.nowMs + 500)
		})

		test('default: at its time it is claimed at its old place, with the others of that time', async () => {
			await at.store.post(['a', 'b', 'c', 'd'].map((id) => deliveryOf(id)))
			await defer('b', 'd')
			expect((await at.store.claim({ nowMs: at.nowMs + 500, perQueue: 9 })).map(ids)).toEqual([['a', 'b', 'c', 'd']])
		})

		test('behavior: a held delivery is held back by an earlier one that waits for another attempt', async () => {
			await at.store.post(['a', 'b'].map((id) => deliveryOf(id)))
			const nextAttemptAtMs = at.nowMs + 900
			await at.store.resolve([{ id: 'a', result: 'retry', code: 'failed', error: 'no', nextAttemptAtMs }])
			await defer('b')
			expect(await at.store.claim({ nowMs: at.nowMs + 500, perQueue: 9 })).toEqual([])
			expect(await at.store.nextDueMs()).toBe(nextAttemptAtMs)
		})

		test('behavior: a failure of the digest keeps its members together', async () => {
			await at.store.post([deliveryOf('a')])
			await defer('a')
			const nextAttemptAtMs = at.nowMs + 900
			await at.store.resolve([{ id: 'a', result: 'retry', code: 'failed', error: 'no', nextAttemptAtMs }])
			const [one] = await (await at.reopened()).deliveries()
			expect(one).toMatchObject({ digestAtMs: at.nowMs + 500, nextAttemptAtMs, attempts: 1 })
			expect(one && statusOf(one)).toBe('pending')
		})

		test.each(['a second chance', 'a digest taken apart'])(
			'behavior: %s sends it alone, in its old place',
			async (what) => {
				await at.store.post([deliveryOf('a'), deliveryOf('b')])
				await defer('a')
				if (what === 'a second chance') expect(await at.store.retry(['a'], at.nowMs)).toBe(1)
				else await at.store.resolve([{ id: 'a', result: 'wait', as: 'alone', untilMs: at.nowMs }])
				expect(await (await at.reopened()).deliveries()).toEqual([
					deliveryOf('a', { alone: true, nextAttemptAtMs: at.nowMs }),
					deliveryOf('b'),
				])
				await at.store.retry(['b'], at.nowMs)
				expect((await at.store.deliveries())[1]).toEqual(deliveryOf('b', { nextAttemptAtMs: at.nowMs }))
			},
		)
	})
}
