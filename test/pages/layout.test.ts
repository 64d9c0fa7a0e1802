import { expect, test } from 'vitest'
import { html, textOf } from '../../src/pages/html.js'
import { page, time } from '../../src/pages/layout.js'

function healthOf(health: Parameters<typeof page>[0]['health']): string {
	const text = page({ title: 't', path: '/', version: '1', health, jsonPath: '/?format=json', body: html`x` })
	return /<p id="health"[^>]*>(.*)<\/p>/.exec(text)?.[1] ?? ''
}

test('default: each trouble stands on a line of its own, escaped', () => {
	expect(healthOf({ ok: true, reason: null, reasons: [] })).toBe('All is well')
	expect(healthOf({ ok: false, reason: 'a<b' })).toBe('NOT WELL: a&lt;b')
	const two = { ok: false, reason: 'a<b; c', reasons: ['a<b', 'c'] }
	expect(healthOf(two)).toBe('NOT WELL: <span class="trouble">a&lt;b</span> <span class="trouble">c</span> ')
})

test('default: a time breaks between day and hour only, and says that it is UTC', () => {
	const words = textOf(html`${time(Date.UTC(2026, 10, 20, 10, 0, 30))}`)
	expect(words.replaceAll(/<[^>]*>/g, '')).toBe('2026-11-20 10:00:30 UTC')
	expect(words).toContain('<span>2026-11-20</span> <span>10:00:30 UTC</span>')
})
