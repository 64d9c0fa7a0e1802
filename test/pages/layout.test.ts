import { describe, expect, test } from 'vitest'
import type { StateSummary } from '../../src/model/state.js'
import { ago, amount, grouped, time } from '../../src/pages/look/figures.js'
import { html, textOf } from '../../src/pages/look/html.js'
import { banner, standingOf } from '../../src/pages/standing.js'

const shown = (part: Parameters<typeof textOf>[0]) => textOf(part).replaceAll(/<[^>]*>/g, '')

describe('the banner', () => {
	const network = (name: string, ok: boolean) => ({
		...{ network: name, ok, reason: ok ? null : `${name} is away` },
		...{ checkpoint: 1, head: 1, lastPollAt: null },
	})
	const well = { ok: true, reason: null, networks: [network('ethereum', true), network('base', true)] }
	const counts = { pending: 0, held: 0, parked: 0, dead: 0, delivered: 5, lastDeliveredAtMs: null }
	const summaryOf = (rest: object): StateSummary => ({
		networks: new Map(),
		receivers: new Map([['hook', { ...counts, ...rest }]]),
	})

	test('default: nothing is wrong', () => {
		expect(standingOf(well, summaryOf({}))).toEqual({ state: 'watching', words: 'Watching normally', troubles: [] })
	})

	test.each([
		[
			'attempts that fail',
			{ pending: 2, failedAttempts: 1 },
			'hook fails at present: 2 deliveries wait and are retried',
		],
		['messages in quarantine', { pending: 9, quarantined: 1 }, 'hook fails at 1 message alone; the others are sent'],
	])('behavior: %s degrade it, although the health is good', (_, rest, trouble) => {
		expect(standingOf(well, summaryOf(rest))).toEqual({ state: 'degraded', words: 'Degraded', troubles: [trouble] })
	})

	test('behavior: a receiver that the health names is not named twice', () => {
		const reason = 'hook takes nothing'
		const health = { ...well, ok: false, status: 'undelivered', reason, reasons: [reason] }
		const { state, troubles } = standingOf(health, summaryOf({ parked: 2, failedAttempts: 3 }))
		expect([state, troubles]).toEqual(['degraded', [reason]])
	})

	test('behavior: networks that are not scanned are named, unless there is no other', () => {
		const reason = 'ethereum is away'
		const one = { ok: false, status: 'stalled', reason, networks: [network('ethereum', false), network('base', true)] }
		expect(standingOf(one, null)).toMatchObject({ state: 'not-watching', words: 'Not watching ethereum' })
		const only = { ...one, networks: [network('ethereum', false)] }
		expect(standingOf(only, null)).toMatchObject({ state: 'not-watching', words: 'Not watching' })
	})

	test('behavior: each trouble stands on a line of its own, escaped', () => {
		const text = textOf(banner({ state: 'degraded', words: 'Degraded', troubles: ['a<b', 'c'] }))
		expect(text).toContain('class="health degraded"')
		expect(text).toContain('<ul><li>a&lt;b</li><li>c</li></ul>')
	})
})

test('default: a time breaks between day and hour only, and says that it is UTC', () => {
	const words = textOf(html`${time(Date.UTC(2026, 10, 20, 10, 0, 30))}`)
	expect(words.replaceAll(/<[^>]*>/g, '')).toBe('2026-11-20 10:00:30 UTC')
	expect(words).toContain('<span>2026-11-20</span> <span>10:00:30 UTC</span>')
})

test.each([
	[0, '0 s ago'],
	[59_999, '59 s ago'],
	[7_199_000, '119 min ago'],
	[7_200_000, '2 h ago'],
	[172_800_000, '2 d ago'],
	[-90_000, 'in 1 min'],
])('default: %s ms ago, with the exact time as title', (passedMs, words) => {
	const nowMs = Date.UTC(2026, 10, 20, 10, 0, 30)
	expect(shown(ago(nowMs - passedMs, nowMs))).toBe(words)
	const exact = new Date(nowMs - passedMs)
		.toISOString()
		.replace('T', ' ')
		.replace(/\.\d+Z/, ' UTC')
	expect(textOf(ago(nowMs - passedMs, nowMs))).toContain(`title="${exact}"`)
})

test.each([
	['0', '0', null],
	['12500.5', '12,500.5', null],
	['1234567', '1,234,567', null],
	['0.999999999', '0.999999…', '0.999999999'],
	['0.000000000000000001', '&lt;0.000001', '0.000000000000000001'],
	['<b>', '&lt;b&gt;', null],
])('default: the amount %s is cut, never rounded, and whole in its title', (text, words, title) => {
	expect(shown(amount(text))).toBe(words)
	expect(/title="([^"]*)"/.exec(textOf(amount(text)))?.[1] ?? null).toBe(title)
})

test('default: digits are grouped by three', () => {
	expect([1, 999, 1_000, 23_840_113, 10n ** 9n].map(grouped)).toEqual([
		'1',
		'999',
		'1,000',
		'23,840,113',
		'1,000,000,000',
	])
})
