import { expect, test } from 'vitest'
import { StateError } from '../../../src/errors.js'
import { createDeliverer, type DelivererOptions } from '../../../src/notify/delivery/deliverer.js'
import { deliveryOf, idOf, keptLog, never } from '../samples.js'
import { ids, retry, type Scripted, scripted, useLab } from './lab.js'

const lab = useLab()
const hourMs = 3_600_000

function delivererOf(hook: Scripted, more: Partial<DelivererOptions> = {}) {
	return createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook], ...more })
}

test('behavior: set back, what waits for another attempt is tried, in order; it is said once', async () => {
	let passedMs = 0
	const log = keptLog()
	const hook = scripted('hook', (_, index) => (index === 0 ? retry : { result: 'delivered' }))
	const deliverer = delivererOf(hook, { steady: () => passedMs, log })
	await lab.store.post([deliveryOf(1)])
	await deliverer.drainOnce(never)
	lab.nowMs -= hourMs
	passedMs += 30_000
	await lab.store.post([deliveryOf(2)])
	await deliverer.drainOnce(never)
	expect(hook.got).toEqual(ids(1, 1, 2))
	expect(log.lines.filter(({ message }) => message.startsWith('the clock was set back'))).toHaveLength(1)
})

test('behavior: set back while nothing ran, it is tried by the first round, however slow its start', async () => {
	const hook = scripted('hook', (_, index) => (index === 0 ? retry : { result: 'delivered' }))
	await lab.store.post([deliveryOf(1, { createdAtMs: lab.nowMs })])
	await delivererOf(hook).drainOnce(never)
	lab.nowMs -= 24 * hourMs
	// Reading the state takes a millisecond or more, unlike on a clock that stands still.
	await delivererOf(hook, { clock: () => lab.nowMs++ }).drainOnce(never)
	expect(hook.got).toEqual(ids(1, 1))
})

test('error: set back while nothing ran, and the disk is full at the start: tried once it can be written', async () => {
	const hook = scripted('hook')
	await lab.store.post([deliveryOf(1, { createdAtMs: lab.nowMs, nextAttemptAtMs: lab.nowMs })])
	lab.nowMs -= 24 * hourMs
	let isFull = true
	const retryOnDisk: typeof lab.store.retry = async (...args) => {
		if (isFull) throw new StateError('disk', 'no space left')
		return await lab.store.retry(...args)
	}
	const log = keptLog()
	const deliverer = delivererOf(hook, { store: { ...lab.store, retry: retryOnDisk }, log })
	await expect(deliverer.drainOnce(never)).rejects.toThrow('no space left')
	isFull = false
	await deliverer.drainOnce(never)
	expect(hook.got).toEqual(ids(1))
})

test('behavior: set forward, or right, nothing is tried before its time', async () => {
	const hook = scripted('hook', () => ({ ...retry, afterMs: hourMs }))
	const deliverer = delivererOf(hook, { steady: () => lab.nowMs - 5_000 })
	await lab.store.post([deliveryOf(1)])
	for (const _ of [1, 2, 3]) {
		await deliverer.drainOnce(never)
		lab.nowMs += 60_000
	}
	expect(hook.got).toEqual(ids(1))
})

test('behavior: set back, what is parked is tried at once, and then after each rest', async () => {
	const recipient = 'a@example.org'
	const hook = scripted('hook', () => ({ result: 'parked', code: 'login-refused', reason: 'no' }), [recipient])
	let passedMs = 0
	const deliverer = delivererOf(hook, { steady: () => passedMs })
	await lab.store.post([deliveryOf(1, { recipient })])
	await deliverer.drainOnce(never)
	lab.nowMs -= 3 * hourMs
	await deliverer.drainOnce(never)
	expect(hook.got).toEqual(ids(1, 1))
	lab.nowMs += 59_000
	passedMs += 59_000
	await deliverer.drainOnce(never)
	expect(hook.got).toEqual(ids(1, 1))
})

test('behavior: set back, what a digest holds is let go', async () => {
	const hook = { ...scripted('hook'), takesDigest: () => true }
	const digest = { everyMs: 60_000, max: 1 }
	const optionsOf = () => ({ fallback: null, digest })
	const deliverer = delivererOf(hook, { optionsOf, steady: () => 0 })
	await lab.store.post([1, 2, 3].map((number) => deliveryOf(number)))
	await deliverer.drainOnce(never)
	expect(hook.got).toEqual(ids(1))
	lab.nowMs -= hourMs
	await deliverer.drainOnce(never)
	expect(hook.got).toHaveLength(2)
	expect(hook.got[0]).toBe(idOf(1))
	expect(await lab.store.deliveries()).toEqual([])
})
