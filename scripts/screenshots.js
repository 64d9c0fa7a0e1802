// docs/screenshots/*.png: the overview and mails as a browser shows them, with what is made up here and never changes.
// Needs `npm run build` and Debian's chromium. Run it after a change of pages or mails, and look at what it made.
import { mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const from = (path) => import(new URL(`../dist/${path}`, import.meta.url).href)
const { composeMessage } = await from('notify/text/message.js')
const { isAlarming } = await from('notify/text/alarms.js')
const { headline } = await from('notify/text/sentence.js')
const { createWatchSet } = await from('config/watchlists/watchSet.js')
const { createActivity, bucketMs } = await from('pages/activity.js')
const { pageAt } = await from('pages/pages.js')
const { startHttp } = await from('ops/http.js')
const { createScrubber } = await from('ops/scrub.js')

const out = fileURLToPath(new URL('../docs/screenshots/', import.meta.url))
/** GitHub and mail programs show them small; more is only weight. */
const mostBytes = 150_000
const nowMs = Date.UTC(2026, 10, 20, 10, 0, 30)
const treasury = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e'
const supplier = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const imitator = '0xD8da6a7C12e9B3F48c5d0e1F2a3b4C5d6e7F6045'

function alert(number, rest = {}) {
	const txHash = `0x${(0xb1510085e35454a7n * BigInt(number + 3)).toString(16).padStart(16, '0').repeat(4)}`
	const data = {
		...{ id: `1:${txHash}:0_0_0:transfer:${treasury.toLowerCase()}`, network: 'ethereum', chainId: 1 },
		...{ blockNumber: 23_840_100 + number, blockHash: `0x${'ecd5aef1aa7fe77c'.repeat(4)}`, txHash, txIndex: 3 },
		...{ blockTimestamp: new Date(nowMs - (13 - number) * 47_000).toISOString(), traceAddress: [0, 0, 0] },
		...{ kind: 'transfer', frameType: 'call', category: 'internal', direction: 'in', from: supplier, to: treasury },
		...{ valueWei: '750000000000000000', value: '0.75', asset: 'ETH', finality: 'latest', lagSeconds: 3, late: false },
		watch: { address: treasury, label: 'Treasury', tags: ['cold'], watchlist: 'treasury.yaml' },
		detectedAt: new Date(nowMs - (13 - number) * 47_000 + 3_000).toISOString(),
		...rest,
	}
	const explorer = 'https://etherscan.io'
	data.links = { tx: `${explorer}/tx/${data.txHash}`, block: `${explorer}/block/${data.blockNumber}` }
	return {
		type: rest.type ?? 'alert.transfer',
		timestamp: data.detectedAt,
		data: { ...data, deliveryId: `msg_${number}` },
	}
}

const paid = { direction: 'out', from: treasury, to: supplier }
const lookalike = { of: supplier, label: 'Supplier', prefix: 4, suffix: 4 }
const alerts = [
	alert(1, { from: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512' }),
	alert(2, { ...paid, value: '12.5', valueWei: '12500000000000000000', counterpartyLabel: 'Supplier' }),
	alert(3, { from: imitator, value: '0.000001', valueWei: '1000000000000', lookalike }),
	alert(4, { value: '3.141592653589793238', valueWei: '3141592653589793238', counterpartyLabel: 'Supplier' }),
]
const digest = {
	type: 'alert.digest',
	timestamp: alerts[3].timestamp,
	data: { id: 'digest:0123456789abcdef', alerts, deliveryId: 'msg_5' },
}
const mails = { alert: alerts[0], lookalike: alerts[2], digest }

/** A day of a healthy watcher, with one receiver that was down for a while. */
function facts() {
	let at = nowMs
	const activity = createActivity(() => at)
	for (let bucket = 143; bucket >= 0; bucket--) {
		at = nowMs - bucket * bucketMs
		activity.lagged('ethereum', bucket > 60 && bucket < 66 ? 42 - Math.abs(63 - bucket) * 9 : bucket % 7 === 3 ? 1 : 0)
		activity.lagged('base', bucket % 5 === 3 ? 3 : 1)
		const many = Math.max(0, Math.round(6 * Math.sin(bucket / 9) + (bucket % 4)))
		for (let number = 0; number < many; number++) activity.alerted(alerts[0].data, at)
	}
	at = nowMs
	activity.requested('ethereum', 'mainnet.example.org')
	activity.requested('base', 'base.example.org')
	activity.attempted('ops-mail', { result: 'delivered', answer: 'mail.example.org: 250 2.0.0 queued as 4XyZ' })
	activity.attempted('ops-hook', { result: 'retry', code: 'http', reason: 'hooks.example.org answered 503' })
	const rules = {
		...{ network: 'ethereum', tags: ['cold'], kinds: ['transfer'], direction: 'both', minValueWei: 1n },
		...{ receivers: ['ops-mail'], fromBlock: null, watchlist: 'treasury.yaml' },
	}
	const watches = createWatchSet()
	for (const [network, count] of [
		['ethereum', 128],
		['base', 12],
	]) {
		const table = watches.begin(network, 'treasury.yaml')
		for (let number = 1; number <= count; number++) {
			table.add(`0x${number.toString(16).padStart(40, '0')}`, `Customer ${number}`, { ...rules, network })
		}
		watches.end([{ ...rules, network }])
	}
	const counts = { pending: 0, held: 0, parked: 0, dead: 0, delivered: 412, lastDeliveredAtMs: nowMs - 47_000 }
	const well = { ok: true, reason: null, lastPollAt: new Date(nowMs - 4_000).toISOString() }
	const seen = (head, source, closedTo, kept) => ({
		seen: { head, source, books: { closedTo, closed: kept, kept, open: [], reason: null } },
	})
	const network = (name, chainId, host) => ({ name, chainId, symbol: 'ETH', decimals: 18, endpoints: [host] })
	const receiver = { fallback: null, silences: [] }
	return {
		...{ version: '0.2.0', clock: () => nowMs, startedAtMs: nowMs - 9 * 86_400_000, watches: watches.set() },
		config: { path: '/etc/tracewatch/tracewatch.yaml', loadedAtMs: nowMs - 5_400_000, isRefused: false },
		networks: [network('ethereum', 1, 'mainnet.example.org'), network('base', 8453, 'base.example.org')],
		receivers: [
			{ ...receiver, name: 'ops-mail', type: 'email', place: 'mail.example.org', fallback: 'ops-hook' },
			{ ...receiver, name: 'ops-hook', type: 'webhook', place: 'hooks.example.org' },
		],
		health: async () => ({
			...{ ok: true, reason: null },
			networks: [
				{ ...well, network: 'ethereum', checkpoint: 23_840_113, head: 23_840_113 },
				{ ...well, network: 'base', checkpoint: 38_512_006, head: 38_512_007 },
			],
		}),
		summary: async () => ({
			networks: new Map([
				['ethereum', seen(23_840_113, 'trace_filter', 23_840_113, 128)],
				['base', seen(38_512_007, 'debug_traceBlockByNumber', 38_512_006, 12)],
			]),
			receivers: new Map([
				['ops-mail', counts],
				['ops-hook', { ...counts, pending: 2, delivered: 398 }],
			]),
		}),
		...{ deliveries: async () => [], history: null, activity, book: () => null, announcements: () => [] },
		...{ says: headline, isAlarming, checksum: (address) => address },
	}
}

const screens = {
	light: { colorScheme: 'light', viewport: { width: 1280, height: 1100 } },
	dark: { colorScheme: 'dark', viewport: { width: 1280, height: 1100 } },
	phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
}
const letters = { ...screens }
letters.light = { colorScheme: 'light', viewport: { width: 720, height: 900 } }
letters.dark = { colorScheme: 'dark', viewport: { width: 720, height: 900 } }

mkdirSync(out, { recursive: true })
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const made = facts()
const server = await startHttp({
	...{ host: '127.0.0.1', port: 0, version: made.version, scrubber: createScrubber(), log },
	metrics: { text: async () => '', contentType: 'text/plain' },
	health: () => made.health(),
	pages: (path, params) => pageAt(path, params, () => made),
})
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
	for (const [name, screen] of Object.entries(screens)) {
		const context = await browser.newContext({ ...screen, timezoneId: 'UTC', locale: 'en-GB' })
		const page = await context.newPage()
		await page.goto(`http://127.0.0.1:${server.port}/`)
		await shoot(page, `overview-${name}`, false)
		await context.close()
	}
	for (const [mail, message] of Object.entries(mails)) {
		for (const [name, screen] of Object.entries(letters)) {
			const context = await browser.newContext(screen)
			const page = await context.newPage()
			await page.setContent(composeMessage(message).html)
			await shoot(page, `mail-${mail}-${name}`, mail !== 'digest')
			await context.close()
		}
	}
} finally {
	await browser.close()
	await server.close()
}

async function shoot(page, name, fullPage) {
	const path = `${out}${name}.png`
	await page.screenshot({ path, fullPage })
	const { size } = statSync(path)
	console.log(`${name}.png ${Math.round(size / 1000)} kB`)
	if (size > mostBytes) throw new Error(`${name}.png has ${size} bytes; ${mostBytes} is the most`)
}
