import { expect, test } from 'vitest'
import { html } from '../../src/pages/html.js'
import { page } from '../../src/pages/layout.js'

function healthOf(health: Parameters<typeof page>[0]['health']): string {
	const text = page({ title: 't', path: '/', version: '1', health, jsonPath: '/?format=json', body: html`x` })
	return /<p id="health"[^>]*>(.*)<\/p>/.exec(text)?.[1] ?? ''
}

test('default: each trouble stands on a line of its own, escaped', () => {
	expect(healthOf({ ok: true, reason: null, reasons: [] })).toBe('All is well')
	expect(healthOf({ ok: false, reason: 'a<b' })).toBe('NOT WELL: a&lt;b')
	const two = { ok: false, reason: 'a<b; c', reasons: ['a<b', 'c'] }
	expect(healthOf(two)).toBe('NOT WELL: <br>a&lt;b<br>c')
})
