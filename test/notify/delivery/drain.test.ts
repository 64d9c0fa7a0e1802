import { describe, expect, test } from 'vitest'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { Store } from '../../../src/model/ports.js'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { alertDeliveryOf, deliveryOf, idOf, keptLog, mailDeliveryOf, never, removalOf, startMs } from '../samples.js'
import { ids, retry, scripted, useLab } from './lab.js'

const lab = useLab()
const gone: Outcome = { result: 'parked', code: 'refused', reason: 'hook.example answered 410' }

describe('a single drain of the queue', () => {
	test('default: carries out what is due, once, and forgets it', async () => {
		const hook = scripted('hook')
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] })
		await lab.store.post([1, 2, 3].map((number) => deliveryOf(number)))
		await lab.store.post([deliveryOf(4, { nextAttemptAtMs: startMs + 1 })])
		expect(await deliverer.drainOnce(never)).toEqual({ delivered: 3, failed: 0, held: 0 })
		expect(hook.got).toEqual(ids(1, 2, 3))
		expect(await lab.statuses()).toEqual(['4 pending'])
	})

	test('behavior: a fallback gets its messages in the same run, while time passes', async () => {
		const [hook, desk] = [scripted('hook', () => gone), scripted('desk')]
		await lab.store.post([alertDeliveryOf(1)])
		const deliverer = createDeliverer({
			...{ store: lab.store, log: keptLog(), receivers: [hook, desk] },
			clock: () => (lab.nowMs += 1),
			optionsOf: (name) => ({ fallback: name === 'hook' ? 'desk' : null, digest: null }),
		})
		expect(await deliverer.drainOnce(never)).toEqual({ delivered: 2, failed: 1, held: 0 })
		expect([hook.got.length, desk.got.length]).toEqual([1, 2])
	})

	test('behavior: a retraction that waits for its alert is not tried over and over', async () => {
		const slow = scripted('slow', () => {
			lab.nowMs += 300
			return { result: 'delivered' }
		})
		const hook = scripted('hook', () => gone)
		const refused = { sinceMs: startMs - 60_000, times: 1 }
		const failed = { lastError: 'no', lastErrorCode: 'message-failed', refused } as const
		const alert = alertDeliveryOf(1, { ...failed, attempts: 1, nextAttemptAtMs: startMs + 100 })
		const removal = removalOf(2, alert, { attempts: 0, nextAttemptAtMs: startMs + 101 })
		await lab.store.post([alert, removal, alertDeliveryOf(3, { receiver: 'slow' })])
		const aborter = new AbortController()
		let writes = 0
		const store: Store = {
			...lab.store,
			resolve(...args) {
				if (++writes === 100) aborter.abort()
				return lab.store.resolve(...args)
			},
		}
		const receivers = [hook, slow]
		const deliverer = createDeliverer({ store, clock: () => (lab.nowMs += 1), log: keptLog(), receivers })
		expect(await deliverer.drainOnce(aborter.signal)).toEqual({ delivered: 1, failed: 0, held: 0 })
		expect([hook.got, slow.got]).toEqual([[], ids(3)])
		expect(writes).toBeLessThan(10)
	})

	test('behavior: a digest whose time comes while the run goes on stays a digest', async () => {
		const slow = scripted('slow', () => {
			lab.nowMs += 2_000
			return { result: 'delivered' }
		})
		const hook = Object.assign(scripted('hook'), { takesDigest: () => true })
		const held = { nextAttemptAtMs: startMs + 1_000, digestAtMs: startMs + 1_000 }
		await lab.store.post([alertDeliveryOf(1, held), alertDeliveryOf(2, held), alertDeliveryOf(3, { receiver: 'slow' })])
		const deliverer = createDeliverer({
			...{ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook, slow] },
			optionsOf: () => ({ fallback: null, digest: { everyMs: 60_000, max: 1 } }),
		})
		await deliverer.drainOnce(never)
		expect([hook.got, await lab.statuses()]).toEqual([[], ['1 held', '2 held']])
	})

	test('behavior: more than one claim long', async () => {
		const hook = scripted('hook')
		await lab.store.post(Array.from({ length: 250 }, (_, number) => deliveryOf(number)))
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] })
		expect(await deliverer.drainOnce(never)).toEqual({ delivered: 250, failed: 0, held: 0 })
		expect(hook.got).toEqual(Array.from({ length: 250 }, (_, number) => idOf(number)))
	})

	test('behavior: a failure holds back its queue in order, no other, and is tried when its time has come', async () => {
		const hook = scripted('hook', (_, index) => (index < 2 ? retry : { result: 'delivered' }))
		const mail = scripted('mail', undefined, ['a@example.org', 'b@example.org'])
		const deliverer = createDeliverer({
			store: lab.store,
			clock: lab.clock,
			log: keptLog(),
			receivers: [hook, mail],
			random: () => 0.5,
		})
		await lab.store.post([
			deliveryOf(1),
			deliveryOf(2),
			mailDeliveryOf(3, 'a@example.org'),
			mailDeliveryOf(4, 'b@example.org'),
		])
		expect(await deliverer.drainOnce(never)).toEqual({ delivered: 2, failed: 1, held: 0 })
		expect(await lab.statuses()).toEqual(['1 pending', '2 pending'])
		const times: number[] = []
		for (let round = 0; round < 2; round += 1) {
			const next = await lab.store.nextDueMs()
			if (next === null) break
			times.push(next - lab.nowMs)
			lab.nowMs = next
			await deliverer.drainOnce(never)
		}
		expect(times).toEqual([500, 2_500])
		expect(hook.got).toEqual(ids(1, 1, 1, 2))
		expect(await lab.statuses()).toEqual([])
	})

	test('behavior: failures of an earlier process are tried as soon as the receiver accepts another', async () => {
		const hook = scripted('hook')
		const inHalfAnHourMs = startMs + 1_800_000
		const failed = { attempts: 6, lastError: 'host answered 503', nextAttemptAtMs: inHalfAnHourMs } as const
		await lab.store.post([alertDeliveryOf(1, failed), alertDeliveryOf(2, failed), alertDeliveryOf(3)])
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] })
		expect(await deliverer.drainOnce(never)).toEqual({ delivered: 3, failed: 0, held: 0 })
		expect(hook.got).toEqual(ids(3, 1, 2))
	})

	test('behavior: waits as long as the other side asked, if that is longer', async () => {
		const hook = scripted('hook', () => ({ ...retry, afterMs: 90_000 }))
		await lab.store.post([deliveryOf(1)])
		await createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] }).drainOnce(never)
		expect(await lab.store.nextDueMs()).toBe(startMs + 90_000)
	})

	test('behavior: given up after 72 hours, reported as an error; meanwhile the next one is sent', async () => {
		const log = keptLog()
		const results: string[] = []
		const hook = scripted('hook', ({ id }) => (id === idOf(1) ? retry : { result: 'delivered' }))
		const onResult = (_: Delivery, { result }: Outcome) => results.push(result)
		const deliverer = createDeliverer({
			store: lab.store,
			clock: lab.clock,
			log,
			receivers: [hook],
			onResult,
			random: () => 0.5,
		})
		await lab.store.post([alertDeliveryOf(1), alertDeliveryOf(2)])
		for (let next = await lab.store.nextDueMs(); next !== null; next = await lab.store.nextDueMs()) {
			// What is due in a queue that pauses is sent at the end of the pause.
			lab.nowMs = next > lab.nowMs ? next : lab.nowMs + 1_000
			await deliverer.drainOnce(never)
		}
		expect(lab.nowMs).toBe(startMs + 72 * 3_600_000)
		expect(await lab.statuses()).toEqual(['1 dead'])
		expect((await lab.store.deliveries())[0]?.lastError).toBe('given up after 72 hours: host answered 503')
		expect(hook.got.filter((id) => id === idOf(2))).toHaveLength(1)
		expect(results.filter((result) => result !== 'retry')).toEqual(['delivered', 'dead'])
		expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
	})

	test('behavior: a delivery that is refused for good does not hold back the next', async () => {
		const hook = scripted('hook', (_, index) =>
			index === 0 ? { result: 'dead', code: 'refused', reason: 'too large' } : { result: 'delivered' },
		)
		await lab.store.post([deliveryOf(1), deliveryOf(2)])
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [hook] })
		expect(await deliverer.drainOnce(never)).toEqual({ delivered: 1, failed: 1, held: 0 })
		expect(await lab.statuses()).toEqual(['1 dead'])
	})

	test('behavior: a receiver that throws has failed for now, and its error is in the log', async () => {
		const log = keptLog()
		const hook = scripted('hook', () => {
			throw new Error('a fault of ours')
		})
		await lab.store.post([deliveryOf(1)])
		expect(
			await createDeliverer({ store: lab.store, clock: lab.clock, log, receivers: [hook] }).drainOnce(never),
		).toEqual({
			delivered: 0,
			failed: 1,
			held: 0,
		})
		expect(await lab.statuses()).toEqual(['1 pending'])
		expect(log.lines.some(({ facts }) => facts.err instanceof Error)).toBe(true)
	})

	test('behavior: a receiver that is configured no more keeps its deliveries', async () => {
		const log = keptLog()
		const mail = scripted('mail', undefined, ['new@example.org'])
		const deliverer = createDeliverer({ store: lab.store, clock: lab.clock, log, receivers: [mail] })
		await lab.store.post([deliveryOf(1), deliveryOf(2), mailDeliveryOf(3, 'old@example.org')])
		expect(await deliverer.drainOnce(never)).toEqual({ delivered: 0, failed: 0, held: 0 })
		expect(await deliverer.drainOnce(never)).toEqual({ delivered: 0, failed: 0, held: 0 })
		expect(await lab.statuses()).toEqual(['1 pending', '2 pending', '3 pending'])
		expect(log.lines.map(({ facts }) => facts)).toEqual([
			{ receiver: 'hook' },
			{ receiver: 'mail', recipient: 'old@example.org' },
		])
	})

	test('error: results that cannot be written down are reported to the caller, and no more is sent', async () => {
		let tellRefusal = () => {}
		const refusal = new Promise<void>((resolve) => {
			tellRefusal = resolve
		})
		const full: Store = {
			...lab.store,
			async resolve() {
				tellRefusal()
				throw new Error('disk full')
			},
		}
		const hook = scripted('hook', async (_, index) => {
			if (index === 1) {
				await refusal
				// By then it is given up.
				await new Promise(setImmediate)
			}
			return { result: 'delivered' }
		})
		await lab.store.post([1, 2, 3].map((number) => deliveryOf(number)))
		const deliverer = createDeliverer({
			store: full,
			clock: lab.clock,
			log: keptLog(),
			receivers: [hook],
			drainDeadlineMs: 0,
		})
		await expect(deliverer.drainOnce(never)).rejects.toThrow('disk full')
		// The second may be under way when the write of the first fails.
		expect([ids(1), ids(1, 2)]).toContainEqual(hook.got)
	})
})
