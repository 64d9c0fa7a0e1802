import { describe, expect, test } from 'vitest'
import { isParked } from '../../../src/core/outbox/waiting.js'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { Store } from '../../../src/model/ports.js'
import { createDeliverer, type DelivererOptions } from '../../../src/notify/delivery/deliverer.js'
import { alertDeliveryOf, idOf, keptLog, never, startMs } from '../samples.js'
import { ids, retry, type Scripted, scripted, useLab } from './lab.js'

const lab = useLab()
const minute = 60_000
const fine: Outcome = { result: 'delivered' }
const refusal: Outcome = {
	result: 'parked',
	code: 'refused',
	reason: '550 5.4.5 Daily user sending limit exceeded',
}
const login: Outcome = { result: 'parked', code: 'login-refused', reason: '535 5.7.8 no' }

const options = (...receivers: readonly Scripted[]): DelivererOptions => ({
	...{ store: lab.store, clock: lab.clock, log: keptLog(), receivers, random: () => 0.5 },
	optionsOf: (name) => ({ fallback: name === 'hook' ? 'desk' : null, digest: null }),
})
/** As `once` by a timer: nothing but the state is remembered. */
async function drain(...receivers: readonly Scripted[]): Promise<void> {
	await createDeliverer(options(...receivers)).drainOnce(never)
}
const post = (...numbers: readonly number[]) => lab.store.post(numbers.map((number) => alertDeliveryOf(number)))
const numbersTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1)

/** Drains once a minute, and posts one more alert with each. */
async function drainFor(minutes: number, { hook, from }: { hook: Scripted; from?: number }): Promise<void> {
	for (let at = 0; at < minutes; at += 1) {
		lab.nowMs += minute
		if (from !== undefined) await post(from + at)
		await drain(hook)
	}
}

describe('a receiver that refuses everything', () => {
	test('behavior: three different messages are tried, then one after rests of 1, 2, 4, 8, 15 minutes', async () => {
		const tries: number[] = []
		const hook = scripted('hook', () => {
			tries.push((lab.nowMs - startMs) / minute)
			return refusal
		})
		await post(1, 2, 3, 4, 5)
		await drain(hook)
		expect(hook.got).toEqual(ids(1, 2, 3))
		await drainFor(60, { hook, from: 10 })
		expect(tries).toEqual([0, 0, 0, 1, 3, 7, 15, 30, 45, 60])
		expect(new Set((await lab.statuses()).map((line) => line.split(' ')[1]))).toEqual(new Set(['parked']))
		const { receivers } = await lab.store.summary()
		expect(receivers.get('hook')).toMatchObject({ dead: 0, refusal: refusal.reason })
	})

	test('behavior: a failure at what is tried after a rest: one message a rest, not each that waits', async () => {
		const tries: number[] = []
		const hook = scripted('hook', () => {
			tries.push((lab.nowMs - startMs) / minute)
			return tries.length > 3 ? retry : refusal
		})
		await post(...numbersTo(20))
		await drain(hook)
		await drainFor(60, { hook, from: 100 })
		expect(tries).toEqual([0, 0, 0, 1, 3, 7, 15, 30, 45, 60])
		expect(new Set((await lab.statuses()).map((line) => line.split(' ')[1]))).toEqual(new Set(['parked']))
	})

	test('behavior: a failure after a rest that asks for an hour: all that waits rests for that hour', async () => {
		const tries: number[] = []
		const hook = scripted('hook', () => {
			tries.push((lab.nowMs - startMs) / minute)
			return tries.length === 4 ? { ...retry, afterMs: 60 * minute } : refusal
		})
		await post(...numbersTo(20))
		await drain(hook)
		await drainFor(75, { hook, from: 100 })
		expect(tries).toEqual([0, 0, 0, 1, 61])
	})

	test('behavior: a login that is refused is tried once a rest, for all recipients', async () => {
		const to = ['a@example.org', 'b@example.org']
		const hook = scripted('hook', () => login, to)
		await lab.store.post([alertDeliveryOf(1, { recipient: to[0] ?? null })])
		await drain(hook)
		await lab.store.post(
			numbersTo(9)
				.slice(1)
				.map((at) => alertDeliveryOf(at, { recipient: to[at % 2] ?? null })),
		)
		await drain(hook)
		expect(hook.got).toHaveLength(1)
		await drainFor(15, { hook })
		expect(hook.got).toHaveLength(5)
	})

	test('behavior: each alert goes to the fallback once, and stays here', async () => {
		const told: Delivery[] = []
		const desk = scripted('desk', (delivery) => {
			told.push(delivery)
			return fine
		})
		const hook = scripted('hook', () => refusal)
		await post(1, 2, 3, 4)
		await drain(hook, desk)
		for (let at = 0; at < 20; at += 1) {
			lab.nowMs += 5 * minute
			await post(10 + at)
			await drain(hook, desk)
		}
		const instead = told.flatMap(({ message: { data } }) => (data.insteadOf === 'hook' ? [data.id] : []))
		const made = [1, 2, 3, 4, ...numbersTo(20).map((at) => at + 9)].map((at) => alertDeliveryOf(at).message.data.id)
		expect(instead.toSorted()).toEqual(made.toSorted())
		expect((await lab.store.deliveries()).filter(isParked).length).toBe(made.length)
		expect(told.filter(({ message }) => message.type === 'system.undelivered').length).toBeGreaterThan(0)
	})

	test('behavior: a delivery refused for 72 hours is given up, and a newer one is not', async () => {
		const hook = scripted('hook', () => refusal)
		await post(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
		await drain(hook)
		for (let hour = 0; hour < 71; hour += 1) await drainAfterHour(hook)
		expect(new Set((await lab.statuses()).map((line) => line.split(' ')[1]))).toEqual(new Set(['parked']))
		await lab.store.post([alertDeliveryOf(20, { createdAtMs: lab.nowMs })])
		for (let hour = 0; hour < 2; hour += 1) await drainAfterHour(hook)
		const dead = (await lab.statuses()).flatMap((line) => (line.endsWith(' dead') ? [line] : []))
		expect(dead.toSorted()).toEqual(
			numbersTo(10)
				.map((at) => `${at} dead`)
				.toSorted(),
		)
	})

	test('behavior: the 72 hours of refused deliveries run on over restarts, in any order', async () => {
		const hook = scripted('hook', () => refusal)
		// Each answer takes a moment, so that what is parked with one pause is not parked at one time.
		const parked = [7, 0, 9, 3].map((laterMs, at) =>
			alertDeliveryOf(at + 1, {
				...{ attempts: 2, lastErrorCode: 'refused', lastError: 'no', createdAtMs: startMs - 1 },
				refused: { sinceMs: startMs + laterMs, times: 0 },
			}),
		)
		await lab.store.post(parked)
		for (const minutes of [600, 600, 600, 600, 600, 600, 660, 61]) {
			lab.nowMs += minutes * minute
			await drain(hook)
		}
		expect((await lab.statuses()).toSorted()).toEqual(['1 dead', '2 dead', '3 dead', '4 dead'])
	})
})

async function drainAfterHour(hook: Scripted): Promise<void> {
	lab.nowMs += 60 * minute
	await drain(hook)
}

describe('messages that are refused alone', () => {
	test('behavior: a delivery that waited for hours for another reason is not dead at its first refusal', async () => {
		const hook = scripted('hook', ({ id }) => (id === idOf(1) ? refusal : fine))
		await lab.store.post([alertDeliveryOf(1, { attempts: 12, createdAtMs: startMs - 600 * minute })])
		await post(2)
		await drain(hook)
		expect(await lab.statuses()).toEqual(['1 pending'])
		await drainFor(59, { hook, from: 10 })
		expect(await lab.statuses()).toEqual(['1 pending'])
	})

	test('behavior: a dead delivery that is retried by hand has its hour of attempts again', async () => {
		const hook = scripted('hook', ({ id }) => (id === idOf(1) ? refusal : fine))
		await lab.store.post([
			alertDeliveryOf(1, {
				...{ status: 'dead', attempts: 5, lastErrorCode: 'refused', lastError: 'no' },
				refused: { sinceMs: startMs - 100 * minute, times: 4 },
			}),
		])
		await lab.store.retry(ids(1), lab.nowMs)
		await drainFor(30, { hook, from: 10 })
		expect(await lab.statuses()).toEqual(['1 pending'])
	})

	test('behavior: an old delivery that dies at its first refusal stays dead, the fallback gets it once', async () => {
		const hook = scripted('hook', ({ id }) => (id === idOf(1) ? refusal : fine))
		const told: string[] = []
		const desk = scripted('desk', ({ message }) => {
			told.push(message.type)
			return fine
		})
		await lab.store.post([alertDeliveryOf(1, { attempts: 9, createdAtMs: startMs - 80 * 60 * minute })])
		const deliverer = createDeliverer(options(hook, desk))
		for (const at of numbersTo(5)) {
			await post(10 + at)
			await deliverer.drainOnce(never)
		}
		expect(hook.got.toSorted()).toEqual(ids(1, 11, 12, 13, 14, 15))
		expect(told.toSorted()).toEqual(['alert.transfer', 'system.undelivered'])
		expect(await lab.statuses()).toEqual(['1 dead'])
	})

	test('behavior: a failure meanwhile counts neither as a refusal nor as a success', async () => {
		const hook = scripted('hook', ({ id }, index) => (id !== idOf(1) ? retry : index === 0 ? refusal : retry))
		await post(1, 2)
		await drain(hook)
		await drainFor(90, { hook })
		expect((await lab.statuses()).toSorted()).toEqual(['1 pending', '2 pending'])
	})

	test('behavior: of several recipients one refuses everything: nothing of it is dead, the others go on', async () => {
		const to = ['good@example.org', 'full@example.org']
		const hook = scripted('hook', ({ recipient }) => (recipient === to[0] ? fine : refusal), to)
		for (const at of numbersTo(70)) {
			await lab.store.post(to.map((recipient, which) => alertDeliveryOf(at * 2 + which, { recipient })))
			lab.nowMs += minute
			await drain(hook)
		}
		const left = await lab.store.deliveries()
		expect(left.map(({ recipient }) => recipient)).toEqual(numbersTo(70).map(() => to[1]))
		expect(left.filter(({ status }) => status === 'dead')).toEqual([])
	})
})

describe('a daemon', () => {
	test('behavior: with its start one of what waits is tried, and once it is accepted, all', async () => {
		const broken = scripted('hook', () => refusal)
		await post(...numbersTo(20))
		await drain(broken)
		const controller = new AbortController()
		const hook = scripted('hook')
		const deliverer = createDeliverer({ ...options(hook), sleep: lab.sleeper(controller) })
		await deliverer.run(controller.signal)
		expect(hook.got.toSorted()).toEqual(ids(...numbersTo(20)).toSorted())
		expect(lab.nowMs - startMs).toBeLessThan(minute)
	})

	test('behavior: while a login is tried for one mailbox, the others wait for what comes of it', async () => {
		const to = ['a@example.org', 'b@example.org', 'c@example.org']
		await lab.store.post(to.map((recipient, at) => alertDeliveryOf(at + 1, { recipient })))
		const all = (answer: () => Outcome | Promise<Outcome>) => scripted('hook', answer, to)
		await drain(all(() => login))
		const controller = new AbortController()
		const during: string[] = []
		const store = new Proxy(lab.store, {
			get(target, name: keyof Store) {
				during.push(name)
				return target[name]
			},
		})
		let claims = 0
		const hook = all(async () => {
			if (hook.got.length === 3) controller.abort()
			if (hook.got.length > 1) return fine
			during.length = 0
			for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
			claims = during.filter((name) => name === 'claim').length
			return fine
		})
		await createDeliverer({ ...options(hook), store }).run(controller.signal)
		expect(hook.got.toSorted()).toEqual(ids(1, 2, 3))
		expect(claims).toBeLessThan(5)
	})

	test('behavior: while its receiver refuses everything it rests, and delivers soon after a short fault', async () => {
		const controller = new AbortController()
		const hook = scripted('hook', () => (lab.nowMs < startMs + 90_000 ? refusal : fine))
		await post(...numbersTo(20))
		await createDeliverer({ ...options(hook), sleep: lab.sleeper(controller) }).run(controller.signal)
		expect(new Set(hook.got)).toEqual(new Set(ids(...numbersTo(20))))
		expect(hook.got.length).toBeLessThan(30)
		expect(lab.nowMs - startMs).toBeLessThan(90_000 + 3 * minute)
	})
})
