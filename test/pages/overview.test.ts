// The overview: the latest alerts first, alarms counted, the reason once.
import { expect, test } from 'vitest'
import { createActivity } from '../../src/pages/activity.js'
import { alertData, payer, startMs } from '../notify/samples.js'
import { pageFacts, servePages } from './facts.js'

const clock = () => startMs + 60_000
const hourMs = 3_600_000
const lookalike = { of: payer, label: 'Supplier', prefix: 4, suffix: 4 }

function eventful() {
	const activity = createActivity(clock)
	activity.alerted(alertData({ id: 'a', value: '1' }), startMs - 30 * hourMs)
	activity.alerted(alertData({ id: 'b', value: '12500.25' }), startMs - 2 * hourMs)
	activity.alerted(alertData({ id: 'd', value: '3', lookalike }), startMs)
	// Read from the history after it.
	activity.alerted(alertData({ id: 'c', kind: 'balance', crossed: 'below', threshold: '2' }), startMs - hourMs)
	return activity
}

async function overviewOf(rest: Parameters<typeof pageFacts>[0]) {
	const url = await servePages(() => pageFacts({ clock, ...rest }))
	const found: ReturnType<typeof JSON.parse> = await (await fetch(`${url}/?format=json`)).json()
	return { found, text: await (await fetch(url)).text() }
}

test('default: the latest alerts first, newest at the top, before networks and receivers', async () => {
	const { found, text } = await overviewOf({ activity: eventful() })
	expect(found.latest.map(({ id }: { id: string }) => id)).toEqual(['d', 'c', 'b', 'a'])
	expect(found.latest[0]).toMatchObject({
		type: 'alert.transfer',
		toldAt: new Date(startMs).toISOString(),
		says: expect.stringMatching(/^\[ethereum\] LOOK-ALIKE: Treasury received 3 ETH/),
	})
	const at = ['id="health"', 'id="latest"', 'id="networks"', 'id="receivers"', 'id="day"'].map((id) => text.indexOf(id))
	expect(at).toEqual(at.toSorted((one, other) => one - other))
	expect(at).not.toContain(-1)
	expect(text.replaceAll(/<[^>]*>/g, '')).toContain('12,500.25')
})

test('default: alarms and alerts of the last 24 hours are counted', async () => {
	const { found, text } = await overviewOf({ activity: eventful() })
	const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
	expect([sum(found.alarmsOfDay), sum(found.alertsOfDay)]).toEqual([2, 3])
	const figures = /<dl class="figures">([\s\S]*?)<\/dl>/
		.exec(text)?.[1]
		?.replaceAll(/<[^>]*>/g, ' ')
		.replaceAll(/\s+/g, ' ')
	expect(figures).toContain('alarms in 24 h 2')
	expect(figures).toContain('alerts in 24 h 3')
})

test('behavior: at most 12 of them are kept, and a retraction is one', async () => {
	const activity = createActivity(clock)
	for (let at = 0; at < 40; at++) activity.alerted(alertData({ id: `${at}` }), startMs - at * 1_000)
	activity.retracted(alertData({ id: '7' }), startMs + 1_000)
	const { found } = await overviewOf({ activity })
	expect(found.latest).toHaveLength(12)
	expect(found.latest[0]).toMatchObject({ id: '7', type: 'alert.removed' })
})

test('default: the reason stands on the page once, and the network says that it is not watched', async () => {
	const reason = 'ethereum is not scanned: no endpoint answers'
	const network = { network: 'ethereum', ok: false, reason, checkpoint: 1_234_567, head: 1_234_569, lastPollAt: null }
	const { found, text } = await overviewOf({ health: async () => ({ ok: false, reason, networks: [network] }) })
	expect(found).toMatchObject({ ok: false, reason, state: 'not-watching', troubles: [reason] })
	expect(text.split(reason)).toHaveLength(2)
	expect(text).toContain('<title>Not watching · Overview · tracewatch</title>')
	expect(text).toContain('>not watched</span>')
	expect(text.replaceAll(/<[^>]*>/g, ' ')).toContain('1,234,567')
})

test('behavior: a head that is unknown or behind the checkpoint has no distance to it', async () => {
	const network = { network: 'ethereum', ok: true, reason: null, checkpoint: 9, lastPollAt: null }
	const overviewWith = (facts: { head: number | null; headUnknownSince?: string; isBehindCheckpoint?: true }) =>
		overviewOf({ health: async () => ({ ok: true, reason: null, networks: [{ ...network, ...facts }] }) })
	const unknown = await overviewWith({ head: null, headUnknownSince: '2026-11-20T10:00:00.000Z' })
	expect(unknown.found.networks[0]).toMatchObject({ head: null, lagBlocks: null })
	expect(unknown.text.replaceAll(/<[^>]*>/g, '')).toMatch(/unknown since 2026-11-20 10:00/)
	const behind = await overviewWith({ head: 3, isBehindCheckpoint: true })
	expect(behind.found.networks[0]).toMatchObject({ head: 3, lagBlocks: null })
	expect(behind.text).not.toContain('0 blocks')
	expect((await overviewWith({ head: 9 })).found.networks[0]).toMatchObject({ lagBlocks: 0 })
})

test('default: each chart has two axes with labels', async () => {
	const { text } = await overviewOf({ activity: eventful() })
	const charts = text.match(/<figure[\s\S]*?<\/figure>/g) ?? []
	expect(charts).toHaveLength(2)
	for (const one of charts) {
		const labels = [...one.matchAll(/<span>([^<]*)<\/span>/g)].map(([, words]) => words)
		expect(labels).toEqual(['1', '0', '24 h ago', '18 h', '12 h', '6 h', 'now'])
	}
	expect(text).not.toMatch(/ style=/)
})
