// The overview: the latest alerts first, alarms counted, the reason once.
import { expect, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Announcement } from '../../src/model/state.js'
import { alertData, payer, startMs } from '../notify/samples.js'
import { addressOf } from '../state/samples.js'
import { announcedOf, announcementsOf, manyWatches, pageFacts, servePages, shownState } from './facts.js'

const clock = () => startMs + 60_000
const hourMs = 3_600_000
const lookalike = { of: payer, label: 'Supplier', prefix: 4, suffix: 4 }

const announced = (part: Partial<AlertData>, atMs: number, status?: Announcement['status']) =>
	announcedOf(alertData({ ...part, detectedAt: new Date(atMs).toISOString() }), status)

const eventful = () => [
	announced({ id: 'b', value: '12500.25' }, startMs - 2 * hourMs),
	announced({ id: 'd', value: '3', lookalike }, startMs),
	announced({ id: 'c', kind: 'balance', crossed: 'below', threshold: '2' }, startMs - hourMs),
]

async function overviewOf(rest: Parameters<typeof pageFacts>[0]) {
	const url = await servePages(() => pageFacts({ clock, ...rest }))
	const found: ReturnType<typeof JSON.parse> = await (await fetch(`${url}/?format=json`)).json()
	return { found, text: await (await fetch(url)).text() }
}

test('default: the latest alerts first, newest at the top, before networks and receivers', async () => {
	const { found, text } = await overviewOf({ state: () => shownState({ announcements: announcementsOf(eventful()) }) })
	expect(found.latest.map(({ id }: { id: string }) => id)).toEqual(['d', 'c', 'b'])
	expect(found.latest[0]).toMatchObject({
		type: 'alert.transfer',
		toldAt: new Date(startMs).toISOString(),
		says: expect.stringMatching(/^\[ethereum\] LOOK-ALIKE: Treasury received 3 ETH/),
	})
	const at = ['id="health"', 'id="latest"', 'id="networks"', 'id="receivers"'].map((id) => text.indexOf(id))
	expect(at).toEqual(at.toSorted((one, other) => one - other))
	expect(at).not.toContain(-1)
	expect(text.replaceAll(/<[^>]*>/g, '')).toContain('12500.25 ETH')
})

test('behavior: at most 12 of them are shown, and a retraction is one', async () => {
	const all = Array.from({ length: 40 }, (_, at) => announced({ id: `${at}` }, startMs - at * 1_000))
	const retracted = announced({ id: 'r' }, startMs + 1_000, 'retracted')
	const { found } = await overviewOf({
		state: () => shownState({ announcements: announcementsOf([...all, retracted]) }),
	})
	expect(found.latest).toHaveLength(12)
	expect(found.latest[0]).toMatchObject({ id: 'r', type: 'alert.removed' })
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

test('behavior: the last event of a watch is its own newest in the chain, whichever was announced last', async () => {
	const watch = { ...alertData().watch, address: addressOf(1) }
	const all = [
		announced({ id: 'new', watch, blockNumber: 9 }, startMs),
		announced({ id: 'old', watch, blockNumber: 8 }, startMs + hourMs),
		announced({ id: 'other', watch: { ...watch, address: addressOf(3) }, blockNumber: 10 }, startMs),
	]
	const state = () => shownState({ announcements: announcementsOf(all) })
	const url = await servePages(() => pageFacts({ clock, state, watches: manyWatches(2) }))
	const found: ReturnType<typeof JSON.parse> = await (await fetch(`${url}/watches?format=json`)).json()
	const [first, second] = found.watches.map(({ lastEvent }: { lastEvent: unknown }) => lastEvent)
	expect([first, second]).toEqual([{ id: 'new', at: new Date(startMs).toISOString(), block: 9 }, null])
})
