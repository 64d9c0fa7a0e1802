/** The contract's third part: what digests keep back. */

import { describe, expect, test } from 'vitest'
import type { Delivery } from '../../src/model/delivery.js'
import type { OpenPlace } from './contract.js'
import { deliveryOf, digestMessageOf } from './samples.js'

const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id)

export function heldContract(at: OpenPlace): void {
	describe('held deliveries', () => {
		const heldOf = (id: string, untilMs: number) =>
			deliveryOf(id, { status: 'held', heldBy: 'digest', nextAttemptAtMs: untilMs })
		const defer = (...ids: string[]) =>
			at.store.resolve(
				ids.map((id) => ({ id, result: 'held' as const, by: 'digest' as const, untilMs: at.nowMs + 500 })),
			)
		const digestOf = (id: string, ...members: string[]) =>
			deliveryOf(id, {
				message: digestMessageOf(
					id,
					members.map((member) => deliveryOf(member).message),
				),
			})

		test('default: block nothing, are not taken, and count as neither pending nor tried', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
			await at.store.claim({ nowMs: at.nowMs, perQueue: 2 })
			await defer('a', 'b')
			expect((await at.store.claim({ nowMs: at.nowMs + 9999, perQueue: 9 })).map(ids)).toEqual([['c']])
			expect(await (await at.reopened()).deliveries('held')).toEqual([
				heldOf('a', at.nowMs + 500),
				heldOf('b', at.nowMs + 500),
			])
			expect(ids(await at.store.deliveries('pending'))).toEqual(['c'])
			expect((await at.store.summary()).receivers.get('hook')).toMatchObject({ pending: 1, held: 2 })
		})

		test('behavior: those of one queue are read alone', async () => {
			const mails = ['x', 'y'].map((recipient) => deliveryOf(`to-${recipient}`, { receiver: 'mail', recipient }))
			await at.store.post([deliveryOf('a'), ...mails, deliveryOf('b')])
			await defer('a', 'to-x', 'to-y')
			const held = async (receiver: string, recipient: string | null) =>
				ids(await at.store.deliveries('held', { receiver, recipient }))
			expect(await held('hook', null)).toEqual(['a'])
			expect(await held('mail', 'y')).toEqual(['to-y'])
			expect(await held('mail', null)).toEqual([])
			expect(ids(await at.store.deliveries(undefined, { receiver: 'hook', recipient: null }))).toEqual(['a', 'b'])
		})

		test('default: merged, one delivery stands at the place of the first', async () => {
			await at.store.post(['a', 'b', 'c', 'd'].map((id) => deliveryOf(id)))
			await defer('b', 'd')
			expect(await at.store.merge(['b', 'd'], digestOf('x', 'b', 'd'))).toBe(true)
			expect(await (await at.reopened()).deliveries()).toEqual([
				deliveryOf('a'),
				digestOf('x', 'b', 'd'),
				deliveryOf('c'),
			])
			expect((await at.store.claim({ nowMs: at.nowMs, perQueue: 9 })).map(ids)).toEqual([['a', 'x', 'c']])
		})

		test('behavior: delivered, a digest counts as the alerts in it', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b'), deliveryOf('c')])
			await defer('a', 'b')
			await at.store.merge(['a', 'b'], digestOf('x', 'a', 'b'))
			await at.store.resolve([
				{ id: 'x', result: 'delivered' },
				{ id: 'c', result: 'delivered' },
			])
			expect((await at.store.summary()).receivers.get('hook')?.delivered).toBe(3)
		})

		test('behavior: merging is reported to listeners', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b')])
			await defer('a', 'b')
			let calls = 0
			const stop = at.store.onPosted(() => calls++)
			await at.store.merge(['a', 'b'], digestOf('x', 'a', 'b'))
			await expect.poll(() => calls).toBe(1)
			stop()
		})

		test('behavior: nothing is merged when one of them is held no more', async () => {
			await at.store.post(['a', 'b', 'c'].map((id) => deliveryOf(id)))
			await defer('a', 'b', 'c')
			await at.store.retry(['b'], at.nowMs)
			await at.store.drop(['c'])
			const before = await at.store.deliveries()
			for (const members of [['a', 'b'], ['a', 'c'], ['unknown'], []]) {
				expect(await at.store.merge(members, digestOf('x', 'a', 'b'))).toBe(false)
			}
			expect(await at.store.deliveries()).toEqual(before)
		})

		test('behavior: a second chance sends one alone, in its old place', async () => {
			await at.store.post([deliveryOf('a'), deliveryOf('b')])
			await defer('a')
			expect(await at.store.retry(['a'], at.nowMs)).toBe(1)
			expect(await (await at.reopened()).deliveries()).toEqual([
				deliveryOf('a', { alone: true, nextAttemptAtMs: at.nowMs }),
				deliveryOf('b'),
			])
			await at.store.retry(['b'], at.nowMs)
			expect((await at.store.deliveries())[1]).toEqual(deliveryOf('b', { nextAttemptAtMs: at.nowMs }))
		})

		test('default: taken apart, its parts stand in its place, in order', async () => {
			await at.store.post([deliveryOf('a'), digestOf('x', 'b', 'c', 'd'), deliveryOf('e')])
			await at.store.claim({ nowMs: at.nowMs, perQueue: 2 })
			const into = ['b', 'c', 'a', 'd'].map((id) => deliveryOf(id, { alone: true }))
			await at.store.resolve([{ id: 'x', result: 'split', into }])
			const parts = ['b', 'c', 'd'].map((id) => deliveryOf(id, { alone: true }))
			expect(await (await at.reopened()).deliveries()).toEqual([deliveryOf('a'), ...parts, deliveryOf('e')])
			expect((await at.store.claim({ nowMs: at.nowMs, perQueue: 9 })).map(ids)).toEqual([['a', 'b', 'c', 'd', 'e']])
		})

		test('behavior: one that was dropped meanwhile is not taken apart', async () => {
			await at.store.post([digestOf('x', 'a', 'b')])
			await at.store.drop(['x'])
			await at.store.resolve([{ id: 'x', result: 'split', into: [deliveryOf('a')] }])
			expect(await at.store.deliveries()).toEqual([])
		})
	})
}
