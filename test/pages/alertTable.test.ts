// Alerts, a line each, and the page of a watch.
import { describe, expect, test } from 'vitest'
import { createWatchSet } from '../../src/config/watchlists/table/watchTable.js'
import { usualKinds } from '../../src/kinds/all.js'
import type { Address } from '../../src/model/glossary.js'
import type { WatchRules } from '../../src/model/watch.js'
import { alertDeliveryOf, deliveryOf, messageOf, payer, startMs, systemData, treasury } from '../notify/samples.js'
import { pageFacts, servePages, shownState } from './facts.js'

const clock = () => startMs + 3_600_000
const other = '0x00000000000000000000000000000000000D0001'

function watchSet(rules: Partial<WatchRules> = {}) {
	const whole: WatchRules = {
		...{ network: 'ethereum', tags: ['cold'], kinds: usualKinds, direction: 'both', minValueWei: 1n },
		...{ receivers: ['hook'], fromBlock: null, watchlist: 'treasury.yaml' },
		...rules,
	}
	const gathered = createWatchSet()
	const table = gathered.begin('ethereum', whole.watchlist)
	table.addOnceSince(table.length, treasury.toLowerCase() as Address, 'Treasury', whole)
	return gathered.set()
}

const paid = { direction: 'out', from: treasury, to: other } as const
const deliveries = [
	alertDeliveryOf(1, { createdAtMs: startMs }, { value: '7', valueWei: '7000000000000000000' }),
	alertDeliveryOf(
		2,
		{ createdAtMs: startMs + 1_000, status: 'dead' },
		{ ...paid, value: '0.5', valueWei: '500000000000000000' },
	),
	deliveryOf(3, { createdAtMs: startMs + 2_000, message: messageOf(systemData(), 'system.stalled') }),
	alertDeliveryOf(4, { createdAtMs: startMs + 3_000 }, { value: '12500', valueWei: '12500000000000000000000' }),
]
const explorer = 'https://explorer.example'
const network = { name: 'ethereum', chainId: 1, symbol: 'ETH', decimals: 18, explorer, endpoints: ['node.example.org'] }
const facts = () => pageFacts({ clock, deliveries: async () => deliveries, watches: watchSet(), networks: [network] })
const words = (text: string) =>
	text
		.replaceAll(/<[^>]*>/g, ' ')
		.replaceAll(/\s+/g, ' ')
		.trim()
const rowsOf = (text: string) =>
	[...text.matchAll(/<tr(?: class="loud")?>(<th scope="row">[\s\S]*?)<\/tr>/g)].map(([, row]) => words(row ?? ''))

describe('the page of alerts', () => {
	test('default: newest first; what happened in a sentence; a mark for each delivery', async () => {
		const url = await servePages(facts)
		const text = await (await fetch(`${url}/alerts`)).text()
		expect(rowsOf(text)).toEqual([
			expect.stringMatching(
				/^59 min ago : details \[ethereum\] Treasury received 12500 ETH .* transfer … pending hook$/,
			),
			expect.stringMatching(/^59 min ago : details \[ethereum\] STALLED: .* system.stalled … pending hook$/),
			expect.stringMatching(/^59 min ago : details \[ethereum\] Treasury sent 0.5 ETH .* transfer ✗ dead hook$/),
			expect.stringMatching(/^60 min ago : details \[ethereum\] Treasury received 7 ETH .* transfer … pending hook$/),
		])
		// The exact time is there once, on hover, and once more in the details.
		expect(text).toContain(
			'<time class="ago" datetime="2026-11-20T10:00:03Z" title="2026-11-20 10:00:03 UTC">59 min ago',
		)
		expect(text).toContain(`<a href="/watch?network=ethereum&amp;address=${treasury}"`)
		expect(text).toMatch(/<select id="f-kind"[^>]*><option value="">any<\/option><option>transfer<\/option>/)
	})

	test('behavior: only who asks for it has the page loaded again by itself', async () => {
		const url = await servePages(facts)
		const text = await (await fetch(`${url}/alerts?q=treasury`)).text()
		expect(text).not.toContain('http-equiv')
		expect(text).toContain('href="/alerts?q=treasury&amp;refresh=60"')
		expect(await (await fetch(`${url}/alerts?refresh=60`)).text()).toContain('<meta http-equiv="refresh" content="60">')
	})
})

describe('the page of a watch', () => {
	const own = `/watch?network=ethereum&address=${treasury}`

	test('default: the page of a watch shows its settings, balance with the block, movements and alerts', async () => {
		const book = { block: 19_000_000n, balanceWei: 1_234_500_000_000_000_000_001n, movedWei: 0n }
		const books = new Map([[treasury.toLowerCase() as Address, book]])
		const url = await servePages(() => ({ ...facts(), state: () => shownState({ books }) }))
		const found: ReturnType<typeof JSON.parse> = await (await fetch(`${url}${own}&format=json`)).json()
		expect(found.watches).toMatchObject([
			{
				label: 'Treasury',
				tags: ['cold'],
				receivers: ['hook'],
				book: { closedTo: 19_000_000, asset: 'ETH' },
				minValue: null,
			},
		])
		expect(found.movements).toMatchObject({ asset: 'ETH', sumIn: '12507', sumOut: '0.5' })
		expect([found.movements.in.at(-1), found.movements.out.at(-1), found.movements.in.length]).toEqual([
			'12507',
			'0.5',
			30,
		])
		expect(found.alerts).toHaveLength(3)
		const text = await (await fetch(`${url}${own}`)).text()
		expect(words(text)).toContain('1,234.500000000000000001 ETH at block 19,000,000')
		expect(words(text)).toContain('Alerts the default kinds')
		const [chart = '', ...others] = text.match(/<figure[\s\S]*?<\/figure>/g) ?? []
		expect(others).toEqual([])
		expect([...chart.matchAll(/<span>([^<]*)<\/span>/g)].map(([, label]) => label)).toEqual([
			...['+12,507 ETH', '−0.5 ETH', '10-22', '10-31', '11-10', 'today'],
		])
		expect(text).not.toMatch(/ style=/)
		expect(text).toContain(`href="${explorer}/address/${treasury.toLowerCase()}"`)
		expect(rowsOf(text)).toHaveLength(3)
	})

	test('behavior: a retracted alert is no movement', async () => {
		const [first] = deliveries
		if (first === undefined) throw new Error('none')
		const removed = { ...first, id: 'msg_r', message: { ...first.message, type: 'alert.removed' as const } }
		const url = await servePages(() => ({ ...facts(), deliveries: async () => [...deliveries, removed] }))
		const found: ReturnType<typeof JSON.parse> = await (await fetch(`${url}${own}&format=json`)).json()
		expect(found.movements).toMatchObject({ sumIn: '12500', sumOut: '0.5' })
	})

	test('behavior: the page of a watch is reached from watches and alerts, in either case of the address', async () => {
		const url = await servePages(facts)
		for (const path of ['/watches', '/alerts', '/deliveries']) {
			const href = /href="(\/watch\?[^"]*)"/
				.exec(await (await fetch(`${url}${path}`)).text())?.[1]
				?.replaceAll('&amp;', '&')
			expect((await fetch(`${url}${href}`)).status, path).toBe(200)
		}
	})

	test('error: an address that no watchlist names', async () => {
		const url = await servePages(facts)
		for (const query of [`network=ethereum&address=${payer}`, `network=base&address=${treasury}`, 'network=ethereum']) {
			expect((await fetch(`${url}/watch?${query}`)).status).toBe(404)
		}
	})
})

describe('the page of watches', () => {
	test.each([
		['the default kinds', {}],
		['the default kinds; out only', { direction: 'out' }],
		['transfer, income', { kinds: ['transfer', 'income'] }],
	] as const)('default: %s', async (said, rules) => {
		const url = await servePages(() => ({ ...facts(), watches: watchSet(rules) }))
		const text = await (await fetch(`${url}/watches`)).text()
		expect(text).toContain(`<td data-name="Alerts">${said}</td>`)
	})
})
