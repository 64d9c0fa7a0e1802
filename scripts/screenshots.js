// Pages and mails as a browser shows them, with 1,000 watches and 10,000 alerts that are made up here and never change.
// `node scripts/screenshots.js` makes the pictures of the documents, docs/screenshots/*.png; with a FOLDER, every page
// and mail, light and dark, on a desktop and a phone. Needs Debian's chromium. Run it
// after a change of pages or mails, and look at what it made.
import { mkdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { build } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = `${root}node_modules/.cache/tracewatch/modules`
await build({
	input: `${root}src/cli.ts`,
	external: /^(?!@oxc-project)[a-z@]/,
	platform: 'node',
	output: { dir: modules, preserveModules: true, preserveModulesRoot: `${root}src` },
})
const from = (path) => import(`${modules}/${path}`)
const { composeMessage } = await from('notify/text/message.js')
const { isAlarming } = await from('notify/text/alarms.js')
const { headline } = await from('notify/text/sentence.js')
const { createWatchSet } = await from('config/watchlists/table/watchSet.js')
const { toChecksum } = await from('config/address.js')
const { usualKinds } = await from('kinds/all.js')
const { pageAt } = await from('pages/pages.js')
const { startHttp } = await from('ops/httpServer.js')
const { createScrubber } = await from('ops/scrub.js')

const kept = new Set([...['overview-light', 'overview-dark', 'mail-lookalike-light', 'mail-digest-light']])
/** GitHub and mail programs show them small; more is only weight. */
const mostBytes = 200_000
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

const watchCount = 1_000
const alertCount = 10_000
const names = ['Treasury', 'Payroll', 'Hot wallet', 'Bridge', 'Vault', 'Grants', 'Market maker', 'Cold storage']
const hash = (seed) =>
	`0x${((0xb1510085e35454a7n * BigInt(seed + 3)) % 2n ** 64n).toString(16).padStart(16, '0').repeat(4)}`
const addressOf = (number) => toChecksum(`0x${hash(number * 7 + 11).slice(2, 42)}`)
const labelOf = (number) => (number % 9 === 8 ? null : `${names[number % names.length]} ${number}`)
const networkOf = (number) => (number < 800 ? 'ethereum' : 'base')
const usdc = {
	...{
		standard: 'erc20',
		address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
		symbol: 'USDC',
		decimals: 6,
		known: true,
	},
	tokenId: null,
}

/** The alert of this number, 0 the newest, and its deliveries as the history keeps them. */
function story(number) {
	const atMs = nowMs - 40_000 - number * 254_000 - ((number * 7_919) % 90_000)
	const at = (number * 37) % watchCount
	const [network, isOut] = [networkOf(at), number % 3 === 1]
	const decimals = ((number * 104_729 + 250_000) % 1_000_000).toString().padStart(6, '0')
	const [watched, other] = [addressOf(at), addressOf(number % 5 === 0 ? (at + 8) % watchCount : 5_000 + number)]
	const amount = `${(number * 7_351 + 12) % 4_000}.${decimals}`.replace(/\.?0+$/, '')
	const made = alert(number, {
		...{ network, chainId: network === 'base' ? 8453 : 1, txHash: hash(number + 17), direction: isOut ? 'out' : 'in' },
		...{ from: isOut ? watched : other, to: isOut ? other : watched, value: amount },
		...{ valueWei: String(BigInt(Math.round(Number(amount) * 1e6)) * 10n ** 12n), initiator: isOut ? watched : other },
		watch: { address: watched, label: labelOf(at), tags: ['cold'], watchlist: 'treasury.yaml' },
		...{ blockTimestamp: new Date(atMs - 3_000).toISOString(), detectedAt: new Date(atMs).toISOString() },
		...(number % 5 === 0 &&
			labelOf((at + 8) % watchCount) !== null && { counterpartyLabel: labelOf((at + 8) % watchCount) }),
		...(number % 4 === 3 && {
			...{ kind: 'token', frameType: 'log', asset: 'USDC', valueWei: undefined, type: 'alert.token' },
			token: { ...usdc, amount, amountRaw: String(Math.round(Number(amount) * 1e6)) },
		}),
		...(number % 97 === 4 && {
			lookalike: { of: supplier, label: 'Supplier', prefix: 4, suffix: 4 },
			from: imitator,
			direction: 'in',
			to: watched,
			value: '0.000001',
			valueWei: '1000000000000',
		}),
		...(number === 7 && {
			...{
				kind: 'delegation',
				frameType: 'delegation',
				type: 'alert.delegation',
				delegate: other,
				previous: null,
				value: null,
			},
			...{ direction: 'self', from: watched, to: watched },
		}),
	})
	made.data.id = `1:${made.data.txHash}:root:${made.data.kind}:${watched.toLowerCase()}`
	const row = (receiver, rest) => ({
		...{ receiver, recipient: receiver === 'ops-mail' ? 'ops@example.org' : null, createdAtMs: atMs, lastError: null },
		...{ endedAtMs: atMs + 900, result: 'delivered', attempts: 1, message: made, id: `msg_${receiver}_${number}` },
		...{ answer: 'mail.example.org: 250 2.0.0 queued as 4XyZ', seq: 2 * (alertCount - number), ...rest },
	})
	return { made, atMs, rows: [row('ops-mail', {}), row('ops-hook', {})] }
}

const stories = Array.from({ length: alertCount }, (_, number) => story(number))
const past = stories.slice(2).flatMap(({ rows }) => rows)

/** As the store's: newest first, by address where one is asked for. */
const history = {
	async *read({ address, kind }, below) {
		for (let at = below === null ? 0 : Number(below) + 1; at < past.length; at++) {
			const entry = past[at]
			const { watch } = entry.message.data
			const fits = address === undefined || watch.address.toLowerCase() === address.toLowerCase()
			if (fits && (kind === undefined || entry.message.data.kind === kind)) yield { cursor: `${at}`, entry }
			else if (at % 500 === 0) yield { cursor: `${at}`, entry: null }
		}
	},
	async close() {},
}

/** A day of a watcher. `ill`: what is wrong with it. */
function facts(ill = 'nothing') {
	const answers = {
		'ops-mail': { result: 'delivered', words: 'mail.example.org: 250 2.0.0 queued as 4XyZ' },
		'ops-hook':
			ill === 'nothing'
				? { result: 'delivered', words: 'hooks.example.org answered 204' }
				: { result: 'retry', words: 'hooks.example.org answered 503' },
	}
	const rules = {
		...{ network: 'ethereum', tags: ['cold'], kinds: usualKinds, direction: 'both', minValueWei: 1n },
		...{ receivers: ['ops-mail', 'ops-hook'], fromBlock: null, watchlist: 'treasury.yaml' },
	}
	const watches = createWatchSet()
	for (const network of ['ethereum', 'base']) {
		const own = { ...rules, network }
		const table = watches.begin(network, 'treasury.yaml')
		for (let number = 0; number < watchCount; number++) {
			const special = number % 11 === 5 ? { ...own, kinds: ['transfer', 'deployment'], tags: ['hot', 'eu'] } : own
			if (networkOf(number) === network) table.add(addressOf(number).toLowerCase(), labelOf(number), special)
		}
		watches.end([own])
	}
	const counts = { pending: 0, held: 0, parked: 0, dead: 0, delivered: 19_998, lastDeliveredAtMs: nowMs - 47_000 }
	const isStalled = ill === 'stalled'
	const why =
		'ethereum is not scanned: no endpoint has answered for 12 min: mainnet.example.org: connection refused. ' +
		'To do: see whether the node runs and can be reached from this machine'
	const well = { ok: true, reason: null, lastPollAt: new Date(nowMs - 4_000).toISOString() }
	const seen = (head, source, closedTo, kept) => ({
		seen: { head, source, books: { closedTo, closed: kept, kept, open: [], openCount: 0, reason: null } },
	})
	const network = (name, chainId, host, explorer) => ({
		...{ name, chainId, symbol: 'ETH', decimals: 18, endpoints: [host], explorer },
	})
	const receiver = { fallback: null }
	return {
		...{ version: '1.0.0', clock: () => nowMs, startedAtMs: nowMs - 9 * 86_400_000, watches: watches.set() },
		config: { path: 'tracewatch.yaml', loadedAtMs: nowMs - 5_400_000, isRefused: false },
		networks: [
			network('ethereum', 1, 'mainnet.example.org', 'https://etherscan.io'),
			network('base', 8453, 'base.example.org', 'https://basescan.org'),
		],
		receivers: [
			{ ...receiver, name: 'ops-mail', type: 'email', place: 'mail.example.org', fallback: 'ops-hook' },
			{ ...receiver, name: 'ops-hook', type: 'webhook', place: 'hooks.example.org' },
		],
		health: async () => ({
			...(isStalled ? { ok: false, status: 'stalled', reason: why, reasons: [why] } : { ok: true, reason: null }),
			networks: [
				{
					...{ ...well, network: 'ethereum', checkpoint: 23_840_113, head: 23_840_113 },
					...(isStalled && { ok: false, reason: why, lastPollAt: new Date(nowMs - 720_000).toISOString() }),
				},
				{ ...well, network: 'base', checkpoint: 38_512_006, head: 38_512_007 },
			],
		}),
		summary: async () => ({
			networks: new Map([
				['ethereum', seen(23_840_113, 'trace_filter', 23_840_113, 800)],
				['base', seen(38_512_007, 'debug_traceBlockByNumber', 38_512_006, 200)],
			]),
			receivers: new Map([
				['ops-mail', counts],
				['ops-hook', ill === 'nothing' ? counts : { ...counts, pending: 2, failedAttempts: 3, delivered: 19_996 }],
			]),
		}),
		deliveries: async () =>
			stories.slice(0, 2).flatMap(({ rows: [first, second] }, number) =>
				[
					{ ...first, status: 'pending' },
					{ ...second, status: 'pending' },
				].map(({ seq, endedAtMs, result, answer, ...rest }) => ({
					...rest,
					...{
						answers: null,
						attempts: number,
						nextAttemptAtMs: nowMs + 5_000,
						lastError: 'hooks.example.org answered 503',
					},
				})),
			),
		history,
		endpoint: (network) => (network === 'base' ? 'base.example.org' : 'mainnet.example.org'),
		lastAnswer: (receiver) => ({ ...answers[receiver], atMs: nowMs }),
		readBooks: async () => (name, address) => {
			const number = Number(BigInt(address) % 1_000_000n)
			return {
				block: name === 'base' ? 38_512_006n : 23_840_113n,
				balanceWei: BigInt(number) * 10n ** 15n + BigInt(number % 7),
			}
		},
		contractOf: () => null,
		announcements: (network) =>
			stories.slice(0, 12).flatMap(({ made: { type, data } }, number) => {
				const block = { number: BigInt(data.blockNumber), hash: data.blockHash }
				return data.network === network
					? [{ id: `${number}`, block, txHash: data.txHash, status: 'announced', alerts: [{ type, data }] }]
					: []
			}),
		...{ says: headline, isAlarming, checksum: toChecksum },
	}
}

const desktop = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }
const letter = { width: 720, height: 900 }
const shots = Object.fromEntries(
	['light', 'dark'].flatMap((colorScheme) => [
		[colorScheme, { colorScheme, viewport: desktop }],
		[`phone-${colorScheme}`, { colorScheme, viewport: phone }],
	]),
)
const watched = addressOf(37)
const pages = {
	overview: '/',
	alerts: '/alerts',
	watches: '/watches',
	watch: `/watch?network=ethereum&address=${watched}`,
	deliveries: '/deliveries',
	degraded: '/',
	'not-watching': '/',
}
const ills = { degraded: 'receiver', 'not-watching': 'stalled' }

const folder = process.argv[2]
const out =
	folder === undefined ? fileURLToPath(new URL('../docs/screenshots/', import.meta.url)) : `${resolve(folder)}/`
mkdirSync(out, { recursive: true })
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const made = new Map(['nothing', 'receiver', 'stalled'].map((ill) => [ill, facts(ill)]))
let ill = 'nothing'
const server = await startHttp({
	...{ host: '127.0.0.1', port: 0, version: '1.0.0', scrubber: createScrubber(), log },
	metrics: { text: async () => '', contentType: 'text/plain' },
	health: () => made.get(ill).health(),
	pages: (path, params) => pageAt(path, params, () => made.get(ill)),
})
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
	for (const [screen, options] of Object.entries(shots)) {
		const page = await (await browser.newContext({ ...options, timezoneId: 'UTC', locale: 'en-GB' })).newPage()
		for (const [name, path] of Object.entries(pages)) {
			if (!isKept(`${name}-${screen}`)) continue
			ill = ills[name] ?? 'nothing'
			await page.goto(`http://127.0.0.1:${server.port}${path}`)
			await shoot(page, `${name}-${screen}`)
			if (name !== 'alerts') continue
			await page.locator('summary').nth(2).click()
			await shoot(page, `alert-open-${screen}`)
		}
		for (const [name, message] of Object.entries(mails)) {
			if (!isKept(`mail-${name}-${screen}`)) continue
			// Not the page before, whose policy would take the styles of the mail.
			const mail = await page.context().newPage()
			await mail.setViewportSize(options.viewport === phone ? phone : letter)
			await mail.setContent(composeMessage(message).html)
			await shoot(mail, `mail-${name}-${screen}`)
		}
		await page.context().close()
	}
} finally {
	await browser.close()
	await server.close()
}

/** Without a folder only the pictures of the documents are made. */
function isKept(name) {
	return folder !== undefined || kept.has(name)
}

async function shoot(page, name) {
	const path = `${out}${name}.png`
	await page.screenshot({ path })
	const { size } = statSync(path)
	console.log(`${name}.png ${Math.round(size / 1000)} kB`)
	if (folder === undefined && size > mostBytes)
		throw new Error(`${name}.png has ${size} bytes; ${mostBytes} is the most`)
}
