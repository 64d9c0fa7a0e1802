// Pages and mails in a real Chromium: nothing for axe-core to find, no error, no request to elsewhere, on any screen.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Delivery } from '../../src/model/delivery.js'
import type { Announcement, ReceiverSummary } from '../../src/model/state.js'
import { composeMessage } from '../../src/notify/text/message.js'
import type { PageFacts } from '../../src/pages/pageData.js'
import { alertData, alertDeliveryOf, digestData, messageOf, systemData, undeliveredData } from '../notify/samples.js'
import { addressOf } from '../state/samples.js'
import { notProved } from '../support/notProved.js'
import { soaked } from '../support/soak.js'
import { announcedOf, announcementsOf, manyWatches, pageFacts, servePages, shownState } from './facts.js'

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
	existsSync(path),
)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const hostile = '</td><script>alert(1)</script><img src=x onerror=alert(2)>"\'&amp;\u202e'
/** Between them both widths and both themes. */
const screens = [
	{ viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
	{ viewport: { width: 1366, height: 900 }, colorScheme: 'light' },
] as const

/** In place of Playwright's half a minute, which a busy machine may take to start a browser. */
const timeout = 150_000

async function contextOf(browser: Browser, options: BrowserContextOptions = {}) {
	const context = await browser.newContext(options)
	context.setDefaultTimeout(timeout)
	return context
}

let browser: Browser | null = null
beforeAll(async () => {
	if (program === undefined) notProved("pages in a browser: there is no chromium (Debian's package)")
	else browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout })
})
afterAll(async () => {
	await browser?.close()
})

function waitingOf(number: number, rest: Partial<Delivery>): Delivery {
	const data = { watch: { address: alertData().watch.address, label: hostile, tags: [hostile], watchlist: 'a.yaml' } }
	return alertDeliveryOf(number, rest, data)
}

const dead: Delivery[] = [
	waitingOf(1, { status: 'dead', attempts: 7, lastError: hostile }),
	waitingOf(2, { refused: { sinceMs: 1, times: 0 }, attempts: 1, lastError: hostile }),
	waitingOf(3, {
		status: 'pending',
		attempts: 2,
		lastError: 'hook answered 503',
		nextAttemptAtMs: Date.now() + 60_000,
	}),
]
const counts: ReceiverSummary = { pending: 1, held: 0, parked: 1, dead: 1, delivered: 5, lastDeliveredAtMs: Date.now() }
const network = { network: 'ethereum', checkpoint: 103, head: 110, lastPollAt: new Date().toISOString() }
const why = `${hostile} no block of ethereum was scanned since yesterday`

const lookalike = { of: alertData().from ?? '', label: hostile, prefix: 4, suffix: 5 }
const longToken = {
	standard: 'erc20',
	...{ address: alertData().watch.address, symbol: hostile, decimals: null, known: false },
	...{ amountRaw: '9'.repeat(78), amount: null, tokenId: null },
} as const
const gathered = [
	...Array.from({ length: 12 }, (_, at) => waitingOf(at + 1, {})),
	alertDeliveryOf(13, {}, { lookalike }),
	alertDeliveryOf(14, {}, { kind: 'unexplained', frameType: 'balance' }),
	alertDeliveryOf(15, {}, { kind: 'token', frameType: 'log', token: longToken }),
]

const sites: Readonly<Record<string, () => PageFacts>> = {
	'nothing yet': () => pageFacts(),
	'two networks and alerts of every shape': () => {
		const watch = { ...alertData().watch, label: hostile }
		const announcements = [
			alertData({ watch }),
			alertData({ watch, network: 'base', direction: 'out', value: '123456789.123456789', asset: hostile }),
			alertData({ watch, lookalike }),
			alertData({ watch, kind: 'unexplained', frameType: 'balance', from: null }),
			alertData({ watch, kind: 'token', frameType: 'log', token: longToken, value: null, asset: hostile }),
		].map((data) => announcedOf(data))
		const isOn = (name: string) => (each: Announcement) => each.alerts[0]?.data.network === name
		const [first] = pageFacts().networks
		const networks = first === undefined ? [] : [first, { ...first, name: 'base', chainId: 8453 }]
		return pageFacts({
			watches: manyWatches(3),
			networks,
			health: async () => ({ ok: true, reason: null, networks: [{ ...network, ok: true, reason: null }] }),
			state: (name) => shownState({ announcements: announcementsOf(announcements.filter(isOn(name))) }),
			deliveries: async () => gathered,
		})
	},
	'many watches': () => pageFacts({ watches: manyWatches(soaked(2_000, 100_000)), deliveries: async () => dead }),
	'all is ill': () =>
		pageFacts({
			watches: manyWatches(3, hostile),
			config: { path: hostile, loadedAtMs: Date.now(), isRefused: true },
			health: async () => ({ ok: false, reason: why, networks: [{ ...network, ok: false, reason: why }] }),
			summary: async () => ({ networks: new Map(), receivers: new Map([['hook', counts]]) }),
			deliveries: async () => dead,
		}),
}

const milder = { 'nothing yet': screens[0], 'many watches': screens[0] }

interface Violation {
	readonly id: string
	readonly nodes: readonly { readonly html: string }[]
}

const inWords = (found: readonly Violation[]) => found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)

test.each(Object.entries(sites))('default: pages, %s: nothing for axe-core, nothing too wide', async (name, make) => {
	if (browser === null) return
	const facts = make()
	const origin = await servePages(() => facts)
	// What the full pages show on both is on the others, too.
	for (const screen of name in milder ? [milder[name as keyof typeof milder]] : screens) {
		const context = await contextOf(browser, screen)
		const page = await context.newPage()
		const wrong: string[] = []
		page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
		page.on('pageerror', (error) => wrong.push(String(error)))
		page.on('dialog', (dialog) => void wrong.push(`dialog ${dialog.message()}`))
		page.on('request', (request) => !request.url().startsWith(origin) && wrong.push(request.url()))
		const watch = `/watch?network=ethereum&address=${addressOf(1)}`
		for (const path of ['/', '/alerts', '/watches', '/deliveries', ...(facts.watches.length > 0 ? [watch] : [])]) {
			const at = `${path} ${screen.viewport.width}`
			await page.goto(origin + path)
			await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
			await page.evaluate(axe)
			const found = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)')
			expect(inWords(found), at).toEqual([])
			const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
			expect(wide, at).toBeLessThanOrEqual(0)
			const broken =
				"[...document.querySelectorAll('.address')].filter((one) => one.getClientRects().length > 1).length"
			expect(await page.evaluate<number>(broken), at).toBe(0)
		}
		expect(wrong).toEqual([])
		await context.close()
	}
})

test('behavior: by keyboard alone, from the first key on', async () => {
	if (browser === null) return
	const origin = await servePages(() => pageFacts({ deliveries: async () => dead }))
	const page = await (await contextOf(browser)).newPage()
	await page.goto(`${origin}/alerts`)
	await page.keyboard.press('Tab')
	expect(await page.evaluate('document.activeElement.textContent')).toBe('To the content')
	await page.keyboard.press('Enter')
	expect(await page.evaluate('document.activeElement.id')).toBe('main')
	await page.keyboard.press('Tab')
	await page.keyboard.type('nowhere')
	await page.keyboard.press('Enter')
	await page.waitForURL(/q=nowhere/)
	expect(await page.locator('.alerts tbody th').count()).toBe(0)
	await page.goto(`${origin}/deliveries`)
	await page.locator('.deliveries summary').nth(1).focus()
	await page.keyboard.press('Enter')
	expect(await page.locator('.more:visible').count()).toBe(1)
})

const alert = (rest = {}) => alertData({ watch: { ...alertData().watch, label: hostile }, ...rest })
const mails = {
	transfer: messageOf(alert()),
	removal: messageOf(alert(), 'alert.removed'),
	digest: messageOf(digestData([waitingOf(1, {}), waitingOf(2, {}), waitingOf(3, {})]), 'alert.digest'),
	'digest with alarms': messageOf(digestData(gathered), 'alert.digest'),
	'look-alike': messageOf(alert({ lookalike })),
	unexplained: messageOf(alert({ kind: 'unexplained', frameType: 'balance', endpoints: [hostile], reason: hostile })),
	late: messageOf(alert({ late: true, lagSeconds: 9_000, lateReason: hostile })),
	stalled: messageOf(systemData({ reason: why }), 'system.stalled'),
	undelivered: messageOf(undeliveredData({ reason: why }), 'system.undelivered'),
}

test('default: mails: axe-core finds nothing, and nothing is wider than its screen', async () => {
	if (browser === null) return
	for (const screen of screens) {
		const context = await contextOf(browser, screen)
		const page = await context.newPage()
		const wrong: string[] = []
		page.on('request', (request) => wrong.push(request.url()))
		page.on('dialog', (dialog) => void wrong.push(dialog.message()))
		for (const [name, message] of Object.entries(mails)) {
			const { html, subject } = composeMessage(message)
			await page.setContent(html)
			expect(await page.locator('h1').textContent()).toBe(subject)
			await page.evaluate(axe)
			// Landmarks belong to the mail program.
			const rules = "{ rules: { region: { enabled: false }, 'landmark-one-main': { enabled: false } } }"
			const found = await page.evaluate<Violation[]>(`axe.run(${rules}).then(({ violations }) => violations)`)
			expect(inWords(found), name).toEqual([])
			const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
			expect(wide, name).toBeLessThanOrEqual(0)
		}
		expect(wrong).toEqual([])
		await context.close()
	}
})

test('behavior: the text of an alert in a digest is as wide as the phone, not as a narrow column', async () => {
	if (browser === null) return
	const context = await contextOf(browser, { viewport: { width: 320, height: 640 } })
	const page = await context.newPage()
	await page.setContent(composeMessage(mails['digest with alarms']).html)
	const words = await page.locator('td:has(> strong)').filter({ hasText: ' received ' }).all()
	expect(words.length).toBeGreaterThan(12)
	for (const cell of words) expect((await cell.boundingBox())?.width).toBeGreaterThan(250)
	expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320)
	await context.close()
})
