// `tracewatch import oz`: configurations of OpenZeppelin, written by hand in their real forms, become ones that pass
// `tracewatch check`.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { testInFull } from '../support/longRun.js'
import { openSite } from '../support/program.js'

const vault = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const coin = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const payer = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

function siteOf(files: Readonly<Record<string, unknown>>) {
	const texts = Object.entries(files).map(([name, value]) => {
		return [`oz/${name}`, typeof value === 'string' ? value : JSON.stringify(value)] as const
	})
	const site = openSite(Object.fromEntries(texts))
	onTestFinished(() => site.close())
	const read = (name: string) => readFileSync(join(site.folder, 'tracewatch-import', name), 'utf8')
	return { ...site, read, yaml: (name: string) => parse(read(name)) }
}

const mainnet = {
	...{ network_type: 'EVM', slug: 'eth_mainnet', name: 'Mainnet', chain_id: 1, block_time_ms: 12_000 },
	rpc_urls: [
		{ type_: 'rpc', url: { type: 'environment', value: 'SECOND_NODE' }, weight: 10 },
		{ type_: 'rpc', url: { type: 'plain', value: 'https://node.example.org/Canary-key-0123456789' }, weight: 90 },
	],
	...{ confirmation_blocks: 3, cron_schedule: '0 */1 * * * *', max_past_blocks: 50, store_blocks: false },
}
const message = { title: 'seen', body: '${transaction.hash}' }
const triggers = {
	team_chat: {
		name: 'Chat',
		trigger_type: 'slack',
		config: { slack_url: { type: 'Plain', value: 'https://hooks.slack.com/services/Canary/slack' }, message },
	},
	team_bot: {
		name: 'Bot',
		trigger_type: 'telegram',
		config: { token: { type: 'Environment', value: 'BOT_TOKEN' }, chat_id: '-100123', message },
	},
	team_mail: {
		...{ name: 'Mail', trigger_type: 'email' },
		config: {
			...{
				host: 'mail.example.org',
				port: 587,
				username: 'watch@example.org',
				password: { type: 'plain', value: 'Canary p@ss' },
			},
			...{ sender: 'watch@example.org', recipients: ['ops@example.org', 'boss@example.org'], message },
		},
	},
	team_hook: {
		...{ name: 'Hook', trigger_type: 'webhook' },
		config: {
			url: 'https://hook.example.org/in',
			method: 'POST',
			secret: 's',
			headers: { 'X-API-Key': 'Canary-header', 'Content-Type': 'application/json' },
			message,
		},
	},
	team_script: {
		name: 'Script',
		trigger_type: 'script',
		config: { language: 'Bash', script_path: './a.sh', arguments: [], timeout_ms: 1000 },
	},
}
const monitorOf = (name: string, match: object, more: object = {}) => ({
	...{
		name,
		paused: false,
		networks: ['eth_mainnet'],
		addresses: [{ address: vault.toLowerCase(), contract_spec: [] }],
	},
	match_conditions: { functions: [], events: [], transactions: [], ...match },
	...{ trigger_conditions: [], triggers: ['team_chat', 'team_mail'], ...more },
})

test('default: networks, receivers and watches with what they can mean, and a word on each condition', async () => {
	const site = siteOf({
		'networks/mainnet.json': mainnet,
		'networks/stellar.json': {
			network_type: 'Stellar',
			slug: 'stellar',
			name: 'S',
			rpc_urls: [],
			network_passphrase: 'x',
		},
		'triggers/all.json': triggers,
		'monitors/large.json': monitorOf('Large Payments', {
			transactions: [{ status: 'Success', expression: 'value > 1500000000000000000' }],
		}),
		'monitors/token.json': monitorOf(
			'Payer moves Coin',
			{
				events: [{ signature: 'Transfer(address,address,uint256)', expression: `from == ${payer} OR to == ${payer}` }],
			},
			{ addresses: [{ address: coin }], triggers: ['team_bot', 'team_hook', 'team_script'] },
		),
		'monitors/swap.json': monitorOf('Swaps', { events: [{ signature: 'Swap(address,uint256)', expression: null }] }),
		'monitors/rulers.json': monitorOf('Rulers', {
			events: [
				{ signature: 'AddedOwner(address)', expression: null },
				{ signature: 'SafeSetup(address,address[],uint256,address,address)', expression: null },
				{ signature: 'OwnershipHandoverRequested(address)', expression: null },
			],
		}),
		'monitors/calls.json': monitorOf('Pauses', { functions: [{ signature: 'pause()', expression: null }] }),
		'monitors/paused.json': monitorOf('Asleep', { transactions: [{ status: 'Any' }] }, { paused: true }),
		'monitors/filtered.json': monitorOf(
			'Filtered',
			{ transactions: [{ status: 'Any', expression: 'gas_price > 1' }] },
			{ trigger_conditions: [{ script_path: './filter.py', language: 'Python', arguments: [], timeout_ms: 1 }] },
		),
		'notes.json': '{"half": ',
	})
	const done = await site.run(['import', 'oz', 'oz'])
	expect(done, done.stderr).toMatchObject({ code: 0 })
	const said = done.stdout.split('\n').map((line) => line.replace(/ {2,}/, ' | '))
	const line = (part: string) => said.find((one) => one.includes(part)) ?? ''
	expect(line('Large Payments, transactions')).toMatch(/^covered \| .* from 1500000000000000001 wei up/)
	expect(line('Payer moves Coin, event Transfer')).toMatch(/^covered \|/)
	expect(line('Swaps, event Swap')).toMatch(/^not covered \|/)
	expect(line('Rulers, event AddedOwner')).toMatch(/^covered \| .*: as `control`/)
	expect(line('Rulers, event SafeSetup')).toMatch(/^covered \| .*: as `control`/)
	// Anybody can cause it, so it is not reported.
	expect(line('Rulers, event OwnershipHandoverRequested')).toMatch(/^not covered \|/)
	expect(site.yaml('watchlists/rulers-eth-mainnet.yaml').watches).toMatchObject([{ kinds: ['control'] }])
	expect(line('Pauses, function pause()')).toMatch(/^covered \|/)
	expect(site.yaml('watchlists/pauses-eth-mainnet.yaml').watches).toMatchObject([
		{ kinds: ['call'], calls: ['pause()'] },
	])
	expect(line('Asleep')).toMatch(/^not covered \| .*paused/)
	expect(line('./filter.py')).toMatch(/^more comes \|/)
	expect(line('gas_price')).toMatch(/^more comes \|/)
	expect(line('network stellar')).toMatch(/^not covered \|/)
	expect(line('trigger team_script:')).toMatch(/^not covered \|/)
	expect(line('trigger team_hook')).toMatch(/^more comes \| .*Standard Webhooks/)
	expect(line('notes.json')).toMatch(/^not covered \| .*not JSON/)
	expect(site.read('import-report.txt')).toContain('Large Payments')

	const { networks, receivers } = site.yaml('tracewatch.yaml')
	expect(networks).toEqual([
		{
			...{ name: 'eth-mainnet', chain_id: 1, rpc: ['${ETH_MAINNET_RPC_URL}', '${SECOND_NODE}'] },
			...{ schedule: '0 */1 * * * *', confirmations: 3, explorer: 'https://etherscan.io' },
		},
	])
	expect(receivers.map(({ name, type, format }: Record<string, string>) => [name, type, format])).toEqual([
		['team-chat', 'webhook', 'slack'],
		['team-bot', 'webhook', 'telegram'],
		['team-mail', 'email', undefined],
		['team-hook', 'webhook', undefined],
	])
	expect(site.yaml('watchlists/large-payments-eth-mainnet.yaml')).toMatchObject({
		...{ network: 'eth-mainnet', receivers: ['team-chat', 'team-mail'] },
		watches: [{ address: vault, label: 'Large Payments', min_value: '1500000000000000001 wei' }],
	})
	const [account, ...others] = site.yaml('watchlists/payer-moves-coin-eth-mainnet.yaml').watches
	expect(others).toEqual([])
	expect(account).toMatchObject({ address: payer, kinds: ['token'], tokens: [coin] })
	expect(account).not.toHaveProperty('direction')
	expect(readdirSync(join(site.folder, 'tracewatch-import/watchlists')).sort()).toEqual([
		'filtered-eth-mainnet.yaml',
		'large-payments-eth-mainnet.yaml',
		'pauses-eth-mainnet.yaml',
		'payer-moves-coin-eth-mainnet.yaml',
		'rulers-eth-mainnet.yaml',
	])

	// Secrets are in files for the owner alone, and in nothing else.
	const secrets = join(site.folder, 'tracewatch-import/secrets')
	expect(readFileSync(join(secrets, 'TEAM_MAIL_SMTP_URL'), 'utf8')).toBe(
		'smtp://watch%40example.org:Canary%20p%40ss@mail.example.org:587\n',
	)
	for (const name of readdirSync(secrets)) expect(statSync(join(secrets, name)).mode & 0o777).toBe(0o600)
	expect(done.stdout + done.stderr + site.read('tracewatch.yaml') + site.read('import-report.txt')).not.toContain(
		'Canary',
	)
	expect(done.stdout).toMatch(/^to be set: BOT_TOKEN /m)
	const env = { CREDENTIALS_DIRECTORY: secrets, SECOND_NODE: 'https://two.example.org/', BOT_TOKEN: '123:abc' }
	const check = await site.run(['check', '-c', 'tracewatch-import/tracewatch.yaml'], env)
	expect(check, check.stderr).toMatchObject({ code: 0 })

	// Again: nothing is overwritten.
	const before = site.read('tracewatch.yaml')
	expect(await site.run(['import', 'oz', 'oz'])).toMatchObject({ code: 1 })
	expect(site.read('tracewatch.yaml')).toBe(before)
})

test("behavior: Defender's monitors and notifications, with a network by its name there", async () => {
	const site = siteOf({
		'monitors.json': [
			{
				...{
					monitorId: 'm',
					name: 'Treasury',
					type: 'BLOCK',
					network: 'matic',
					paused: false,
					blockWatcherId: 'matic-1',
				},
				addressRules: [
					{
						...{ addresses: [vault], abi: '[]' },
						conditions: [
							{ eventConditions: [], functionConditions: [], txConditions: [{ status: 'any', expression: null }] },
						],
					},
				],
				alertThreshold: { amount: 3, windowSeconds: 60 },
				notifyConfig: { notifications: [{ notificationId: 'n-1', type: 'discord' }], timeoutMs: 0 },
			},
		],
		'notifications.json': [
			{
				notificationId: 'n-1',
				name: 'D',
				type: 'discord',
				paused: false,
				config: { url: 'https://discord.com/api/webhooks/1/Canary' },
			},
			{ notificationId: 'n-2', name: 'M', type: 'email', paused: false, config: { emails: ['ops@example.org'] } },
			{ notificationId: 'n-3', name: 'O', type: 'opsgenie', paused: false, config: { apiKey: 'Canary' } },
		],
	})
	const done = await site.run(['import', 'oz', 'oz', '--out', 'tracewatch-import'])
	expect(done, done.stderr).toMatchObject({ code: 0 })
	expect(done.stdout).toMatch(/more comes .*threshold of 3 alerts in 60 s/)
	expect(done.stdout).toMatch(/not covered .*n-3: .*opsgenie/)
	expect(done.stdout).not.toContain('Canary')
	expect(site.yaml('tracewatch.yaml').networks).toMatchObject([
		{ name: 'matic', chain_id: 137, symbol: 'POL', rpc: ['${MATIC_RPC_URL}'] },
	])
	expect(site.yaml('watchlists/treasury-matic.yaml')).toMatchObject({
		receivers: ['n-1'],
		watches: [{ address: vault }],
	})
	const env = {
		...{ CREDENTIALS_DIRECTORY: join(site.folder, 'tracewatch-import/secrets'), SMTP_URL: 'smtp://mail.example.org' },
		MATIC_RPC_URL: 'https://node.example.org/',
	}
	const check = await site.run(['check', '-c', 'tracewatch-import/tracewatch.yaml'], env)
	expect(check, check.stderr).toMatchObject({ code: 0 })
})

testInFull('behavior: texts of the files stay texts, whatever they say', async () => {
	const stolen = '${STOLEN}'
	const site = siteOf({
		'net.json': { ...mainnet, slug: '1inch' },
		'triggers.json': {
			mail: {
				trigger_type: 'email',
				config: { host: 'mail.example.org', port: 25, sender: 'a@example.org', recipients: [`${stolen}@example.org`] },
			},
			hook: {
				trigger_type: 'webhook',
				config: { url: 'https://hook.example.org/in', headers: { [`X-${'A'.repeat(60)}`]: 'Canary-header' } },
			},
		},
		'forged.json': monitorOf(
			'Large\ncovered      monitor Hacked: it is',
			{ transactions: [{ status: 'Any', expression: 'gas\u001b[2J > 1' }] },
			{ networks: ['1inch'], triggers: ['mail', 'hook'] },
		),
		'defender.json': { name: 'Built in', network: 'constructor', addresses: [vault] },
		'many.json': Array.from({ length: 50_000 }, () => 0),
	})
	spawnSync('mkfifo', [join(site.folder, 'oz/pipe.json')])
	const done = await site.run(['import', 'oz', 'oz'], { STOLEN: 'Canary' })
	expect(done, done.stderr).toMatchObject({ code: 0 })
	expect(done.stdout).not.toMatch(/^covered +monitor Hacked/m)
	expect(done.stdout).not.toContain('\u001b')
	expect(done.stdout.split('\n').filter((line) => line.includes('many.json'))).toEqual([
		'not covered  many.json: it holds no object (50000 times)',
	])
	expect(done.stdout).toMatch(/^not covered +pipe\.json: it is no file$/m)
	expect(done.stdout).toMatch(/^not covered +network constructor: /m)
	const { networks, receivers } = site.yaml('tracewatch.yaml')
	expect(networks).toMatchObject([{ name: '1inch', rpc: ['${_1INCH_RPC_URL}', '${SECOND_NODE}'] }])
	expect(receivers[0]).toMatchObject({ to: ['$${STOLEN}@example.org'] })
	const secrets = readdirSync(join(site.folder, 'tracewatch-import/secrets'))
	expect(secrets.every((name) => name.length <= 110)).toBe(true)
})

testInFull('error: a file that is there already is not overwritten', async () => {
	const site = siteOf({
		'net.json': mainnet,
		'triggers.json': triggers,
		'calls.json': monitorOf('Pauses', { functions: [{ signature: 'pause()', expression: null }] }),
	})
	site.write('tracewatch-import/watchlists/pauses-eth-mainnet.yaml', 'mine')
	const done = await site.run(['import', 'oz', 'oz'])
	expect(done.code).toBe(1)
	expect(done.stderr).toContain('tracewatch-import/watchlists/pauses-eth-mainnet.yaml')
	expect(site.read('watchlists/pauses-eth-mainnet.yaml')).toBe('mine')
	expect(readdirSync(join(site.folder, 'tracewatch-import'))).toEqual(['watchlists'])
})

testInFull('error: no folder, no JSON, nothing that can be converted: nothing is written', async () => {
	const site = siteOf({
		'networks/mainnet.json': mainnet,
		'triggers/all.json': triggers,
		'monitors/swap.json': monitorOf('Swaps', { events: [{ signature: 'Swap(address)', expression: null }] }),
	})
	site.write('empty/readme.txt', 'none')
	const results = [
		await site.run(['import', 'oz', 'nowhere']),
		await site.run(['import', 'oz', 'empty']),
		await site.run(['import', 'oz', 'oz']),
		await site.run(['import', 'forta', 'oz']),
	]
	expect(results.map(({ code }) => code)).toEqual([1, 1, 1, 2])
	expect(results[2]?.stderr).toContain('no condition of these monitors can be converted')
	expect(existsSync(join(site.folder, 'tracewatch-import'))).toBe(false)
})
