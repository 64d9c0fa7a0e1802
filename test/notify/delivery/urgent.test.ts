// What must not be overlooked waits behind nothing that a stranger can make.
import { describe, expect, test } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Outcome } from '../../../src/model/delivery.js'
import { alertDeliveryOf, deliveryOf, idOf, messageOf, never, payer, removalOf, systemData } from '../samples.js'
import { delivererOf, fine, keeping, minuteMs, numbers } from './keeping.js'
import { retry, useLab } from './lab.js'

const lab = useLab()

const lookalike = { of: payer, prefix: 4, suffix: 4 } as NonNullable<AlertData['lookalike']>
const alarms: readonly Partial<AlertData>[] = [
	{ kind: 'unexplained', direction: 'out' },
	{ kind: 'balance', crossed: 'below' },
	{ kind: 'delegation', confirmed: true },
	{ lookalike },
]
const theft = { direction: 'out' } as const
const withDigest = { optionsOf: () => ({ fallback: null, digest: { everyMs: minuteMs, max: 5 } }) }

describe('a digest', () => {
	test('default: a digest never holds alarms, look-alikes, messages of tracewatch and outgoing transfers', async () => {
		const hook = keeping(lab)
		const carrying = delivererOf(lab, [hook], withDigest)
		await lab.store.post(numbers(1, 30).map((number) => alertDeliveryOf(number)))
		await carrying.drainOnce(never)
		expect(hook.got).toHaveLength(5)
		const urgent = [
			...alarms.map((data, at) => alertDeliveryOf(100 + at, {}, data)),
			alertDeliveryOf(110, {}, theft),
			deliveryOf(111, { message: messageOf(systemData(), 'system.stalled', idOf(111)) }),
		]
		await lab.store.post(urgent)
		await lab.store.post([alertDeliveryOf(31)])
		await carrying.drainOnce(never)
		expect(
			hook.got
				.slice(5)
				.map(({ id }) => id)
				.toSorted(),
		).toEqual(urgent.map(({ id }) => id).toSorted())
		expect((await lab.store.summary()).receivers.get('hook')).toMatchObject({ held: 26, pending: 0 })
	})

	test('behavior: alerts that a digest never holds use up nothing of `max`', async () => {
		const hook = keeping(lab)
		const carrying = delivererOf(lab, [hook], withDigest)
		await lab.store.post(numbers(1, 40).map((number) => alertDeliveryOf(number, {}, theft)))
		await carrying.drainOnce(never)
		await lab.store.post(numbers(41, 46).map((number) => alertDeliveryOf(number)))
		await carrying.drainOnce(never)
		expect(hook.got).toHaveLength(45)
	})

	test('behavior: a message about an alert that a digest holds waits for that alert', async () => {
		const hook = keeping(lab)
		const carrying = delivererOf(lab, [hook], withDigest)
		const held = alertDeliveryOf(6)
		await lab.store.post([...numbers(1, 5).map((number) => alertDeliveryOf(number)), held])
		await carrying.drainOnce(never)
		// Announced again, and now a look-alike.
		const again = alertDeliveryOf(8, { rank: 3 }, { id: (held.message.data as AlertData).id, lookalike })
		await lab.store.post([removalOf(7, held), again])
		await carrying.drainOnce(never)
		expect(hook.got).toHaveLength(5)
		lab.nowMs += minuteMs
		await carrying.drainOnce(never)
		expect(hook.got.slice(5).flatMap((one) => one.inside)).toEqual([6, 7, 8].map(idOf))
	})
})

describe('a queue', () => {
	test('default: a theft does not wait behind many payments, whenever it is posted', async () => {
		const order: string[] = []
		const hook = keeping(lab, (delivery) => {
			order.push(delivery.id)
			return fine
		})
		// While the twentieth is under way.
		const deliver = hook.deliver.bind(hook)
		const posting = {
			...hook,
			deliver: async (...args: Parameters<typeof deliver>) => {
				if (order.length === 19) await lab.store.post([alertDeliveryOf(9_000, {}, theft)])
				return await deliver(...args)
			},
		}
		await lab.store.post(numbers(1, 60).map((number) => alertDeliveryOf(number)))
		await delivererOf(lab, [posting], { optionsOf: () => null }).drainOnce(never)
		expect(order).toHaveLength(61)
		expect(order.indexOf(idOf(9_000))).toBe(20)
		expect(order.filter((id) => id !== idOf(9_000))).toEqual(numbers(1, 60).map(idOf))
	})

	test('behavior: look-alikes, which strangers make at will, hold up neither thefts nor alarms', async () => {
		const hook = keeping(lab)
		await lab.store.post(numbers(1, 60).map((number) => alertDeliveryOf(number, {}, { lookalike })))
		await lab.store.post([alertDeliveryOf(400), alertDeliveryOf(401, {}, theft)])
		await lab.store.post([deliveryOf(402, { message: messageOf(systemData(), 'system.stalled', idOf(402)) })])
		await delivererOf(lab, [hook], { optionsOf: () => null }).drainOnce(never)
		expect(hook.got.map(({ id }) => id)).toEqual([402, 401, ...numbers(1, 60), 400].map(idOf))
	})

	test.each([
		['another attempt', retry, 500],
		['the time that the receiver asked for', { ...retry, afterMs: 20_000 } as Outcome, 20_000],
	])('behavior: a theft is tried though the first of the others waits for %s', async (_, outcome, waitMs) => {
		const hook = keeping(lab, ({ id }) => (id === idOf(1) ? outcome : fine))
		const carrying = delivererOf(lab, [hook], { optionsOf: () => null })
		await lab.store.post(numbers(1, 3).map((number) => alertDeliveryOf(number)))
		await carrying.drainOnce(never)
		await lab.store.post([alertDeliveryOf(9, {}, theft)])
		await carrying.drainOnce(never)
		expect(hook.got.map(({ id }) => id)).toEqual([idOf(9)])
		expect(await lab.store.nextDueMs()).toBe(lab.nowMs + waitMs)
	})
})
