import { describe, expect, test } from 'vitest'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { deliveryOf, idOf, keptLog, never, startMs } from '../samples.js'
import { ids, scripted, useLab } from './lab.js'

const lab = useLab()

describe('a receiver that has to be fixed', () => {
	test('behavior: when a receiver has to be fixed, the rest of its queue is parked untried', async () => {
		const hook = scripted('hook', () => ({ result: 'parked', code: 'removed', reason: 'gone' }))
		await lab.store.post([1, 2, 3].map((number) => deliveryOf(number)))
		await createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }).drainOnce(never)
		expect(hook.got).toEqual(ids(1))
		expect(await lab.statuses()).toEqual(['1 parked', '2 parked', '3 parked'])
	})

	test('behavior: once a receiver takes anything again, it gets what was parked in its order', async () => {
		const hook = scripted('hook', (_, index) =>
			index < 3 ? { result: 'parked', code: 'removed', reason: 'gone' } : { result: 'delivered' },
		)
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] })
		await lab.store.post([deliveryOf(1), deliveryOf(2)])
		await deliverer.drainOnce(never)
		// The oldest is tried first, and what is new all the same: it may have been the message that was refused.
		await lab.store.post([deliveryOf(3)])
		await deliverer.drainOnce(never)
		expect(hook.got).toEqual(ids(1, 1, 3))
		await lab.store.post([deliveryOf(4), deliveryOf(5)])
		await deliverer.drainOnce(never)
		expect(hook.got).toEqual(ids(1, 1, 3, 1, 2, 3, 4, 5))
		expect(await lab.statuses()).toEqual([])
	})

	test('behavior: a message that is refused by itself holds back none that is new', async () => {
		const hook = scripted('hook', ({ id }) =>
			id === idOf(1) ? { result: 'parked', code: 'login-refused', reason: 'blocked' } : { result: 'delivered' },
		)
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] })
		for (const number of [1, 2, 3]) {
			await lab.store.post([deliveryOf(number)])
			await deliverer.drainOnce(never)
			lab.nowMs += 1_000
		}
		expect(hook.got.filter((id) => id !== idOf(1))).toEqual(ids(2, 3))
		expect(await lab.statuses()).toEqual(['1 parked'])
	})

	test('behavior: what is parked is tried at the start, and its oldest every quarter of an hour', async () => {
		const hook = scripted('hook', (_, index) =>
			index < 2 ? { result: 'parked', code: 'removed', reason: 'gone' } : { result: 'delivered' },
		)
		await lab.store.post([deliveryOf(1), deliveryOf(2)])
		const options = { store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }
		await createDeliverer(options).drainOnce(never)
		expect(hook.got).toEqual(ids(1))
		const controller = new AbortController()
		const deliverer = createDeliverer({
			...options,
			sleep: lab.sleeper(controller),
		})
		await deliverer.run(controller.signal)
		expect(hook.got).toEqual(ids(1, 1, 1, 2))
		expect(lab.nowMs - startMs).toBeGreaterThanOrEqual(15 * 60_000)
		expect(lab.nowMs - startMs).toBeLessThan(20 * 60_000)
	})

	test('behavior: parked for longer than 72 hours is not given up', async () => {
		const hook = scripted('hook', (_, index) =>
			index < 2 ? { result: 'parked', code: 'removed', reason: 'gone' } : { result: 'delivered' },
		)
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] })
		await lab.store.post([deliveryOf(1)])
		await deliverer.drainOnce(never)
		lab.nowMs += 100 * 3_600_000
		await deliverer.setReceivers([hook])
		await deliverer.drainOnce(never)
		expect(await lab.statuses()).toEqual(['1 parked'])
		await deliverer.setReceivers([hook])
		await deliverer.drainOnce(never)
		expect(await lab.statuses()).toEqual([])
	})
})

describe('a receiver that has to be fixed, one drain after the other', () => {
	test('behavior: what an earlier run parked is tried again after a quarter of an hour, not before', async () => {
		const hook = scripted('hook', (_, index) =>
			index < 2 ? { result: 'parked', code: 'removed', reason: 'gone' } : { result: 'delivered' },
		)
		const drain = () =>
			createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }).drainOnce(never)
		await lab.store.post([1, 2, 3].map((number) => deliveryOf(number)))
		await drain()
		lab.nowMs += 14 * 60_000
		await drain()
		expect(hook.got).toEqual(ids(1))
		lab.nowMs += 60_000
		await drain()
		expect(hook.got).toEqual(ids(1, 1))
		lab.nowMs += 14 * 60_000
		await drain()
		expect(hook.got).toEqual(ids(1, 1))
		lab.nowMs += 60_000
		await drain()
		expect(hook.got).toEqual(ids(1, 1, 1, 2, 3))
		expect(await lab.statuses()).toEqual([])
	})

	test('behavior: what an earlier run parked follows at once when the receiver takes something new', async () => {
		const hook = scripted('hook', (_, index) =>
			index < 1 ? { result: 'parked', code: 'removed', reason: 'gone' } : { result: 'delivered' },
		)
		const drain = () =>
			createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }).drainOnce(never)
		await lab.store.post([deliveryOf(1)])
		await drain()
		await lab.store.post([deliveryOf(2)])
		await drain()
		expect(hook.got).toEqual(ids(1, 1, 2))
	})
})
