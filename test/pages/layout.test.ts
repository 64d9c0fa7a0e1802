import { describe, expect, test } from 'vitest'
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
	test('default: a reason beside a good health is no fault', () => {
		expect(standingOf(well)).toEqual({ state: 'watching', words: 'Watching normally', troubles: [] })
		expect(standingOf({ ...well, reason: 'changed' })).toMatchObject({ state: 'watching', troubles: ['changed'] })
	})

	test('default: a receiver that fails degrades the whole', () => {
		const reasons = ['hook takes nothing', 'mail takes nothing']
		const health = { ...well, ok: false, status: 'undelivered' as const, reason: reasons.join('; '), reasons }
		expect(standingOf(health)).toEqual({ state: 'degraded', words: 'Degraded', troubles: reasons })
	})

	test('behavior: networks that are not scanned are named, unless there is no other', () => {
		const reason = 'ethereum is away'
		const one = {
			ok: false,
			status: 'stalled' as const,
			reason,
			networks: [network('ethereum', false), network('base', true)],
		}
		expect(standingOf(one)).toMatchObject({ state: 'not-watching', words: 'Not watching ethereum' })
		const only = { ...one, networks: [network('ethereum', false)] }
		expect(standingOf(only)).toMatchObject({ state: 'not-watching', words: 'Not watching' })
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
	['0', '0'],
	['12500.5', '12,500.5'],
	['1234567', '1,234,567'],
	['1000.000000000000000001', '1,000.000000000000000001'],
	['<b>', '<b>'],
])('default: the amount %s is whole, and grouped before its point', (text, words) => {
	expect(amount(text)).toBe(words)
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
