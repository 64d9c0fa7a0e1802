import { describe, expect, test } from 'vitest'
import { pause } from '../../../src/base/waits/wait.js'
import { allKinds } from '../../../src/kinds/all.js'
import type { AlertData } from '../../../src/model/alert.js'
import type { Delivery } from '../../../src/model/delivery.js'
import type { Silence } from '../../../src/model/watch.js'
import type { ReceiverOptions } from '../../../src/notify/delivery/deliverer.js'
import {
	alertData,
	alertDeliveryOf,
	deliveryOf,
	idOf,
	messageOf,
	never,
	removalOf,
	startMs,
	systemData,
} from '../samples.js'
import { delivererOf, inside, keeping, minuteMs, numbers, runOut, sizes } from './keeping.js'
import { useLab } from './lab.js'

const lab = useLab()
const hourMs = 3_600_000

/** Every night from 22:00 to 6:00. */
const nights = (timezone: string): Silence => ({
	kind: 'weekly',
	weekdays: [1, 2, 3, 4, 5, 6, 7],
	fromMinute: 22 * 60,
	toMinute: 6 * 60,
	timezone,
})
const once = (fromMs: number, toMs: number): Silence => ({ kind: 'once', fromMs, toMs })
const receiverOptions = (silences: readonly Silence[], rest: Partial<ReceiverOptions> = {}) => ({
	optionsOf: (): ReceiverOptions => ({ fallback: null, digest: null, silences, ...rest }),
})
const at = (iso: string) => Date.parse(iso)
/** Of a watchlist of this name. */
const of = (number: number, watchlist: string) =>
	alertDeliveryOf(number, {}, { watch: { ...alertData().watch, watchlist } })
/** The silences of one watchlist. */
const inWatchlist = (watchlist: string, silences: readonly Silence[]) => ({
	...receiverOptions([]),
	silencesOf: (alert: AlertData) => (alert.watch.watchlist === watchlist ? silences : []),
})
const stalled = (number: number, rest: Partial<Delivery> = {}) =>
	deliveryOf(number, { message: messageOf(systemData(), 'system.stalled', idOf(number)), ...rest })

describe('the silence of a receiver', () => {
	for (const [name, from, until, hours, timezone] of [
		['across midnight', '2026-11-20T22:00Z', '2026-11-21T06:00Z', 8, 'UTC'],
		['in a night in which an hour comes twice', '2026-10-24T22:00+02:00', '2026-10-25T06:00+01:00', 9, 'Europe/Berlin'],
		['in a night in which an hour is skipped', '2026-03-28T22:00+01:00', '2026-03-29T06:00+02:00', 7, 'Europe/Berlin'],
	] as const) {
		test(`default: ${name}: what comes is held, and one message reports it at the end`, async () => {
			const hook = keeping(lab)
			const rules = receiverOptions([nights(timezone)])
			const carrying = delivererOf(lab, [hook], rules)
			for (let hour = -1; hour < hours; hour += 1) {
				lab.nowMs = at(from) + hour * hourMs
				await lab.store.post([alertDeliveryOf(hour + 2, { createdAtMs: lab.nowMs, nextAttemptAtMs: lab.nowMs })])
				await carrying.drainOnce(never)
			}
			expect(inside(hook.got)).toEqual([idOf(1)])
			lab.nowMs = at(until) - 1
			await carrying.drainOnce(never)
			expect(hook.got).toHaveLength(1)
			lab.nowMs = at(until)
			await carrying.drainOnce(never)
			expect(at(until) - at(from)).toBe(hours * hourMs)
			expect(sizes(hook.got)).toEqual([1, hours])
			expect(inside(hook.got)).toEqual(numbers(1, hours + 1).map(idOf))
			expect(hook.got[1]?.message.data).toMatchObject({
				held: { from: new Date(from).toISOString(), to: new Date(until).toISOString() },
			})
		})
	}

	test('default: the running program wakes when it is over', async () => {
		const hook = keeping(lab)
		await lab.store.post(numbers(1, 3).map((number) => alertDeliveryOf(number)))
		await runOut(lab, [hook], receiverOptions([once(startMs, startMs + 35_500)]))
		expect(hook.got.map((got) => [got.atMs, got.inside.length])).toEqual([[35_500, 3]])
	})

	test('behavior: holds words of the system too, and each follows by itself', async () => {
		const hook = keeping(lab)
		await lab.store.post([alertDeliveryOf(1), stalled(2), alertDeliveryOf(3)])
		const carrying = delivererOf(lab, [hook], receiverOptions([once(startMs, startMs + hourMs)]))
		expect(await carrying.drainOnce(never)).toEqual({ delivered: 0, failed: 0, held: 3 })
		lab.nowMs += hourMs
		await carrying.drainOnce(never)
		expect(hook.got.map(({ type }) => type)).toEqual(['system.stalled', 'alert.digest'])
		expect(inside(hook.got)).toEqual([2, 1, 3].map(idOf))
	})

	test('behavior: holds back no other receiver, no test, and nothing that is under way', async () => {
		const [hook, other] = [keeping(lab), { ...keeping(lab), name: 'other' }]
		await lab.store.post([
			alertDeliveryOf(1),
			alertDeliveryOf(2, { receiver: 'other' }),
			deliveryOf(3, { message: messageOf(alertData(), 'test', idOf(3)) }),
		])
		await delivererOf(lab, [hook, other], {
			optionsOf: (name) => receiverOptions(name === 'hook' ? [once(startMs, startMs + hourMs)] : []).optionsOf(),
		}).drainOnce(never)
		expect([inside(hook.got), inside(other.got)]).toEqual([[idOf(3)], [idOf(2)]])
	})

	test('behavior: one that never ends holds for ever, and nothing else suffers', async () => {
		const hook = keeping(lab)
		const always: Silence = { ...nights('UTC'), fromMinute: 0, toMinute: 1440 } as Silence
		await lab.store.post([alertDeliveryOf(1)])
		const carrying = delivererOf(lab, [hook], receiverOptions([always]))
		for (let week = 0; week < 60; week += 1) {
			await carrying.drainOnce(never)
			lab.nowMs += 7 * 24 * hourMs
		}
		expect(await lab.statuses()).toEqual(['1 held'])
		await delivererOf(lab, [hook], receiverOptions([])).drainOnce(never)
		expect(inside(hook.got)).toEqual([idOf(1)])
	})

	test('behavior: a second chance by hand sends one now, and the rest continues waiting', async () => {
		const hook = keeping(lab)
		await lab.store.post(numbers(1, 3).map((number) => alertDeliveryOf(number)))
		const carrying = delivererOf(lab, [hook], receiverOptions([once(startMs, startMs + hourMs)]))
		await carrying.drainOnce(never)
		await lab.store.retry([idOf(2)], lab.nowMs)
		await carrying.drainOnce(never)
		expect(inside(hook.got)).toEqual([idOf(2)])
		expect(await lab.statuses()).toEqual(['1 held', '3 held'])
		lab.nowMs += hourMs
		await carrying.drainOnce(never)
		expect(inside(hook.got)).toEqual([2, 1, 3].map(idOf))
	})
})

describe('the silence of a watchlist', () => {
	const silences = [once(startMs, startMs + hourMs)]

	test('default: holds its alerts, and lets pass those of others and words of the system', async () => {
		const hook = keeping(lab)
		await lab.store.post([of(1, 'a.yaml'), of(2, 'b.yaml'), stalled(3), of(4, 'a.yaml')])
		const carrying = delivererOf(lab, [hook], inWatchlist('a.yaml', silences))
		await carrying.drainOnce(never)
		expect(inside(hook.got)).toEqual([3, 2].map(idOf))
		lab.nowMs += hourMs
		await lab.store.post([of(5, 'b.yaml')])
		await carrying.drainOnce(never)
		expect(hook.got.slice(2).map((got) => got.inside)).toEqual([[idOf(1), idOf(4)], [idOf(5)]])
	})

	test('behavior: holds an alert of every kind, reported in one message afterwards', async () => {
		const hook = keeping(lab)
		const kinds = allKinds.map((kind, index) => {
			const data = alertData({ kind, watch: { ...alertData().watch, watchlist: 'a.yaml' } })
			return deliveryOf(index + 1, { message: messageOf(data, `alert.${kind}`, idOf(index + 1)) })
		})
		await lab.store.post(kinds)
		const carrying = delivererOf(lab, [hook], inWatchlist('a.yaml', silences))
		await carrying.drainOnce(never)
		expect(inside(hook.got)).toEqual([])
		lab.nowMs += hourMs
		await carrying.drainOnce(never)
		expect(hook.got.map(({ type }) => type)).toEqual(['alert.digest'])
		expect(hook.got[0]?.message.data).toMatchObject({ alerts: kinds.map(({ message }) => message) })
	})

	test('behavior: a withdrawal waits for the alert that it withdraws, also when the silence just ended', async () => {
		const hook = keeping(lab)
		const alert = of(1, 'a.yaml')
		await lab.store.post([alert])
		let carrying = delivererOf(lab, [hook], inWatchlist('a.yaml', silences))
		await carrying.drainOnce(never)
		// The clock passes the end between the look at what is held and the look at what is new.
		await lab.store.post([removalOf(2, alert)])
		const real = lab.store
		carrying = delivererOf(lab, [hook], {
			...inWatchlist('a.yaml', silences),
			store: {
				...real,
				claim: async (options) => {
					lab.nowMs = startMs + hourMs
					return await real.claim(options)
				},
			},
		})
		await carrying.drainOnce(never)
		expect(hook.got).toEqual([])
		await carrying.drainOnce(never)
		expect(inside(hook.got)).toEqual([1, 2].map(idOf))
	})
})

describe('an edit of a silence', () => {
	const rules = { silences: [once(startMs, startMs + hourMs)] as readonly Silence[] }
	const restarted = async (hook: ReturnType<typeof keeping>, silences: readonly Silence[]) => {
		await lab.reopen()
		await delivererOf(lab, [hook], receiverOptions(silences)).drainOnce(never)
	}

	test('behavior: removed or shortened, what it held is reported at the next start', async () => {
		for (const after of [[], [once(startMs, startMs + minuteMs)]]) {
			const hook = keeping(lab)
			lab.nowMs = startMs
			await lab.store.post([alertDeliveryOf(1), alertDeliveryOf(2)])
			await delivererOf(lab, [hook], receiverOptions(rules.silences)).drainOnce(never)
			expect(hook.got).toEqual([])
			lab.nowMs += 2 * minuteMs
			await restarted(hook, after)
			expect(sizes(hook.got)).toEqual([2])
		}
	})

	test('behavior: lengthened, it continues holding', async () => {
		const hook = keeping(lab)
		await lab.store.post([alertDeliveryOf(1), alertDeliveryOf(2)])
		await delivererOf(lab, [hook], receiverOptions(rules.silences)).drainOnce(never)
		lab.nowMs += hourMs
		await restarted(hook, [once(startMs, startMs + 3 * hourMs)])
		expect(await lab.statuses()).toEqual(['1 held', '2 held'])
	})

	test('behavior: removed from a receiver with a digest, what it held does not wait for that', async () => {
		const hook = keeping(lab)
		const digest = { everyMs: 24 * hourMs, max: 1 }
		await lab.store.post([alertDeliveryOf(1), alertDeliveryOf(2)])
		await delivererOf(lab, [hook], receiverOptions(rules.silences, { digest })).drainOnce(never)
		lab.nowMs += minuteMs
		await lab.reopen()
		await delivererOf(lab, [hook], receiverOptions([], { digest })).drainOnce(never)
		expect(sizes(hook.got)).toEqual([2])
	})

	test('behavior: read again while it runs, it takes effect at once', async () => {
		const hook = keeping(lab)
		const now: { silences: readonly Silence[] } = { silences: [once(startMs, startMs + hourMs)] }
		await lab.store.post([of(1, 'a.yaml'), of(2, 'a.yaml')])
		const controller = new AbortController()
		const carrying = delivererOf(lab, [hook], {
			...receiverOptions([]),
			silencesOf: () => now.silences,
			sleep: (_, signal) => pause(600_000, signal),
		})
		const ended = carrying.run(controller.signal)
		while ((await lab.store.deliveries('held')).length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
		now.silences = []
		carrying.reconsider()
		while (hook.got.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
		controller.abort()
		await ended
		expect(sizes(hook.got)).toEqual([2])
		expect(lab.nowMs).toBe(startMs)
	})
})
