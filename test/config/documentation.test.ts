// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { formats } from '../../src/notify/webhook/formats/byName.js'
import { temporaryFolder } from '../support/folder.js'
import { sections, watchOptions, withTables } from './settingsTables.js'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8')

const address = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e'
/** A value of each key, as a person writes it. */
const examples: Readonly<Record<string, Readonly<Record<string, string>>>> = {
	'tracewatch.yaml': {
		watchlists: '[treasury.yaml, exchange.yaml]',
		state: '/var/lib/tracewatch',
		history: '365d',
		heartbeat_url: 'https://hc.example.org/ping/KEY',
		http: '127.0.0.1:9464',
		http_password: 'correct-horse-battery',
	},
	'A network': {
		name: 'ethereum',
		chain_id: '1',
		rpc: '["https://node.example.org/KEY"]',
		ws: 'wss://node.example.org/KEY',
		schedule: '"0 */5 * * * *"',
		source: 'trace_block',
		private: 'true',
		proof: 'off',
		requests_per_second: '0.5',
		confirmations: '12',
		settle: '64',
		stall_after: '5m',
		symbol: 'xDAI',
		decimals: '18',
		tokens: `[{symbol: USDC, address: ${address}, decimals: 6, min_amount: 100}]`,
		explorer: 'https://etherscan.io',
	},
	'A token': { symbol: 'USDC', address, decimals: '6', min_amount: '100' },
	'A receiver by mail': {
		name: 'ops-mail',
		type: 'email',
		smtp: 'smtps://user:password@mail.example.org:465',
		from: 'Tracewatch <tracewatch@example.org>',
		to: '[ops@example.org, treasury@example.org]',
		fallback: 'ops-hook',
		digest: '{every: 10m, max: 20}',
	},
	'A receiver by webhook': {
		name: 'ops-hook',
		type: 'webhook',
		url: 'https://hooks.example.org/tracewatch',
		format: 'slack',
		secret: 'whsec_bW9ua2V5IGJ1c2luZXNzLCBub3QgYSBrZXk=',
		routing_key: 'R0123456789ABCDEF0123456789ABCDE',
		headers: '{Authorization: Bearer KEY}',
		fallback: 'ops-mail',
		digest: '{}',
	},
	'A digest': { every: '10m', max: '20' },
	'A watchlist': {
		network: 'ethereum',
		watches: `[{address: ${address}}]`,
		addresses_from: 'exchange.csv',
	},
	'A watch': { address, label: 'Treasury' },
	'Files of addresses in the list of watches': { addresses_from: '[exchange.csv, suspects.csv]' },
	[watchOptions]: {
		tags: '[cold]',
		kinds: '[transfer]',
		direction: 'out',
		min_value: '250 gwei',
		balance_below: '0.5',
		balance_above: '1000',
		tokens: 'all',
		calls: '["pause()", 0x6a761202]',
		failed_calls: 'true',
		allowed_code: `[${address}]`,
		reads: '["governor()", "slot 7"]',
		receivers: '[ops-hook]',
		from_block: '19000000',
	},
}

let folder: string
/** Content of each file as it was last written, by name. */
const written = new Map<string, string>()
beforeEach(() => {
	folder = temporaryFolder()
	written.clear()
})

function write(files: Readonly<Record<string, string>>): void {
	for (const [name, content] of Object.entries(files)) {
		if (written.get(name) === content) continue
		written.set(name, content)
		mkdirSync(dirname(join(folder, name)), { recursive: true })
		writeFileSync(join(folder, name), content)
	}
}

type Values = Readonly<Record<string, string>>

const flow = (values: Values) => `{${pairs(values).join(', ')}}`
const pairs = (values: Values) => Object.entries(values).map(([key, value]) => `${key}: ${value}`)

/** Keys without which another one is refused. */
const needs: Readonly<Record<string, Values>> = {
	failed_calls: { calls: '["pause()"]' },
	routing_key: { format: 'pagerduty' },
}
const file = '0x1111111111111111111111111111111111111111\n'

/** A whole configuration with these values in one of its parts. */
function configurationWith(part: string, values: Values): Values {
	const own = (name: string) => (name === part ? values : {})
	const digest = part === 'A digest' ? { digest: flow(values) } : {}
	const tokens = part === 'A token' ? { tokens: `[${flow({ symbol: 'X', address, ...values })}]` } : {}
	const network = { name: 'ethereum', chain_id: '1', rpc: '["http://h"]', ...tokens, ...own('A network') }
	const mail = { name: 'ops-mail', type: 'email', smtp: 'smtp://h', from: 'a@b', to: '[a@b]', ...digest }
	const hook = { name: 'ops-hook', type: 'webhook', url: 'http://h', ...own('A receiver by webhook') }
	const settings = {
		networks: `[${flow(network)}]`,
		receivers: `[${flow({ ...mail, ...own('A receiver by mail') })}, ${flow(hook)}]`,
		...own('tracewatch.yaml'),
	}
	const watch = { address: '"0x2222222222222222222222222222222222222222"', ...own('A watch') }
	const files = { addresses_from: 'other.csv', ...own('Files of addresses in the list of watches') }
	const watches = `[${flow(watch)}, ${flow(files)}]`
	const list = pairs({ network: 'ethereum', receivers: '[ops-mail, ops-hook]', watches, ...own('A watchlist') }).join(
		'\n',
	)
	return {
		'tracewatch.yaml': pairs(settings).join('\n'),
		'watchlists/a.yaml': list,
		// Where the example names the watchlists itself.
		'treasury.yaml': list,
		'exchange.yaml': list,
		...Object.fromEntries(
			['', 'watchlists/'].flatMap((at) => [
				[`${at}exchange.csv`, file],
				[`${at}suspects.csv`, file.replaceAll('1', '3')],
				[`${at}other.csv`, file.replaceAll('1', '4')],
			]),
		),
	}
}

async function load(part: string, key: string, value: string): Promise<void> {
	write(configurationWith(part, { ...needs[key], [key]: value }))
	await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
}

/** The first and the last value that a description names, and those beyond. */
function boundsOf(description: string): { readonly ends: readonly string[]; readonly beyond: readonly string[] } {
	const [, least] = /^(\d+) characters or more/.exec(description) ?? []
	if (least !== undefined) return { ends: ['x'.repeat(Number(least))], beyond: ['x'.repeat(Number(least) - 1)] }
	const [, low, high] = /, (\d+) to (\d+)\./.exec(description) ?? []
	if (low === undefined || high === undefined) return { ends: [], beyond: [] }
	return { ends: [low, high], beyond: [String(Number(low) - 1), String(Number(high) + 1)] }
}

const all = Object.values(sections).flatMap((tables) => Object.entries(tables))
const bounds = all.flatMap(([part, { properties }]) =>
	Object.entries(properties).flatMap(([key, { description = '' }]) => {
		const { ends, beyond } = boundsOf(description)
		return ends.length === 0 ? [] : [{ part, key, ends, beyond }]
	}),
)

describe('docs/configuration.md', () => {
	// After a change: npx vitest run test/config/documentation.test.ts -u
	test('default: the tables in docs/configuration.md are those of the schemas', async () => {
		await expect(withTables(page)).toMatchFileSnapshot(join(root, 'docs/configuration.md'))
	})

	test('default: every key has a default or is required, and a meaning', () => {
		const rows = withTables(page).match(/^\| `\w+` \|.*$/gm) ?? []
		expect(rows.length).toBe(all.reduce((sum, [, { properties }]) => sum + Object.keys(properties).length, 0))
		const empty = rows.filter((row) => /\| +\|/.test(row))
		expect(empty).toEqual([])
	})

	test.each(all)('default: each key of %s has an example that loads', async (part, { properties }) => {
		// `networks` and `receivers` have tables of their own.
		const keys = Object.keys(properties).filter(
			(key) => part !== 'tracewatch.yaml' || !/^(networks|receivers)$/.test(key),
		)
		expect(Object.keys(examples[part] ?? {}).sort()).toEqual(keys.sort())
		const [place = part, ...others] =
			part === watchOptions ? ['A watchlist', 'A watch', 'Files of addresses in the list of watches'] : []
		for (const [key, value] of Object.entries(examples[part] ?? {})) await load(place, key, value)
		// In the other places each key is known; `kinds` leaves none of them without effect.
		for (const other of others) {
			const kinds = '[transfer, balance, call]'
			write(configurationWith(other, { ...examples[part], kinds }))
			await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		}
	})

	test('default: several keys name their bounds', () => {
		expect(bounds.length).toBeGreaterThan(3)
	})

	test.each(bounds)('default: $part, $key: $ends are taken, $beyond are not', async ({ part, key, ends, beyond }) => {
		for (const value of ends) await load(part, key, value)
		for (const value of beyond) await expect(load(part, key, value), value).rejects.toThrow(`\`${key}\``)
	})

	test('the receivers shown in docs/configuration.md load, one of each format', async () => {
		const receivers = /```yaml\n(receivers:\n[\s\S]*?)```/.exec(page)?.[1] ?? ''
		write({
			'tracewatch.yaml': `networks: [{name: base, chain_id: 1, rpc: ["http://h"]}]\n${receivers}`,
			'watchlists/a.yaml': `network: base\nreceivers: [slack]\nwatches: [{address: ${file.trim()}}]\n`,
		})
		const config = await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		expect(config.receivers.map((receiver) => receiver.type === 'webhook' && receiver.format)).toEqual(
			Object.keys(formats),
		)
	})

	test('the file of addresses shown in docs/configuration.md loads', async () => {
		write({
			'tracewatch.yaml':
				'networks: [{name: base, chain_id: 1, rpc: ["http://h"]}]\n' +
				'receivers: [{name: hook, type: webhook, url: "http://h"}]\n',
			'watchlists/a.yaml': 'network: base\nreceivers: [hook]\naddresses_from: a.csv\n',
			'watchlists/a.csv': /```csv\n([\s\S]*?)```/.exec(page)?.[1] ?? '',
		})
		const { watches } = await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		expect([...watches].map(({ label, tags }) => [label, tags])).toEqual([
			['Hot wallet, main', ['hot', 'exchange']],
			[null, []],
		])
	})
})

describe('examples', () => {
	test('load as they stand; once the secrets are for their owner alone, without a warning', async () => {
		const inTree = await loadConfig('examples/starter/tracewatch.yaml', { env: {}, cwd: root })
		expect(inTree.watches).toHaveLength(10)
		cpSync(join(root, 'examples/starter'), folder, { recursive: true })
		const secrets = join(folder, 'secrets')
		for (const name of readdirSync(secrets)) chmodSync(join(secrets, name), 0o600)
		const { watches, warnings } = await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		expect(warnings).toEqual([])
		const ofLabel = new Map([...watches].map((watch) => [watch.label, watch]))
		expect(ofLabel.get('Cold wallet')).toMatchObject({
			tags: ['treasury', 'cold'],
			receivers: ['ops-mail', 'ops-hook'],
		})
		expect(ofLabel.get('Payroll')).toMatchObject({
			address: '0x595ef460a30733a69856a62e37529003de4b213e',
			kinds: ['transfer'],
			direction: 'out',
			minValueWei: 250_000_000_000_000_000n,
		})
		expect(ofLabel.get('Gas tank')).toMatchObject({ minValueWei: 250_000_000_000n, receivers: ['ops-hook'] })
		expect(ofLabel.get('Vault')).toMatchObject({ minValueWei: 1n })
		expect(ofLabel.get('Deployer')).toMatchObject({ kinds: ['deployment'], fromBlock: 19_000_000n })
		const wallet = ofLabel.get('Hot wallet 2, since May')
		expect(wallet).toMatchObject({ tags: ['exchange', 'hot', 'new'], direction: 'in', minValueWei: 100n * 10n ** 18n })
		expect(ofLabel.get('Bridge')).toMatchObject({ direction: 'both', tags: ['exchange'], network: 'base' })
	})

	test('their first lines name schemas that are there', () => {
		const files = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
		for (const file of files.filter((name) => name.endsWith('.yaml'))) {
			const path = join(root, 'examples', file)
			const [, named = ''] = /^# yaml-language-server: \$schema=(.+)\n/.exec(readFileSync(path, 'utf8')) ?? []
			const schema = JSON.parse(readFileSync(resolve(dirname(path), named), 'utf8'))
			expect(schema.$schema, file).toMatch(/draft-07/)
		}
	})

	test('have a file for each secret that they name, and no other', () => {
		const text = readFileSync(join(root, 'examples/starter/tracewatch.yaml'), 'utf8')
		const named = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name))
		expect(new Set(readdirSync(join(root, 'examples/starter/secrets')))).toEqual(named)
	})

	test('are published, and stand apart from the sample watchlist', () => {
		const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
			readonly files: readonly string[]
		}
		expect(files).toEqual(expect.arrayContaining(['examples', 'watchlists', 'schema', 'docs']))
		expect(readdirSync(join(root, 'watchlists'))).toEqual(['local.yaml'])
	})
})
