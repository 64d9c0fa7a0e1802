import { describe, expect, test } from 'vitest'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { deliveryOf, idOf, keptLog, never, startMs } from '../samples.js'
import { ids, scripted, useLab } from './lab.js'

const lab = useLab()

/** A receiver that accepts nothing until it is fixed. */
function breakable() {
	let isBroken = true
	const hook = scripted('hook', () =>
		isBroken ? { result: 'parked', code: 'removed', reason: 'gone' } : { result: 'delivered' },
	)
	const fix = () => {
		isBroken = false
	}
	return { hook, fix }
}

describe('a receiver that has to be fixed', () => {
	test('behavior: when a receiver has to be fixed, the rest of its queue is parked untried', async () => {
		const { hook } = breakable()
		await lab.store.post([1, 2, 3, 4, 5].map((number) => deliveryOf(number)))
		await createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }).drainOnce(never)
		expect(hook.got).toEqual(ids(1, 2, 3))
		expect(await lab.statuses()).toEqual(['1 parked', '2 parked', '3 parked', '4 parked', '5 parked'])
	})

	test('behavior: once a receiver takes anything again, it gets what was parked in its order', async () => {
		const { hook, fix } = breakable()
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] })
		await lab.store.post([1, 2, 3, 4].map((number) => deliveryOf(number)))
		await deliverer.drainOnce(never)
		// The oldest is tried first, and what is new all the same: it may have been the message that was refused.
		await lab.store.post([deliveryOf(5)])
		await deliverer.drainOnce(never)
		expect(hook.got).toEqual(ids(1, 2, 3, 1, 5))
		fix()
		await lab.store.post([deliveryOf(6), deliveryOf(7)])
		await deliverer.drainOnce(never)
		expect(hook.got.slice(5)).toEqual(ids(1, 2, 3, 4, 5, 6, 7))
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
		const { hook, fix } = breakable()
		await lab.store.post([1, 2, 3, 4, 5].map((number) => deliveryOf(number)))
		const options = { store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }
		await createDeliverer(options).drainOnce(never)
		expect(hook.got).toEqual(ids(1, 2, 3))
		const controller = new AbortController()
		const sleep = lab.sleeper(controller)
		const deliverer = createDeliverer({
			...options,
			async sleep(ms, signal) {
				if (lab.nowMs - startMs > 10 * 60_000) fix()
				await sleep(ms, signal)
			},
		})
		await deliverer.run(controller.signal)
		expect(hook.got).toEqual(ids(1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5))
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
		const { hook, fix } = breakable()
		const drain = () =>
			createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }).drainOnce(never)
		await lab.store.post([1, 2, 3, 4, 5].map((number) => deliveryOf(number)))
		for (const [minutes, got] of [
			[0, [1, 2, 3]],
			[14, [1, 2, 3]],
			[1, [1, 2, 3, 1, 2, 3]],
			[14, [1, 2, 3, 1, 2, 3]],
		] as const) {
			lab.nowMs += minutes * 60_000
			await drain()
			expect(hook.got).toEqual(ids(...got))
		}
		fix()
		lab.nowMs += 60_000
		await drain()
		expect(hook.got.slice(6)).toEqual(ids(1, 2, 3, 4, 5))
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

describe('one message that is refused as if the receiver were broken', () => {
	const first = idOf(1)
	const hookThatRefusesFirst = () =>
		scripted('hook', ({ id }) =>
			id === first ? { result: 'parked', code: 'login-refused', reason: 'blocked' } : { result: 'delivered' },
		)

	test('behavior: accepts nothing of its batch with it, and is tried no more than needed', async () => {
		const hook = hookThatRefusesFirst()
		await lab.store.post(Array.from({ length: 250 }, (_, at) => deliveryOf(at + 1)))
		await createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }).drainOnce(never)
		expect(hook.got.filter((id) => id !== first)).toEqual(ids(...Array.from({ length: 249 }, (_, at) => at + 2)))
		expect(hook.got.filter((id) => id === first).length).toBeLessThan(5)
		expect(await lab.statuses()).toEqual(['1 parked'])
	})

	test('behavior: what was parked behind it by an earlier run goes out, at the start and after a quarter', async () => {
		const broken = scripted('hook', () => ({ result: 'parked', code: 'removed', reason: 'gone' }))
		const options = { store: lab.store, clock: lab.clock, log: keptLog() }
		const drainBy = (hook: typeof broken) => createDeliverer({ ...options, receivers: [hook] }).drainOnce(never)
		await lab.store.post(Array.from({ length: 10 }, (_, at) => deliveryOf(at + 1)))
		await drainBy(broken)
		expect(await lab.statuses()).toHaveLength(10)
		lab.nowMs += 15 * 60_000
		const hook = hookThatRefusesFirst()
		await drainBy(hook)
		expect(await lab.statuses()).toEqual(['1 parked'])
		expect(hook.got.filter((id) => id !== first)).toEqual(ids(2, 3, 4, 5, 6, 7, 8, 9, 10))
	})

	test('behavior: of a broken receiver three are tried, of a mail server that refuses the login one', async () => {
		const refuses = (recipients: readonly string[] | null) =>
			scripted('hook', () => ({ result: 'parked', code: 'login-refused', reason: 'no' }), recipients)
		for (const [recipient, tried] of [
			[null, 3],
			['a@example.org', 1],
		] as const) {
			const hook = refuses(recipient === null ? null : [recipient])
			const options = { store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }
			await lab.store.post([1, 2, 3, 4, 5].map((number) => ({ ...deliveryOf(number), recipient })))
			await createDeliverer(options).drainOnce(never)
			expect(hook.got).toHaveLength(tried)
			await lab.store.drop(ids(1, 2, 3, 4, 5))
		}
	})
})
