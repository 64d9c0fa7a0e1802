// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeConfig } from '../../../src/config/describe.js'
import { loadConfig } from '../../../src/config/load.js'
import { ConfigError } from '../../../src/errors.js'
import { createScrubber } from '../../../src/ops/scrub.js'
import { temporaryFolder } from '../../support/folder.js'

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'watchlists'))
	writeFileSync(
		join(folder, 'watchlists/a.yaml'),
		`network: base\nreceivers: [hook]\nwatches: [{address: 0x${'1'.repeat(40)}}]\n`,
	)
})

/** Settings with these lines of the receiver `hook`, and with other receivers after it. */
async function load(lines: readonly string[], others: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
	const network = 'networks:\n  - {name: base, chain_id: 8453, rpc: ["http://127.0.0.1:8545"]}\n'
	const hook = ['  - name: hook', ...lines.map((line) => `    ${line}`)]
	const text = [...hook, ...others.map((other) => `  - {${other}}`), ''].join('\n')
	writeFileSync(join(folder, 'tracewatch.yaml'), `${network}receivers:\n${text}`)
	return loadConfig('tracewatch.yaml', { env, cwd: folder })
}

async function receiver(lines: readonly string[], env: NodeJS.ProcessEnv = {}) {
	return (await load(lines, [], env)).receivers[0]
}

/** Problems without the file, which is always the settings. */
async function problems(lines: readonly string[], others: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
	const error = await load(lines, others, env).catch((thrown: unknown) => thrown)
	if (!(error instanceof ConfigError)) throw error
	return error.message.split('\n').map((line) => line.replace('tracewatch.yaml:', ''))
}

const hook = (...lines: string[]) => ['type: webhook', 'url: https://hooks.example.org/', ...lines]
const whsec = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`
const bot = 'https://api.telegram.org/bot123456:CANARY-token'
const key = 'CANARY0123456789CANARY0123456789'

describe('format', () => {
	test.each([
		['standard', hook(), 'https://hooks.example.org/', null],
		['standard', hook(`secret: ${whsec(1)}`), 'https://hooks.example.org/', whsec(1)],
		['standard', hook(`secret: "${whsec(1)}  ${whsec(2)}"`), 'https://hooks.example.org/', `${whsec(1)} ${whsec(2)}`],
		['slack', hook('format: slack'), 'https://hooks.example.org/', null],
		['discord', hook('format: discord'), 'https://hooks.example.org/', null],
		['alertmanager', hook('format: alertmanager'), 'https://hooks.example.org/', null],
		[
			'telegram',
			['type: webhook', `url: ${bot}/sendMessage?chat_id=-1001234567890`, 'format: telegram'],
			`${bot}/sendMessage?chat_id=-1001234567890`,
			null,
		],
		[
			'telegram',
			['type: webhook', `url: "${bot}/sendMessage?message_thread_id=7&chat_id=@channel"`, 'format: telegram'],
			`${bot}/sendMessage?message_thread_id=7&chat_id=@channel`,
			null,
		],
		['telegram', ['type: webhook', `url: "${bot}?chat_id=5"`, 'format: telegram'], `${bot}?chat_id=5`, null],
		['ntfy', ['type: webhook', 'url: https://ntfy.sh/alerts-7f/', 'format: ntfy'], 'https://ntfy.sh/alerts-7f/', null],
		['ntfy', ['type: webhook', 'url: https://example.org/push/a', 'format: ntfy'], 'https://example.org/push/a', null],
		['ntfy', ['type: webhook', 'url: https://ntfy.sh/alerts', 'format: ntfy'], 'https://ntfy.sh/alerts', null],
		[
			'pagerduty',
			['type: webhook', 'url: https://events.pagerduty.com/v2/enqueue', 'format: pagerduty', `routing_key: ${key}`],
			'https://events.pagerduty.com/v2/enqueue',
			key,
		],
	])('%s: %j', async (format, lines, url, secret) => {
		expect(await receiver(lines)).toEqual({
			name: 'hook',
			type: 'webhook',
			format,
			url,
			secret,
			headers: {},
			fallback: null,
			digest: null,
		})
	})

	test.each([
		[
			'an unknown one',
			hook('format: slak'),
			[
				'7:13: `format` must be standard, slack, discord, telegram, ntfy, pagerduty or alertmanager, not `slak`; ' +
					'did you mean `slack`?',
			],
		],
		...[
			['without a chat', `${bot}/sendMessage`],
			['without a bot', 'https://hooks.example.org/?chat_id=5'],
			['with a name for a chat', `${bot}?chat_id=ops`],
			['with an empty chat', `${bot}?chat_id=`],
		].map(([what, url]): [string, string[], string[]] => [
			`telegram ${what}`,
			['type: webhook', `url: ${url}`, 'format: telegram'],
			[
				'6:10: `url` must be https://api.telegram.org/bot<token>/sendMessage?chat_id=<id>, ' +
					'with the number of a chat such as -1001234567890, or @channel',
			],
		]),
		...['', 'a.b', 'a'.repeat(65)].map((topic): [string, string[], string[]] => [
			`ntfy with a wrong topic: ${topic}`,
			['type: webhook', `url: https://ntfy.sh/${topic}`, 'format: ntfy'],
			['6:10: `url` must end with the topic, https://ntfy.sh/<topic>: at most 64 letters, digits, dashes, underscores'],
		]),
		[
			'pagerduty without a key',
			hook('format: pagerduty'),
			['4:5: `routing_key` is missing, which format pagerduty needs'],
		],
		[
			'pagerduty with half a key',
			hook('format: pagerduty', 'routing_key: CANARY'),
			['8:18: `routing_key` must be an integration key: 32 letters and digits'],
		],
		[
			'keys of other formats',
			hook(`secret: ${whsec(1)}`, 'format: slack', `routing_key: ${key}`),
			[
				'7:13: `secret` belongs to format standard, and this is slack',
				'9:18: `routing_key` belongs to format pagerduty, and this is slack',
			],
		],
		[
			'a format of a mail',
			['type: email', 'smtp: smtp://h', 'from: a@b', 'to: [a@b]', 'format: slack'],
			['9:5: unknown key `format`'],
		],
		[
			'one right secret and one wrong',
			hook(`secret: ${whsec(1)} whsec_CANARY`),
			[
				'7:13: `secret` must be `whsec_` and 24 to 64 bytes in base64; make one with: ' +
					'echo "whsec_$(openssl rand -base64 32)"',
			],
		],
	])('error: %s', async (_, lines, expected) => {
		expect(await problems(lines)).toEqual(expected)
	})
})

describe('headers', () => {
	test('go along as they are written, from variables too', async () => {
		const lines = hook('headers:', '  Authorization: Bearer ${TOKEN}', '  X-Priority: 5')
		const { receivers, secrets } = await load(lines, [], { TOKEN: 'CANARY-token' })
		expect(receivers[0]).toMatchObject({ headers: { Authorization: 'Bearer CANARY-token', 'X-Priority': '5' } })
		expect(secrets).toEqual(expect.arrayContaining(['Bearer CANARY-token', 'CANARY-token']))
	})

	test.each([
		[
			'hop-by-hop',
			'Transfer-Encoding: chunked',
			'8:26: `Transfer-Encoding` is written by tracewatch itself and cannot be set',
		],
		[
			'of the signature',
			'Webhook-Signature: CANARY',
			'8:26: `Webhook-Signature` is written by tracewatch itself and cannot be set',
		],
		[
			'of the body',
			'content-type: text/plain',
			'8:21: `content-type` is written by tracewatch itself and cannot be set',
		],
		['without a value', 'X-Token:', '8:15: `X-Token` has no value; write one, or drop the line'],
		['empty', 'X-Token: ""', '8:16: `X-Token` is empty'],
		['with a line break', 'X-Token: "CANARY\\r\\nX-Other: y"', '8:16: `X-Token` must be printable ASCII on one line'],
		['with other letters', 'X-Token: CANARYß', '8:16: `X-Token` must be printable ASCII on one line'],
		['that is a list', 'X-Token: [CANARY]', '8:16: `X-Token` must be one text or number, not a list'],
		['with a name that is none', '"X Token": CANARY', '8:18: an entry of `headers` is not a valid header name'],
	])('error: a header that is wrong is refused, and its value is not printed: %s', async (_, line, message) => {
		const told = await problems(hook('headers:', `  ${line}`))
		expect(told).toEqual([message])
		expect(told.join()).not.toContain('CANARY')
	})

	test('error: the same header twice, in whatever case, is refused', async () => {
		const told = await problems(hook('headers:', '  X-Token: a', '  x-token: b'))
		expect(told).toEqual(['9:16: `x-token` is written twice; upper and lower case are the same name'])
	})

	test('error: an Authorization beside a user in the URL', async () => {
		const lines = ['type: webhook', 'url: https://me:CANARY@h/', 'headers: {authorization: Bearer CANARY}']
		expect(await problems(lines)).toEqual([
			'7:14: `headers` has an Authorization, and the URL a user: one of them must go',
		])
	})

	test('error: a list of them, or a text', async () => {
		expect(await problems(hook('headers: [a]'))).toEqual(['7:14: `headers` must be keys with values, not a list'])
		expect(await problems(hook('headers: a'))).toEqual(['7:14: `headers` must be keys with values, not one text'])
	})

	test('error: a variable that is wrong in a header is not shown', async () => {
		const told = await problems(hook('headers:', '  X-Token: ${TOKEN}'), [], { TOKEN: 'CANARY\u0007' })
		expect(told).toEqual(['8:16: `X-Token` must be printable ASCII on one line'])
	})
})

describe('fallback', () => {
	const other = (name: string, fallback?: string) =>
		`name: ${name}, type: webhook, url: ` +
		`"http://127.0.0.1/${name}"${fallback === undefined ? '' : `, fallback: ${fallback}`}`

	test('names another receiver, which then is not unused', async () => {
		const { receivers, warnings } = await load(hook('fallback: spare'), [other('spare')])
		expect(receivers.map(({ fallback }) => fallback)).toEqual(['spare', null])
		expect(warnings).toEqual([])
	})

	test('error: a fallback that names no receiver of the settings is refused, with the nearest name', async () => {
		expect(await problems(hook('fallback: spore'), [other('spare')])).toEqual([
			'7:15: no receiver `spore` is in the settings; did you mean `spare`?',
		])
	})

	test('error: itself', async () => {
		expect(await problems(hook('fallback: hook'))).toEqual(['7:15: a receiver cannot be its own `fallback`'])
	})

	test('behavior: two may name each other', async () => {
		await expect(load(hook('fallback: b'), [other('b', 'hook')])).resolves.toMatchObject({
			receivers: [{ fallback: 'b' }, { fallback: 'hook' }],
		})
	})

	test('error: beside other problems, so that all are reported at once', async () => {
		expect(await problems(hook('fallback: x', 'format: y'))).toHaveLength(2)
	})
})

describe('digest', () => {
	test.each([
		['{every: 5m, max: 3}', { everyMs: 300_000, max: 3 }],
		['{max: 3}', { everyMs: 600_000, max: 3 }],
		['{}', { everyMs: 600_000, max: 20 }],
	])('%s', async (text, digest) => {
		expect(await receiver(hook(`digest: ${text}`))).toMatchObject({ digest })
	})

	test.each([
		['{every: 5}', '7:21: `every` must be a time such as 90s, 10m, 2h or 1d'],
		['{max: 0}', '7:19: `max` must be at least 1'],
		['{evry: 5m}', '7:14: unknown key `evry`; did you mean `every`?'],
		['10m', '7:13: `digest` must be keys with values, not one text'],
	])('error: %s', async (text, message) => {
		expect(await problems(hook(`digest: ${text}`))).toEqual([message])
	})
})

describe('networks', () => {
	const withNetwork = (options: string) => {
		const text = `networks:\n  - {name: base, chain_id: 8453, rpc: ["http://127.0.0.1:8545"], ${options}}\n`
		writeFileSync(
			join(folder, 'tracewatch.yaml'),
			`${text}receivers: [{name: hook, type: webhook, url: "http://127.0.0.1"}]\n`,
		)
		return loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
	}

	test.each([
		['requests_per_second: 10', { requestsPerSecond: 10 }],
		['requests_per_second: 0.5', { requestsPerSecond: 0.5 }],
		['private: true', { isPrivate: true }],
		['private: true, source: trace_block', { isPrivate: true, source: 'trace_block' }],
		['private: false, source: trace_filter', { isPrivate: false }],
		['ws: wss://h/KEY', { ws: ['wss://h/KEY'] }],
		['ws: ["ws://h:8546", "wss://i"]', { ws: ['ws://h:8546/', 'wss://i/'] }],
	])('%s', async (options, expected) => {
		expect((await withNetwork(options)).networks[0]).toMatchObject(expected)
	})

	test.each([
		['requests_per_second: 0', '`requests_per_second` must be a number above 0, such as 10 or 0.5, not `0`'],
		['requests_per_second: fast', '`requests_per_second` must be a number above 0, such as 10 or 0.5, not `fast`'],
		['requests_per_second: -1', '`requests_per_second` must be a number above 0, such as 10 or 0.5, not `-1`'],
		['private: yes', '`private` must be true or false, not `yes`'],
		[
			'private: true, source: trace_filter',
			'`source` names the watched addresses to the provider: with `private` write trace_block, or drop it',
		],
		['ws: https://h/CANARY', 'an entry of `ws` must begin with ws:// or wss://; https:// is not supported here'],
		['ws: [ws://h, ws://h]', 'an entry of `ws` is listed twice'],
		[
			'schedule: "0 * * * *"',
			'`schedule` polls every 1h, and after 10m without a block (`stall_after`) that would be reported as a stall; ' +
				'six fields begin with seconds, such as "*/12 * * * * *"',
		],
		[
			'schedule: "0 * * * * *", stall_after: 1m',
			'`schedule` polls every 1m, and after 1m without a block (`stall_after`) ' +
				'that would be reported as a stall; six fields begin with seconds, such as "*/12 * * * * *"',
		],
	])('error: %s', async (options, message) => {
		const error = await withNetwork(options).catch((thrown: unknown) => thrown)
		if (!(error instanceof ConfigError)) throw error
		expect(error.problems.map((problem) => problem.message)).toEqual([message])
		expect(error.problems.map(({ line }) => line)).toEqual([2])
	})

	test.each([
		'schedule: "0 0 * * * *"',
		'schedule: "0 0 0 1 1 *", ws: ws://127.0.0.1:9/, stall_after: 10m',
		'schedule: "0 * * * *", stall_after: never',
	])('default: a slow schedule that is meant: %s', async (options) => {
		await expect(withNetwork(options)).resolves.toBeDefined()
	})

	test('two of one chain are a warning', async () => {
		const { warnings } = await withNetwork('settle: 1}\n  - {name: again, chain_id: 8453, rpc: ["http://127.0.0.1:1"]')
		const told = warnings.filter(({ message }) => !message.includes('has no `fallback`'))
		expect(told.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual([
			'3:12: no watchlist names the network `again`',
			'3:29: `base` has this `chain_id` too: what is watched on both is scanned and sent twice, under the same id',
		])
	})
})

describe('receivers in the words of `check`', () => {
	test('in words, with hosts only', async () => {
		const lines = [
			'type: webhook',
			`url: ${bot}/sendMessage?chat_id=5`,
			'format: telegram',
			'digest: {every: 90s, max: 3}',
			'fallback: spare',
		]
		const config = await load(lines, ['name: spare, type: webhook, url: "http://127.0.0.1:1"'])
		expect(describeConfig(config, folder).find((line) => line.startsWith('  hook: '))).toBe(
			'  hook: telegram at api.telegram.org; past 3 alerts in 90s the rest as one message; ' +
				'spare is notified when it fails',
		)
	})

	test('no secret of theirs is left in a line after the scrubber', async () => {
		const lines = [
			'type: webhook',
			`url: ${bot}/sendMessage?chat_id=5`,
			'format: telegram',
			'headers: {Authorization: Basic CANARY-basic}',
		]
		const others = [
			`name: pager, type: webhook, url: "https://h/", format: pagerduty, routing_key: ${key}`,
			'name: push, type: webhook, url: "https://h/CANARY-topic-8fK2xQ9vZ3", format: ntfy',
			`name: two, type: webhook, url: "https://h/", secret: "${whsec(1)} ${whsec(2)}"`,
		]
		const scrubber = createScrubber()
		scrubber.add((await load(lines, others)).secrets)
		const line = scrubber.clean(
			`${bot} bot123456:CANARY-token 123456:CANARY-token CANARY-basic ${key} CANARY-topic-8fK2xQ9vZ3 ${whsec(1)} ` +
				`${whsec(2)} ${whsec(2).slice(6)}`,
		)
		expect(line).not.toMatch(/CANARY|AQEB|AgIC/)
		expect(line).toContain('api.telegram.org')
	})
})
