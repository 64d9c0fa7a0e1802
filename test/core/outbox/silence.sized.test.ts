import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSilent, silentUntil } from '../../../src/core/outbox/silence.js'
import type { Silence } from '../../../src/model/watch.js'
import { sized } from '../../support/longRun.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const at = (iso: string) => Date.parse(iso)

const zones = [
	'UTC',
	'Europe/Berlin',
	'America/New_York',
	'Asia/Kathmandu',
	// Half an hour of summer time; summer time from midnight; a day that was left out (30 December 2011).
	'Australia/Lord_Howe',
	'America/Havana',
	'Pacific/Apia',
	'America/Sao_Paulo',
]
/** Around changes of the clock in those zones, and any time. */
const moments = [
	'2026-03-29T01:00Z',
	'2026-10-25T01:00Z',
	'2026-03-08T07:00Z',
	'2026-11-01T06:00Z',
	'2026-04-04T15:00Z',
	'2026-10-03T15:30Z',
	'2026-03-08T05:00Z',
	'2026-11-01T05:00Z',
	'2011-12-30T10:00Z',
	'2018-11-04T03:00Z',
	'2019-02-17T02:00Z',
	'2026-12-31T23:59Z',
]

const weekly = fc
	.record({
		weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
		fromMinute: fc.oneof(fc.constantFrom(0, 60, 90, 120, 1380), fc.integer({ min: 0, max: 1439 })),
		toMinute: fc.oneof(fc.constantFrom(0, 60, 90, 150, 1440), fc.integer({ min: 0, max: 1440 })),
		timezone: fc.constantFrom(...zones),
	})
	.map((rest): Silence => ({ kind: 'weekly', ...rest }))
const moment = fc.oneof(
	fc
		.tuple(fc.constantFrom(...moments), fc.integer({ min: -30 * 60, max: 30 * 60 }))
		.map(([iso, minutes]) => at(iso) + minutes * minuteMs),
	fc.integer({ min: at('2000-01-01T00:00Z'), max: at('2040-01-01T00:00Z') }),
)
const once = fc
	.tuple(moment, fc.integer({ min: 1, max: 3 * dayMs }))
	.map(([fromMs, lengthMs]): Silence => ({ kind: 'once', fromMs, toMs: fromMs + lengthMs }))

const clocks = new Map<string, Intl.DateTimeFormat>()
const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** What the clock on the wall says, read from its words and not by arithmetic. */
function wall(timezone: string, ms: number): { weekday: number; minute: number } {
	const clock =
		clocks.get(timezone) ??
		new Intl.DateTimeFormat('en-GB', { timeZone: timezone, weekday: 'short', hour: '2-digit', minute: '2-digit' })
	clocks.set(timezone, clock)
	const [, day = '', hours, minutes] = /(\w{3}).* (\d\d):(\d\d)$/.exec(clock.format(ms)) ?? []
	return { weekday: names.indexOf(day) + 1, minute: Number(hours) * 60 + Number(minutes) }
}

/** The rule in the words of the model. */
function expected(silence: Silence, ms: number): boolean {
	if (silence.kind === 'once') return ms >= silence.fromMs && ms < silence.toMs
	const { weekdays, fromMinute: from, toMinute: to, timezone } = silence
	const { weekday, minute } = wall(timezone, ms)
	if (from < to) return weekdays.includes(weekday) && minute >= from && minute < to
	const dayBefore = ((weekday + 5) % 7) + 1
	return (weekdays.includes(weekday) && minute >= from) || (weekdays.includes(dayBefore) && minute < to)
}

describe('isSilent', () => {
	const nights: Silence = {
		kind: 'weekly',
		weekdays: [1, 2, 3, 4, 5],
		fromMinute: 22 * 60,
		toMinute: 6 * 60,
		timezone: 'Europe/Berlin',
	}

	test.each([
		['before a night', '2026-11-20T21:59:59.999+01:00', false],
		['at its first moment', '2026-11-20T22:00+01:00', true],
		['after midnight, on a day that is not named', '2026-11-21T05:59:59.999+01:00', true],
		['at its last moment', '2026-11-21T06:00+01:00', false],
		['on an evening that is not named', '2026-11-21T23:00+01:00', false],
		['after midnight, on a day that is named, when the evening before is not', '2026-11-23T01:00+01:00', false],
	])('nights from Monday to Friday: %s', (_, iso, silent) => {
		expect(isSilent([nights], at(iso))).toBe(silent)
	})

	test('default: nothing is silent', () => {
		expect(isSilent([], 0)).toBe(false)
		expect(silentUntil([], 0)).toBeNull()
	})

	test('is what the clock on the wall says, in every zone and around every change of the clock', () => {
		fc.assert(
			fc.property(fc.array(fc.oneof(weekly, weekly, once), { maxLength: 3 }), moment, (silences, ms) => {
				expect(isSilent(silences, ms)).toBe(silences.some((silence) => expected(silence, ms)))
			}),
			{ numRuns: sized(300, 1_000) },
		)
	})
})

describe('silentUntil', () => {
	test('is the first moment at which none is in force, to the millisecond', () => {
		fc.assert(
			fc.property(fc.array(fc.oneof(weekly, weekly, once), { minLength: 1, maxLength: 3 }), moment, (silences, ms) => {
				const silentAt = (time: number) => silences.some((silence) => expected(silence, time))
				const until = silentUntil(silences, ms)
				if (!silentAt(ms)) {
					expect(until).toBeNull()
					return
				}
				if (until === Infinity) {
					for (let time = ms; time < ms + 15 * dayMs; time += 7 * minuteMs) expect(silentAt(time)).toBe(true)
					return
				}
				if (until === null) throw new Error('it is silent')
				expect(silentAt(until)).toBe(false)
				expect(silentAt(until - 1)).toBe(true)
				const stepMs = Math.max(minuteMs, (until - ms) / 400)
				for (let time = ms; time < until; time += stepMs) expect(silentAt(time)).toBe(true)
			}),
			{ numRuns: sized(120, 500) },
		)
	})

	const night = (from: string, to: string, timezone = 'Europe/Berlin'): Silence => {
		const minute = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
		return {
			kind: 'weekly',
			weekdays: [1, 2, 3, 4, 5, 6, 7],
			fromMinute: minute(from),
			toMinute: minute(to),
			timezone,
		}
	}

	test.each([
		['a night in which an hour is skipped is an hour shorter', night('22:00', '06:00'), '2026-03-28T21:00Z', 7],
		['a night in which an hour comes twice is an hour longer', night('22:00', '06:00'), '2026-10-24T20:00Z', 9],
		['an end that the clock skips is where it skips', night('01:00', '02:30'), '2026-03-29T00:00Z', 1],
		[
			'an end that comes twice is the first one, and it begins again',
			night('01:00', '02:30'),
			'2026-10-24T23:00Z',
			1.5,
		],
		['a day is as long as it is', night('00:00', '24:00', 'UTC'), '2026-11-20T00:00Z', Infinity],
	])('%s', (_, silence, iso, hours) => {
		expect(silentUntil([silence], at(iso))).toBe(at(iso) + hours * hourMs)
	})

	test('behavior: silences that meet are one', () => {
		const silences = [night('22:00', '24:00', 'UTC'), night('00:00', '06:00', 'UTC')]
		expect(silentUntil(silences, at('2026-11-20T23:00Z'))).toBe(at('2026-11-21T06:00Z'))
	})

	test('behavior: a long absence inside a week of silence ends where both have ended', () => {
		const absence: Silence = { kind: 'once', fromMs: at('2026-11-01T00:00Z'), toMs: at('2027-03-01T23:00Z') }
		const silences = [absence, night('22:00', '06:00', 'UTC')]
		expect(silentUntil(silences, at('2026-11-20T12:00Z'))).toBe(at('2027-03-02T06:00Z'))
	})
})
