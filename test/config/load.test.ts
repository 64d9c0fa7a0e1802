// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../../src/base/sha256.js'
import { findConfig, loadConfig } from '../../src/config/load.js'
import { followWatchlists } from '../../src/config/watchlists/followWatchlists.js'
import { ConfigError, StateError } from '../../src/errors.js'
import type { WatchlistCopies } from '../../src/model/state.js'
import { temporaryFolder } from '../support/folder.js'
import { timesOf } from '../support/processor.js'
import { testInSoak } from '../support/soak.js'

let folder: string
const env = {
	ETHEREUM_RPC_URL: 'https://rpc.example.org/5c1f7a90b3e84d26/evm',
	SMTP_URL: 'smtps://user:password@mail.example.org',
	OPS_HOOK_URL: 'https://hooks.example.org/abc',
	OPS_HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
}

const noFallback = (name: string) =>
	`\`${name}\` has no \`fallback\`; if it stops accepting messages, alerts wait and no one is notified`

/** An example of everything. */
const settings = `networks:
  - name: ethereum               # in watchlists, alerts, metrics
    chain_id: 1                  # compared with eth_chainId; an endpoint of another chain is refused
    rpc:                         # in order of preference; each is {base_url}/<ENDPOINT_KEY>/evm or any URL
      - \${ETHEREUM_RPC_URL}
    schedule: "*/12 * * * * *"   # node-cron, seconds first
    confirmations: 0             # blocks behind head, or: safe, finalized
    symbol: ETH                  # default ETH
    decimals: 18                 # default 18
    explorer: https://etherscan.io
receivers:
  - name: ops-mail
    type: email
    smtp: \${SMTP_URL}            # smtps://user:password@host:465 or smtp://host:587
    from: tracewatch@example.org
    to: [ops@example.org]
  - name: ops-hook
    type: webhook
    url: \${OPS_HOOK_URL}
    secret: \${OPS_HOOK_SECRET}   # whsec_…: Standard Webhooks signature
watchlists: watchlists           # a folder (its *.yaml, *.yml), or a list of files
state: state                     # folder of the state file
http: 127.0.0.1:9464             # metrics, health, status page; absent: none
`

const watchlist = `network: ethereum
receivers: [ops-mail, ops-hook]  # for every watch below that names none
watches:
  - address: 0x742d35Cc6634C0532925a3b844Bc454e4438f44e   # quoted or not; a wrong EIP-55 checksum is an error
    label: Treasury
    tags: [cold]
    kinds: [transfer, deployment]   # default: both
    direction: both                 # in, out, both; default both
    min_value: 0.5                  # in whole coins, exact decimal; or "250 gwei", "1 wei". Default: above 0
    receivers: [ops-hook]
    from_block: 19000000            # default: from the first block after it was first seen
`

const minimal = `networks:
  - {name: base, chain_id: 8453, rpc: ["http://127.0.0.1:8545"]}
receivers:
  - {name: hook, type: webhook, url: "http://127.0.0.1:9000"}
`

const watchOf = (digit: string) => `network: base\nreceivers: [hook]\nwatches: [{address: 0x${digit.repeat(40)}}]\n`

function write(files: Readonly<Record<string, string>>): void {
	for (const [name, content] of Object.entries(files)) {
		const path = join(folder, name)
		mkdirSync(dirname(path), { recursive: true })
		writeFileSync(path, content)
	}
}

const load = () => loadConfig('tracewatch.yaml', { env, cwd: folder })
const problemsOf = async (promise: Promise<unknown>) => {
	const error = await promise.catch((thrown: unknown) => thrown)
	if (!(error instanceof ConfigError)) throw error
	return error.message.split('\n')
}

beforeEach(() => {
	folder = temporaryFolder()
})

describe('loadConfig', () => {
	test('reads an example of everything', async () => {
		write({ 'tracewatch.yaml': settings, 'watchlists/treasury.yaml': watchlist })
		const { secrets, revision, settingsRevision, ...config } = await load()
		expect({ ...config, watches: [...config.watches] }).toEqual({
			historyMs: 90 * 24 * 3_600_000,
			httpPassword: null,
			path: join(folder, 'tracewatch.yaml'),
			networks: [
				{
					name: 'ethereum',
					chainId: 1,
					rpc: ['https://rpc.example.org/5c1f7a90b3e84d26/evm'],
					schedule: '*/12 * * * * *',
					ws: [],
					source: 'auto',
					isPrivate: false,
					keepsBooks: true,
					keepsListedBooks: false,
					requestsPerSecond: null,
					confirmations: 0,
					settle: 'finalized',
					stallAfterMs: 600_000,
					symbol: 'ETH',
					decimals: 18,
					explorer: 'https://etherscan.io',
				},
			],
			receivers: [
				{
					name: 'ops-mail',
					type: 'email',
					smtp: 'smtps://user:password@mail.example.org:465',
					from: 'tracewatch@example.org',
					to: ['ops@example.org'],
					fallback: null,
					digest: null,
				},
				{
					name: 'ops-hook',
					type: 'webhook',
					url: 'https://hooks.example.org/abc',
					format: 'standard',
					secret: env.OPS_HOOK_SECRET,
					headers: {},
					fallback: null,
					digest: null,
				},
			],
			watchlists: {
				folder: join(folder, 'watchlists'),
				named: { file: 'tracewatch.yaml', line: 21, column: 13 },
			},
			statePlace: { kind: 'folder', dir: join(folder, 'state') },
			addressFiles: [],
			heartbeatUrl: null,
			http: { host: '127.0.0.1', port: 9464 },
			watches: [
				{
					network: 'ethereum',
					address: '0x742d35cc6634c0532925a3b844bc454e4438f44e',
					label: 'Treasury',
					tags: ['cold'],
					kinds: ['transfer', 'deployment'],
					direction: 'both',
					minValueWei: 500000000000000000n,
					receivers: ['ops-hook'],
					fromBlock: 19000000n,
					watchlist: 'treasury.yaml',
				},
			],
			watchlistFiles: [join(folder, 'watchlists/treasury.yaml')],
			contents: [{ path: join(folder, 'watchlists/treasury.yaml'), digest: sha256(watchlist) }],
			warnings: [
				{ file: 'tracewatch.yaml', line: 12, column: 11, message: 'no watch names the receiver `ops-mail`' },
				{ file: 'tracewatch.yaml', line: 17, column: 11, message: noFallback('ops-hook') },
			],
		})
		expect(secrets).toContain('password')
		expect(revision).toMatch(/^[0-9a-f]{64}$/)
	})

	test('default: every key that is left out has its default', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': watchOf('1') })
		const { networks, receivers, http, statePlace, watches, warnings } = await load()
		expect(networks).toEqual([
			{
				name: 'base',
				chainId: 8453,
				rpc: ['http://127.0.0.1:8545/'],
				schedule: '*/12 * * * * *',
				ws: [],
				source: 'auto',
				isPrivate: false,
				keepsBooks: true,
				keepsListedBooks: false,
				requestsPerSecond: null,
				confirmations: 0,
				settle: 'finalized',
				stallAfterMs: 600_000,
				symbol: 'ETH',
				decimals: 18,
				explorer: null,
			},
		])
		expect(receivers).toEqual([
			{
				name: 'hook',
				type: 'webhook',
				url: 'http://127.0.0.1:9000/',
				format: 'standard',
				secret: null,
				headers: {},
				fallback: null,
				digest: null,
			},
		])
		expect([http, statePlace]).toEqual([null, { kind: 'folder', dir: join(folder, 'state') }])
		expect(warnings.map(({ message }) => message)).toEqual([noFallback('hook')])
		expect([...watches]).toEqual([
			{
				network: 'base',
				address: `0x${'1'.repeat(40)}`,
				label: null,
				tags: [],
				kinds: [
					'transfer',
					'deployment',
					'call',
					'code',
					'request',
					'token',
					'withdrawal',
					'delegation',
					'control',
					'balance',
					'unexplained',
				],
				direction: 'both',
				minValueWei: 1n,
				receivers: ['hook'],
				fromBlock: null,
				watchlist: 'a.yaml',
			},
		])
	})

	test('the result is frozen to the ground', async () => {
		write({ 'tracewatch.yaml': settings, 'watchlists/treasury.yaml': watchlist })
		const check = (value: unknown): void => {
			if (value === null || typeof value !== 'object') return
			expect(Object.isFrozen(value)).toBe(true)
			for (const item of Object.values(value)) check(item)
		}
		const config = await load()
		const { watches, ...rest } = config
		expect(Object.isFrozen(config)).toBe(true)
		check(Object.freeze(rest))
		expect(Object.isFrozen(watches)).toBe(true)
		for (const watch of watches) check(watch)
		check(watches.rules)
	})

	test('a folder is read by name, hidden files and others left out; symlinks are followed', async () => {
		write({
			'tracewatch.yaml': minimal,
			'watchlists/b.yaml': watchOf('2'),
			'watchlists/a.yml': watchOf('1'),
			'watchlists/.hidden.yaml': 'not: read',
			'watchlists/notes.txt': 'not: read',
			'watchlists/b.yaml~': 'not: read',
			'elsewhere/c.yaml': watchOf('3'),
		})
		symlinkSync('../elsewhere/c.yaml', join(folder, 'watchlists/c.yaml'))
		const { watches } = await load()
		expect([...watches].map((watch) => watch.watchlist)).toEqual(['a.yml', 'b.yaml', 'c.yaml'])
	})

	test('a list of files is read in its order', async () => {
		write({
			'tracewatch.yaml': `${minimal}watchlists: [z.yaml, more/a.yaml]\n`,
			'z.yaml': watchOf('2'),
			'more/a.yaml': watchOf('1'),
		})
		const { watches, watchlistFiles } = await load()
		expect([...watches].map((watch) => watch.watchlist)).toEqual(['z.yaml', 'a.yaml'])
		expect(watchlistFiles).toEqual([join(folder, 'z.yaml'), join(folder, 'more/a.yaml')])
	})

	test('behavior: a network that follows final blocks is given more time before it counts as stalled', async () => {
		const networks = [
			'confirmations: safe',
			'confirmations: finalized',
			'confirmations: 5',
			'stall_after: 90s',
			'stall_after: never',
		]
		write({
			'tracewatch.yaml': minimal.replace(
				/ {2}- \{name: base.*\n/,
				networks
					.map((option, i) => `  - {name: n${i}, chain_id: ${i + 1}, rpc: ["http://127.0.0.1"], ${option}}\n`)
					.join(''),
			),
			'watchlists/a.yaml': watchOf('1').replace('base', 'n0'),
		})
		const minuteMs = 60_000
		expect((await load()).networks.map((network) => network.stallAfterMs)).toEqual([
			45 * minuteMs,
			45 * minuteMs,
			10 * minuteMs,
			1.5 * minuteMs,
			null,
		])
	})

	test('behavior: decimals and symbol of the network decide what an amount is', async () => {
		write({
			'tracewatch.yaml': minimal.replace('chain_id: 8453', 'chain_id: 8453, decimals: 6, symbol: USDX'),
			'watchlists/a.yaml':
				'network: base\nreceivers: [hook]\nwatches:\n' +
				['1.5', '2 usdx', '3 gwei', '4 wei', '0', '0.5 ether']
					.map((amount, index) => `  - {address: 0x${String(index).repeat(40)}, min_value: ${amount}}\n`)
					.join(''),
		})
		const { watches } = await load()
		expect([...watches].map((watch) => watch.minValueWei)).toEqual([
			1500000n,
			2000000n,
			3000000000n,
			4n,
			1n,
			500000000000000000n,
		])
	})

	test('behavior: a transfer, and a balance to be below, is at least 1 wei, a balance to be above 0', async () => {
		write({
			'tracewatch.yaml': minimal,
			'watchlists/a.yaml':
				'network: base\nreceivers: [hook]\nwatches:\n' +
				`  - {address: 0x${'1'.repeat(40)}, min_value: 0, balance_above: 0}\n` +
				`  - {address: 0x${'2'.repeat(40)}, balance_below: 1 wei}\n`,
		})
		const { watches } = await load()
		expect([...watches].map(({ minValueWei, thresholds }) => ({ minValueWei, ...thresholds }))).toEqual([
			{ minValueWei: 1n, belowWei: null, aboveWei: 0n },
			{ minValueWei: 1n, belowWei: 1n, aboveWei: null },
		])
	})

	test('behavior: texts that look like numbers, booleans or dates stay texts', async () => {
		const labels = ['017', '1.10', '1e18', 'yes', 'true', '2026-11-20', '12:30:45', '0x1F', '.inf']
		write({
			'tracewatch.yaml': minimal,
			'watchlists/a.yaml': `network: base\nreceivers: [hook]\nwatches:\n${labels
				.map((label, index) => `  - {address: 0x${String(index).repeat(40)}, label: ${label}}\n`)
				.join('')}`,
		})
		expect([...(await load()).watches].map((watch) => watch.label)).toEqual(labels)
	})

	test('behavior: anchors and aliases within a file', async () => {
		write({
			'tracewatch.yaml': minimal,
			'watchlists/a.yaml':
				`network: base\nwatches:\n  - {address: 0x${'1'.repeat(40)}, receivers: &who [hook]}\n` +
				`  - {address: 0x${'2'.repeat(40)}, receivers: *who}\n`,
		})
		expect([...(await load()).watches].map((watch) => watch.receivers)).toEqual([['hook'], ['hook']])
	})

	test('behavior: a problem behind an alias is reported where the text stands', async () => {
		write({
			'tracewatch.yaml': minimal,
			'watchlists/a.yaml':
				`network: base\nwatches:\n  - {address: 0x${'1'.repeat(40)}, receivers: &who [hok]}\n` +
				`  - {address: 0x${'2'.repeat(40)}, receivers: *who}\n`,
		})
		const message = 'watchlists/a.yaml:3:76: no receiver `hok` is in the settings; did you mean `hook`?'
		expect(await problemsOf(load())).toEqual([message])
	})

	test('behavior: `digest` of a format that sends each alert alone is a warning', async () => {
		const pager = `{name: hook, type: webhook, format: pagerduty, url: "https://events.pagerduty.com/v2/enqueue"`
		const rest = `, routing_key: ${'a1'.repeat(16)}, digest: {every: 10m, max: 20}}`
		write({
			'tracewatch.yaml': minimal.replace(/\{name: hook[^}]*\}/, `${pager}${rest}`),
			'watchlists/a.yaml': watchOf('1'),
		})
		const words = 'the format of `hook` has no digests: each alert is sent alone'
		expect((await load()).warnings.map(({ message }) => message)).toContain(words)
	})

	test.each([
		'{name: hook, type: webhook, url: "http://169.254.169.254/x"}',
		'{name: hook, type: webhook, url: "http://[::ffff:100.100.100.200]/x"}',
		'{name: hook, type: email, smtp: "smtp://168.63.129.16", from: a@example.org, to: [b@example.org]}',
	])('behavior: a receiver that is never contacted is a warning: %s', async (receiver) => {
		write({
			'tracewatch.yaml': minimal.replace(/\{name: hook[^}]*\}/, receiver),
			'watchlists/a.yaml': watchOf('1'),
		})
		const words = '`hook` is at a link-local or metadata address, which is never contacted: nothing reaches it'
		expect((await load()).warnings.map(({ message }) => message)).toContain(words)
	})

	test('behavior: a network and a receiver that no one names are warnings', async () => {
		write({
			'tracewatch.yaml': minimal
				.replace('receivers:', '  - {name: spare, chain_id: 1, rpc: ["http://127.0.0.1:1"]}\nreceivers:')
				.concat('  - {name: idle, type: webhook, url: "http://127.0.0.1:2"}\n'),
			'watchlists/a.yaml': watchOf('1'),
		})
		expect((await load()).warnings).toEqual([
			{ file: 'tracewatch.yaml', line: 3, column: 12, message: 'no watchlist names the network `spare`' },
			{ file: 'tracewatch.yaml', line: 5, column: 12, message: noFallback('hook') },
			{ file: 'tracewatch.yaml', line: 6, column: 12, message: 'no watch names the receiver `idle`' },
		])
	})

	test.each([
		[
			'private: true',
			'kinds: [income]',
			[/^`income` is found by books alone, .*EIP-7928.*`doctor`.*take `private` out/],
		],
		['private: true, proof: off', 'kinds: [transfer, income]', [/^`income` is found by books alone.*`proof: off`/]],
		[
			'proof: off',
			'kinds: [income, unexplained]',
			[/^`income` and `unexplained` are found .*leave them out of `kinds`$/],
		],
		['proof: off', 'min_value: 1', []],
		['proof: auto', 'kinds: [income, unexplained]', []],
		['private: true', 'kinds: [transfer, delegation]', []],
	])(
		'behavior: with %s, kinds that only books find are a warning where a watch names them: %s',
		async (on, says, due) => {
			write({
				'tracewatch.yaml': minimal.replace('chain_id: 8453', `chain_id: 8453, ${on}`),
				'watchlists/a.yaml': watchOf('1').replace('}]', `, ${says}}]`),
			})
			const { warnings } = await load()
			const of = warnings.filter(({ message }) => message !== noFallback('hook'))
			expect(of.map(({ message }) => message)).toEqual(due.map((words) => expect.stringMatching(words)))
			expect(of.map(({ line }) => line)).toEqual(due.map(() => 2))
		},
	)

	test('behavior: a watch that nothing is ever reported of is a warning, once for shared options', async () => {
		const entry = (digit: string, options: string) => `  - {address: 0x${digit.repeat(40)}${options}}\n`
		write({
			'tracewatch.yaml': minimal,
			'watchlists/a.yaml':
				`network: base\nreceivers: [hook]\nkinds: [token]\nwatches:\n${entry('1', '')}` +
				`${entry('2', '')}${entry('3', ', kinds: [call, balance]')}${entry('4', ', tokens: none, label: x')}` +
				`${entry('5', ', kinds: [call, transfer]')}${entry('6', ', tokens: all')}` +
				`${entry('7', ', kinds: [call], calls: ["pause()"]')}${entry('8', ', kinds: [balance], balance_above: 0')}`,
		})
		const nothing = 'nothing is ever reported of a watch with these options:'
		const token = 'token needs `tokens: all`, a list, or `known` with tokens of the network'
		const both = 'call needs `calls`; balance needs `balance_below` or `balance_above`'
		expect((await load()).warnings.slice(1)).toEqual([
			{ file: 'watchlists/a.yaml', line: 3, column: 8, message: `${nothing} ${token}` },
			{ file: 'watchlists/a.yaml', line: 7, column: 66, message: `${nothing} ${both}` },
			{ file: 'watchlists/a.yaml', line: 8, column: 5, message: `${nothing} ${token}` },
		])
	})

	test('behavior: the same address in two watchlists is two watches', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': watchOf('1'), 'watchlists/b.yaml': watchOf('1') })
		expect((await load()).watches).toHaveLength(2)
	})

	test('behavior: a file beyond the working folder is named in full', async () => {
		write({ 'tracewatch.yaml': 'networks: []\n' })
		const promise = loadConfig(join(folder, 'tracewatch.yaml'), { env, cwd: join(folder, 'below') })
		expect((await problemsOf(promise))[0]).toMatch(new RegExp(`^${folder}/tracewatch.yaml:1:1: `))
	})

	test('error: a file that is not UTF-8', async () => {
		write({ 'tracewatch.yaml': minimal })
		mkdirSync(join(folder, 'watchlists'))
		writeFileSync(join(folder, 'watchlists/a.yaml'), Buffer.from([0x6e, 0xff, 0xfe]))
		expect(await problemsOf(load())).toEqual([
			'watchlists/a.yaml:1:1: the file is not text in UTF-8: save it in that encoding',
		])
	})

	test('error: an amount of thousands of digits', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': `min_value: ${'1'.repeat(5_000)}\n${watchOf('1')}` })
		expect(await problemsOf(load())).toEqual([
			'watchlists/a.yaml:1:12: `min_value`: an amount has at most 200 characters',
		])
	})

	test('error: no such file', async () => {
		expect(await problemsOf(load())).toEqual(['tracewatch.yaml:1:1: the file cannot be read: it does not exist'])
	})

	testInSoak('behavior: 10,000 watches take about ten times as long to load as 1,000', async () => {
		const loaded = (count: number) => async () => {
			const entries = Array.from({ length: count }, (_, index) => {
				const address = `0x${index.toString(16).padStart(40, '0')}`
				return `  - address: ${address}\n    label: Exchange ${index}\n    tags: [cold, hot]\n    min_value: 0.5\n`
			})
			write({
				'tracewatch.yaml': minimal,
				'watchlists/a.yaml': `network: base\nreceivers: [hook]\nwatches:\n${entries.join('')}`,
			})
			expect((await load()).watches).toHaveLength(count)
		}
		expect(await timesOf(40, loaded(10_000), loaded(1_000))).toBeLessThan(40)
	})
})

describe('the copies of the last good watchlists', () => {
	const wrong = watchOf('1').replace('0x', '1x')

	/** Copies of the files as they are now. */
	async function copiesNow(change = (text: string) => text): Promise<WatchlistCopies> {
		const { revision, watchlistFiles: watchlists, contents } = await load()
		const texts = new Map(contents.map(({ path }) => [path, change(readFileSync(path, 'utf8'))]))
		const files = contents.map(({ path, digest }) => ({ path, digest: digest ?? '' }))
		async function* chunks(path: string) {
			yield Buffer.from(texts.get(path) ?? '')
		}
		return { revision, watchlists, files, chunks }
	}
	const loadBy = (copies: WatchlistCopies | null) =>
		loadConfig(join(folder, 'tracewatch.yaml'), { env, cwd: folder, lastGood: async () => copies })

	test('default: good copies are watched by the present settings; problems of the files stay known', async () => {
		const list = `${watchOf('1')}min_value: 1\n`
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': `${list}addresses_from: x.csv\n` })
		write({ 'watchlists/x.csv': `0x${'7'.repeat(40)},Seven\n` })
		const copies = await copiesNow()
		const { watches: good } = await load()
		write({ 'watchlists/a.yaml': wrong, 'watchlists/x.csv': 'wrong' })
		const { watches, refused = [], contents } = await loadBy(copies)
		expect([...watches]).toEqual([...good])
		expect(watches).toHaveLength(2)
		expect(refused.map(({ line }) => line)).toEqual([3])
		expect(contents).not.toEqual(copies.files)
	})

	test('error: a copy that is another text, or does not fit the settings, does not count', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': watchOf('1') })
		const damaged = await copiesNow((text) => text.replace('1', '2'))
		const copies = await copiesNow()
		const lost: WatchlistCopies = {
			...copies,
			// biome-ignore lint/correctness/useYield: the copy is gone before its first byte
			async *chunks() {
				throw Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'open' })
			},
		}
		write({ 'watchlists/a.yaml': wrong })
		for (const one of [damaged, lost, null]) expect(await problemsOf(loadBy(one))).toHaveLength(1)
		expect([...(await loadBy(copies)).watches]).toHaveLength(1)
		write({ 'tracewatch.yaml': minimal.replace('hook', 'other') })
		expect((await problemsOf(loadBy(copies)))[0]).toMatch(/^watchlists\/a\.yaml:/)
	})

	test('error: copies that cannot be read now: no wrong configuration, since a restart may help', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': watchOf('1') })
		const copies = await copiesNow()
		write({ 'watchlists/a.yaml': wrong })
		const away = new StateError('disk', 'cannot reach the state in the database at db.example')
		const cut: WatchlistCopies = {
			...copies,
			// biome-ignore lint/correctness/useYield: the database goes away before the first byte
			async *chunks() {
				throw away
			},
		}
		const lastGood = async () => {
			throw away
		}
		const unopened = () => loadConfig(join(folder, 'tracewatch.yaml'), { env, cwd: folder, lastGood })
		for (const loads of [unopened, () => loadBy(cut)]) {
			const error = await loads().then(String, (thrown: unknown) => thrown)
			expect(error).toBeInstanceOf(StateError)
			expect(error).toMatchObject({
				reason: 'disk',
				message: expect.stringMatching(
					/^watchlists\/a\.yaml:3:.*\nThe last good watchlists cannot .*: cannot reach the state/s,
				),
			})
		}
	})
})

describe('followWatchlists', () => {
	test('reads the watchlists anew, with the settings as they were', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': watchOf('1') })
		const config = await load()
		write({ 'tracewatch.yaml': 'broken: [', 'watchlists/b.yaml': watchOf('2') })
		const again = await followWatchlists(config, { cwd: folder }).load()
		expect([...again.watches].map((watch) => watch.address)).toEqual([`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`])
		expect(again.revision).not.toBe(config.revision)
	})

	test('the revision is the same for the same files', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': watchOf('1') })
		const config = await load()
		expect((await followWatchlists(config, { cwd: folder }).load()).revision).toBe(config.revision)
	})

	test('error: a wrong watchlist among several, and no change is taken from any of them', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': watchOf('1') })
		const config = await load()
		write({ 'watchlists/b.yaml': watchOf('2').replace('hook', 'hoook'), 'watchlists/c.yaml': watchOf('3') })
		expect(await problemsOf(followWatchlists(config, { cwd: folder }).load())).toEqual([
			'watchlists/b.yaml:2:13: no receiver `hoook` is in the settings; did you mean `hook`?',
		])
	})

	test('error: the folder is gone', async () => {
		write({ 'tracewatch.yaml': minimal, 'watchlists/a.yaml': watchOf('1') })
		const config = await load()
		rmSync(join(folder, 'watchlists'), { recursive: true })
		expect(await problemsOf(followWatchlists(config, { cwd: folder }).load())).toEqual([
			'tracewatch.yaml:1:1: the folder of the watchlists, watchlists, cannot be read: it does not exist',
		])
	})
})

describe('findConfig', () => {
	test('the file named', () => {
		expect(findConfig('other.yaml', folder)).toBe(join(folder, 'other.yaml'))
	})

	test('default: tracewatch.yaml of the working folder', () => {
		write({ 'tracewatch.yaml': minimal })
		expect(findConfig(undefined, folder)).toBe(join(folder, 'tracewatch.yaml'))
	})

	test('behavior: a settings file that cannot be read is found, and reading it says so', () => {
		symlinkSync('gone.yaml', join(folder, 'tracewatch.yaml'))
		expect(findConfig(undefined, folder)).toBe(join(folder, 'tracewatch.yaml'))
	})

	test('error: a folder without a settings file is refused, and the message names `tracewatch setup`', () => {
		expect(() => findConfig(undefined, folder)).toThrow(/tracewatch setup/)
	})
})
