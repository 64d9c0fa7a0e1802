import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ALONE } from '../../../src/core/outbox/waiting.js'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import { alone, decide } from '../../../src/notify/delivery/decide.js'
import { FRESH_QUEUE, type Queue } from '../../../src/notify/delivery/queueMemory.js'
import { alertDeliveryOf, deliveryOf, idOf, startMs } from '../samples.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const createdAtMs = Date.UTC(2026, 10, 20)
const fails: Outcome = { result: 'retry', code: 'failed', reason: 'host answered 503' }
const refuses: Outcome = { result: 'parked', code: 'refused', reason: '550 no' }
const refusesLogin: Outcome = { result: 'parked', code: 'login-refused', reason: '535 no' }
const accepts: Outcome = { result: 'delivered' }

/** The time of the next attempt of a delivery after a failure; null: it is given up. */
function nextAttemptMs(
	{ attempts }: Pick<Delivery, 'attempts'>,
	{ nowMs, random, afterMs }: { nowMs: number; random: () => number; afterMs?: number },
): number | null {
	const outcome: Outcome = { ...fails, ...(afterMs !== undefined && { afterMs }) }
	const parcel = alone(deliveryOf(1, { attempts, createdAtMs }))
	const [result] = decide(FRESH_QUEUE, parcel, outcome, {
		nowMs,
		random,
		rate: null,
		aside: new Map(),
		pending: [],
	}).results
	return result?.resolution.result === 'retry' ? result.resolution.nextAttemptAtMs : null
}

describe('when a failed delivery is tried again', () => {
	test('default: quickly at first, then hourly, with jitter below each ceiling', () => {
		const latest = (attempts: number) =>
			(nextAttemptMs({ attempts }, { nowMs: createdAtMs, random: () => 0.999_999_999 }) ?? 0) - createdAtMs
		const ceilingsS = [1, 5, 15, 60, 300, 900, 3_600, 3_600, 3_600]
		ceilingsS.forEach((ceilingS, attempts) => {
			expect(latest(attempts)).toBeGreaterThanOrEqual(ceilingS * 1_000 - 2)
			expect(latest(attempts)).toBeLessThanOrEqual(ceilingS * 1_000)
		})
	})

	test('behavior: never at once, never before the other side allows it, never after the deadline', () => {
		fc.assert(
			fc.property(
				fc.nat(200),
				fc.integer({ min: 0, max: 72 * hourMs - 1 }),
				fc.double({ min: 0, max: 0.999_999, noNaN: true }),
				fc.nat(hourMs),
				(attempts, ageMs, dice, afterMs) => {
					const nowMs = createdAtMs + ageMs
					const nextMs = nextAttemptMs({ attempts }, { nowMs, random: () => dice, afterMs })
					if (nextMs === null) throw new Error('given up before the deadline')
					const deadlineMs = createdAtMs + 72 * hourMs
					expect(nextMs).toBeGreaterThanOrEqual(Math.min(nowMs + Math.max(250, afterMs), deadlineMs))
					expect(nextMs).toBeLessThanOrEqual(deadlineMs)
					expect(nextMs).toBeLessThanOrEqual(nowMs + hourMs)
				},
			),
		)
	})

	test('behavior: tried some hundred times in 72 hours, the last time at their end, then given up', () => {
		fc.assert(
			fc.property(fc.integer(), (seed) => {
				const dice = diceOf(seed)
				let nowMs = createdAtMs
				let attempts = 0
				for (;;) {
					const nextMs = nextAttemptMs({ attempts }, { nowMs, random: dice })
					attempts += 1
					if (nextMs === null) break
					expect(nextMs).toBeGreaterThan(nowMs)
					nowMs = nextMs
				}
				expect(nowMs).toBe(createdAtMs + 72 * hourMs)
				expect(attempts).toBeGreaterThan(72)
			}),
			{ numRuns: 20 },
		)
	})

	test('behavior: a delivery that grew old while the program was off is given up at its seventh attempt', () => {
		const nowMs = createdAtMs + 100 * hourMs
		const outcomes = [0, 1, 2, 3, 4, 5, 6].map((attempts) => nextAttemptMs({ attempts }, { nowMs, random: () => 0.5 }))
		expect(outcomes.map((nextMs) => nextMs === null)).toEqual([false, false, false, false, false, false, true])
	})
})

/** An attempt, and what is decided: the fields that matter. */
interface Case {
	readonly name: string
	readonly queue?: Partial<Queue>
	readonly delivery?: Partial<Delivery>
	readonly outcome: Outcome
	/** Beside the queue, about the same alert or another. */
	readonly aside?: readonly Delivery[]
	readonly pending?: readonly Delivery[]
	readonly resolutions: readonly object[]
	readonly after: Partial<Queue>
	readonly freed?: readonly number[]
	readonly next: 'continue' | 'stop'
}

const recently = { acceptedAtMs: startMs - 1_000 }
const longAgo = { acceptedAtMs: startMs - hourMs }
const pause = { sinceMs: startMs - minuteMs, untilMs: startMs, words: refuses, isOfAll: false } as NonNullable<
	Queue['pause']
>
const parked = {
	lastErrorCode: 'refused',
	lastError: 'no',
	refused: { sinceMs: startMs - minuteMs, times: 0 },
} as const
const isAloneNow = { lastErrorCode: ALONE, lastError: 'no' } as const

const cases: readonly Case[] = [
	{
		name: 'a first failure: the queue fails and stops',
		...{ outcome: fails, next: 'stop' },
		resolutions: [{ result: 'retry', code: 'failed', nextAttemptAtMs: startMs + 500 }],
		after: { isFailing: true, failures: 1, pausedUntilMs: 0 },
	},
	{
		name: 'the fifth failure: the delivery waits beside its queue, which is paused',
		...{ outcome: fails, next: 'stop', queue: { failures: 4 }, delivery: { attempts: 4 } },
		resolutions: [{ result: 'retry', code: 'failed' }],
		after: { isFailing: true, failures: 5, pausedUntilMs: startMs + minuteMs },
	},
	{
		name: 'a failure beside a queue that works: it fails alone, and the queue goes on',
		...{ outcome: fails, next: 'continue', queue: recently, delivery: { attempts: 7 } },
		resolutions: [{ result: 'retry', code: ALONE }],
		after: { isFailing: false, failedBeside: 1 },
	},
	{
		name: 'the third failure in a row beside a queue that has not accepted anything for a minute: a pause',
		...{ outcome: fails, next: 'stop', queue: { ...longAgo, failedBeside: 2 }, delivery: { attempts: 7 } },
		resolutions: [{ result: 'retry', code: ALONE }],
		after: { failedBeside: 3, pausedUntilMs: startMs + 1_000 },
	},
	{
		name: 'the receiver asks for a wait: kept for the next digests',
		...{ outcome: { ...fails, afterMs: 5 * hourMs } as Outcome, next: 'stop' },
		resolutions: [{ result: 'retry', nextAttemptAtMs: startMs + 5 * hourMs }],
		after: { askedUntilMs: startMs + 5 * hourMs },
	},
	{
		name: 'a first refusal: that message waits, the queue goes on',
		...{ outcome: refuses, next: 'continue', queue: longAgo },
		resolutions: [{ result: 'retry', code: ALONE, refused: { sinceMs: startMs, times: 1 } }],
		after: { refused: new Set([idOf(1)]), pause: null },
	},
	{
		name: 'a third message refused in a row: the receiver refuses everything, and all three wait for it',
		...{ outcome: refuses, next: 'continue', queue: { ...longAgo, refused: new Set([idOf(2), idOf(3)]) } },
		pending: [alertDeliveryOf(2), alertDeliveryOf(3), alertDeliveryOf(4)],
		resolutions: [
			{ result: 'retry', code: 'refused', refused: { sinceMs: startMs, times: 0 } },
			{ id: idOf(2), result: 'retry', refused: { sinceMs: startMs, times: 0 }, untried: true },
			{ id: idOf(3), result: 'retry', refused: { sinceMs: startMs, times: 0 }, untried: true },
		],
		after: { refused: new Set(), pause: { ...pause, sinceMs: startMs, untilMs: startMs + minuteMs } },
	},
	{
		name: 'the same a second after it accepted another: only that message waits',
		...{ outcome: refuses, next: 'continue', queue: { ...recently, refused: new Set([idOf(2), idOf(3)]) } },
		resolutions: [{ result: 'retry', code: ALONE }],
		after: { refused: new Set([idOf(1), idOf(2), idOf(3)]), pause: null },
	},
	{
		name: 'a refused login of a mailbox: a pause of all mailboxes at once',
		...{ outcome: refusesLogin, next: 'continue', queue: recently, delivery: { recipient: 'a@example.org' } },
		pending: [alertDeliveryOf(2, { ...parked, recipient: 'b@example.org' })],
		resolutions: [
			{ result: 'retry', code: 'login-refused' },
			{ id: idOf(2), untried: true },
		],
		after: { pause: { sinceMs: startMs, untilMs: startMs + minuteMs, words: refusesLogin as never, isOfAll: true } },
	},
	{
		name: 'a failure under a pause: it is prolonged, twice as long',
		...{ outcome: fails, next: 'continue', queue: { pause }, delivery: parked },
		resolutions: [{ result: 'retry', code: 'failed' }],
		after: { pause: { ...pause, untilMs: startMs + 2 * minuteMs } },
	},
	{
		name: 'a success under a pause: it ends, and what waited for that is due',
		...{ outcome: accepts, next: 'continue', queue: { pause, failures: 3 }, delivery: parked },
		pending: [alertDeliveryOf(2, parked), alertDeliveryOf(3), alertDeliveryOf(4, { ...parked, receiver: 'other' })],
		...{ resolutions: [{ result: 'delivered' }], freed: [2] },
		after: { pause: null, failures: 0, acceptedAtMs: startMs },
	},
	{
		name: 'a success after failures: retries beside the queue are due, refused ones are not',
		...{ outcome: accepts, next: 'continue', queue: { isFailing: true, failures: 9, pausedUntilMs: startMs + 9 } },
		aside: [
			alertDeliveryOf(2, { attempts: 6 }),
			alertDeliveryOf(3, { ...isAloneNow, refused: { sinceMs: 1, times: 1 } }),
		],
		...{ resolutions: [{ result: 'delivered' }], freed: [2] },
		after: { isFailing: false, failures: 0, pausedUntilMs: 0 },
	},
	{
		name: 'the third refusal within an hour in which others were accepted: dead',
		...{ outcome: refuses, next: 'continue', queue: recently },
		delivery: { ...isAloneNow, attempts: 2, refused: { sinceMs: startMs - hourMs, times: 2 } },
		resolutions: [{ result: 'dead', code: 'refused' }],
		after: { failedBeside: 1 },
	},
	{
		name: 'the third refusal within an hour in which nothing was accepted: it waits on',
		...{ outcome: refuses, next: 'continue', queue: { acceptedAtMs: startMs - 2 * hourMs } },
		delivery: { ...isAloneNow, attempts: 2, refused: { sinceMs: startMs - hourMs, times: 2 } },
		resolutions: [{ result: 'retry', refused: { sinceMs: startMs - hourMs, times: 3 } }],
		after: { failedBeside: 1 },
	},
]

describe('a decision after an attempt', () => {
	test.each(cases)('behavior: $name', ({ queue, delivery, outcome, aside = [], pending = [], ...expected }) => {
		const before: Queue = { ...FRESH_QUEUE, ...queue }
		const decision = decide(before, alone(alertDeliveryOf(1, delivery)), outcome, {
			...{ nowMs: startMs, random: () => 0.5, rate: null, pending },
			aside: new Map(aside.map((one) => [one.id, one])),
		})
		expect(decision.results.map(({ resolution }) => resolution)).toMatchObject(expected.resolutions)
		expect(decision.queue).toMatchObject(expected.after)
		expect(decision.freed).toEqual((expected.freed ?? []).map(idOf))
		expect(decision.next).toBe(expected.next)
	})

	test.each([fails, refuses, { ...fails, result: 'dead' } as Outcome])(
		'behavior: $result for a digest of alerts that fail alone: each is sent by itself',
		(outcome) => {
			const members = [1, 2].map((number) => alertDeliveryOf(number, isAloneNow))
			const sent = alertDeliveryOf(9, isAloneNow)
			const facts = { nowMs: startMs, random: () => 0.5, rate: null, aside: new Map(), pending: [] }
			const decision = decide({ ...FRESH_QUEUE, ...recently }, { sent, members }, outcome, facts)
			expect(decision.results).toMatchObject([{ members, resolution: { result: 'wait', as: 'alone' } }])
			expect(decision.next).toBe('stop')
		},
	)
})

/** Numbers from 0 up to 1, the same for the same seed. */
function diceOf(seed: number): () => number {
	let state = seed >>> 0
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
		return state / 2 ** 32
	}
}
