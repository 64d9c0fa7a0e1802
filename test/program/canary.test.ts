/**
 * The canary: every secret of a configuration bears a mark, other sides repeat whatever they know of it in every form, and
 * nothing that leaves the program may hold a mark: log, output, mails, webhooks, state, metrics and pages.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startTestDevnode, type TestDevnode } from '../support/anvil.js'
import { createCanaries, repeated } from '../support/canaries.js'
import { type HookServer, resetConnection, startHookServer } from '../support/hookServer.js'
import { type MailServer, startMailServer } from '../support/mailServer.js'
import { type Ended, openSite, type Site } from '../support/program.js'
import { badMoods, knowledgeOf, startTalkativeNode, type TalkativeNode } from '../support/talkativeNode.js'
import { treasury, vault, watchlist } from './site.js'

const canaries = createCanaries()
const { odd, ascii, plain, signing } = canaries
const url = encodeURIComponent

let chain: TestDevnode
let node: TalkativeNode
let hook: HookServer
let mail: MailServer

beforeAll(async () => {
	chain = await startTestDevnode()
	node = await startTalkativeNode(chain.node.anvilUrl)
	hook = await startHookServer()
	mail = await startMailServer({ login: { user: odd('smtp user'), pass: odd('smtp password') }, loginInClear: true })
})

afterAll(() => Promise.all([chain.stop(), node.close(), hook.close(), mail.close()]))

interface Places {
	readonly rpc?: string
	readonly hook?: string
	readonly smtp?: string
}

const rpcUrl = (origin: string) =>
	origin.replace('://', `://${url(odd('rpc user'))}:${url(odd('rpc password'))}@`) +
	`/v3/${url(odd('rpc path'))}/evm?key=${url(odd('rpc query'))}&${plain('rpc bare query')}`
const hookUrl = (origin: string) =>
	origin.replace('://', `://${url(odd('hook user'))}:${url(odd('hook password'))}@`) +
	`/services/${url(odd('hook path'))}/${plain('hook plain path')}?token=${url(odd('hook query'))}#${plain('hook fragment')}`
const smtpUrl = (origin: string) => origin.replace('://', `://${url(odd('smtp user'))}:${url(odd('smtp password'))}@`)

/** Secrets come in all the ways there are: variables, files, credentials, and openly in the file. */
function open(places: Places = {}, more = ''): Site & { readonly env: Readonly<Record<string, string>> } {
	const site = openSite({
		'tracewatch.yaml': `networks:
  - name: local
    chain_id: 31337
    rpc: ["\${RPC_URL}"]
    schedule: "* * * * * *"
    stall_after: 2s
receivers:
  - name: hook
    type: webhook
    url: \${HOOK_URL}
    secret: \${HOOK_SECRET}
    headers: {X-Token: "\${HOOK_TOKEN}", X-Inline: ${plain('header inline')}}
  - name: chat
    type: webhook
    format: telegram
    url: ${places.hook ?? hook.origin}/bot123456:${plain('bot token')}
    chat_id: "-100200300"
  - name: pager
    type: webhook
    format: pagerduty
    url: ${places.hook ?? hook.origin}/v2/enqueue
    routing_key: ${plain('routing key').padEnd(32, '0')}
  - name: mail
    type: email
    smtp: "${smtpUrl(places.smtp ?? `smtp://${mail.host}`)}"
    from: tracewatch@example.org
    to: [ops@example.org]
heartbeat_url: "https://${plain('heartbeat user')}@127.0.0.1:9/${plain('heartbeat path')}?${plain('heartbeat query')}"
${more}`,
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, direction: out}`], 'hook, chat, pager, mail'),
	})
	onTestFinished(() => site.close())
	const secrets = join(site.folder, 'secrets')
	mkdirSync(secrets)
	writeFileSync(join(secrets, 'hook_url'), `${hookUrl(places.hook ?? hook.origin)}\n`)
	writeFileSync(join(secrets, 'HOOK_SECRET'), signing('signing secret'))
	const env = {
		RPC_URL: rpcUrl(places.rpc ?? `http://${node.host}`),
		HOOK_URL_FILE: join(secrets, 'hook_url'),
		CREDENTIALS_DIRECTORY: secrets,
		HOOK_TOKEN: ascii('hook token'),
		LOG_LEVEL: 'debug',
	}
	return {
		...site,
		env,
		run: (args, extra) => site.run(args, { ...env, ...extra }),
		start: (args, extra) => site.start(args, { ...env, ...extra }),
	}
}

/** What the program wrote into its folder. */
function written(site: Site): string {
	const state = join(site.folder, 'state')
	try {
		const names = readdirSync(state).filter((name) => !name.endsWith('.sock'))
		return names.map((name) => `${name}: ${readFileSync(join(state, name), 'utf8')}`).join('\n')
	} catch {
		return ''
	}
}

const sent = () => [
	...hook.hits.filter(({ url }) => !url.startsWith('/v2/enqueue')).map(({ body }) => body.toString()),
	...mail.mails.map(({ raw, text, html, subject }) => [raw, text, html, subject].join('\n')),
	...node.asked,
]

function expectSilence(site: Site, ends: readonly Ended[], ...texts: readonly string[]): void {
	for (const text of [...ends.flatMap(({ stdout, stderr }) => [stdout, stderr]), written(site), ...sent(), ...texts]) {
		expect(canaries.in(text)).toEqual([])
	}
}

const pay = () => chain.send({ from: treasury, to: vault, valueWei: 1n })

/** Every command that a person would run to see what is the matter. */
async function inspect(site: Site): Promise<readonly Ended[]> {
	const commands = [['check'], ['status'], ['status', '--json'], ['deliveries'], ['deliveries', 'list', '--json']]
	return await Promise.all(commands.map((args) => site.run(args)))
}

const testSends = (site: Site) =>
	Promise.all(['hook', 'chat', 'pager', 'mail'].map((name) => site.run(['test-send', name])))

describe('no secret leaves', () => {
	test('while all is well', async () => {
		const site = open()
		const ends = [await site.run(['once'])]
		await pay()
		ends.push(await site.run(['once']))
		expect(ends.map(({ code, stdout }) => [code, code === 0 ? '' : stdout])).toEqual([
			[0, ''],
			[0, ''],
		])
		expect(hook.hits.map(({ headers }) => headers['x-token'])).toContain(ascii('hook token'))
		expect(mail.logins).toContainEqual({ user: odd('smtp user'), pass: odd('smtp password') })
		expectSilence(site, [...ends, ...(await inspect(site)), ...(await testSends(site))])
	})

	test('when the endpoint repeats it', async () => {
		const site = open()
		const ends = [await site.run(['once'])]
		onTestFinished(() => {
			node.mood = 'good'
		})
		for (const mood of badMoods) {
			node.mood = mood
			ends.push(...(await Promise.all([site.run(['once']), site.run(['replay', '--from', '0', '--to', '0'])])))
			expect(ends.at(-1)?.code).not.toBe(0)
			expect(ends.at(-2)?.code).not.toBe(0)
		}
		expectSilence(site, [...ends, ...(await inspect(site))])
	})

	test.each([
		['refused', () => ['http://127.0.0.1:9', 'smtp://127.0.0.1:9']],
		['no TLS there', () => [`https://${node.host}`, `smtps://${mail.host}`]],
		['DNS', () => ['http://nowhere.invalid', 'smtp://nowhere.invalid']],
		['link-local', () => ['http://169.254.169.254', 'smtp://169.254.169.254']],
	])('when others cannot be reached: %s', async (_, places) => {
		const [origin = '', smtp = ''] = places()
		const lame = open({ rpc: origin })
		expectSilence(lame, [await lame.run(['once'])])

		const site = open({ hook: origin, smtp })
		const ends = [await site.run(['once'])]
		await pay()
		ends.push(await site.run(['once']))
		expect(ends.at(-1)?.code).not.toBe(0)
		expectSilence(site, [...ends, ...(await inspect(site)), ...(await testSends(site))])
	})

	test('when receivers repeat it', async () => {
		const site = open()
		const ends = [await site.run(['once'])]
		const phases = ['connect', 'login', 'sender', 'recipient', 'data']
		const statuses = [400, 401, 410, 500, 302, 'reset'] as const
		onTestFinished(() => {
			hook.answer = () => 204
			mail.answer = () => null
		})
		for (const [at, status] of statuses.entries()) {
			hook.answer = ({ url, headers }) => {
				if (status === 'reset') return resetConnection
				const moved = status === 302 ? { location: `https://127.0.0.1:9${url}` } : {}
				return { status, headers: moved, body: knowledgeOf({ url, headers }) }
			}
			const code = at % 2 === 0 ? '550 5.0.0' : '450 4.0.0'
			mail.answer = (phase) => (phase === phases[at % phases.length] ? `${code} ${loginRepeated(at)}` : null)
			await pay()
			ends.push(await site.run(['once']), ...(await testSends(site)))
			ends.push(await site.run(['deliveries', 'retry', '--all']))
		}
		expectSilence(site, [...ends, ...(await inspect(site))])
	})

	test('from a daemon with its pages, a stall, a wrong reload and its end', async () => {
		const site = open({}, 'http: 127.0.0.1:0\n')
		const running = site.start(['run'])
		const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
		await running.line(({ msg }) => msg === 'coverage changed')
		const before = hook.hits.length
		await pay()
		await hook.until((hits) => hits.length > before)
		const pages: string[] = []
		const look = async () => {
			for (const path of ['/metrics', '/healthz', '/', `/${plain('hook plain path')}`]) {
				pages.push(await (await fetch(`http://127.0.0.1:${port}${path}`)).text())
			}
		}
		await look()
		node.mood = 'failing'
		onTestFinished(() => {
			node.mood = 'good'
		})
		await running.line(({ msg }) => msg.startsWith('stalled:'))
		await look()
		await hook.until((hits) => hits.some(({ body }) => body.includes('system.stalled')))
		node.mood = 'good'
		await pay()
		await running.line(({ msg }) => msg.startsWith('recovered:'))
		site.write(
			'watchlists/a.yaml',
			`network: ${plain('hook plain path')}\nreceivers: [hook]\nwatches: [{address: 1}]\n`,
		)
		await running.line(({ level, msg }) => level === 'error' && msg.includes('watchlists'))
		running.process.kill('SIGHUP')
		await look()
		const ended = await running.stop()
		expect(ended.code).toBe(0)
		expectSilence(site, [ended, ...(await inspect(site))], ...pages)
	})

	test.each([
		['RPC_URL', plain('rpc path')],
		['RPC_URL', `ftp://${plain('rpc user')}@host/${plain('rpc path')}`],
		['RPC_URL', `https://host with spaces/${plain('rpc path')}`],
		['RPC_URL', `https://host:99999/${plain('rpc path')}`],
		['RPC_URL', `//${odd('rpc path')}`],
		['HOOK_SECRET', odd('signing secret')],
		['HOOK_SECRET', `whsec_${plain('signing secret')}`],
		['HOOK_SECRET', `${signing('signing secret')} ${plain('signing secret')}`],
		['HOOK_URL', `${odd('hook path')}`],
		['HOOK_URL', `mailto:${plain('hook path')}@example.org`],
		['HOOK_TOKEN', odd('hook token')],
		['HOOK_TOKEN', `two\nlines${plain('hook token')}`],
	])('from a configuration with a wrong %s', async (name, value) => {
		const site = open()
		const ends = await Promise.all(
			['check', 'once', 'run', 'status'].map((command) => site.run([command], { [name]: value })),
		)
		for (const { code } of ends) expect(code).toBe(78)
		expectSilence(site, ends)
	})

	const mark = plain('inline')
	test.each([
		['an open quote', `"https://host/${mark}`],
		['an alias', `*${mark}`],
		['an anchor', `&${mark}`],
		['a tag', `!${mark} x`],
		['an at sign', `@${mark}`],
		['a backtick', `\`${mark}`],
		['a percent sign', `%${mark}`],
		['a colon', `https://host: ${mark}`],
		['brackets', `[${mark}`],
		['braces', `{${mark}: {`],
		['a wrong escape', `"\\q${mark}"`],
		['a block', `|\n  ${mark}\n ${mark}`],
		['a tab', `\n\t${mark}`],
		['a second one', `x\n    url: ${mark}`],
		['a list', `[https://host/${mark}]`],
		['an object', `{${mark}: 1}`],
		['a variable with a default', `\${HOOK_URL:-https://host/${mark}}`],
		['a variable left open', `\${${mark}`],
		['another scheme', `gopher://${mark}@host/${mark}`],
		['a quote inside', `"https://host/"${mark}`],
	])('from a file with a slip: %s', async (_, value) => {
		const site = open()
		const text = readFileSync(join(site.folder, 'tracewatch.yaml'), 'utf8')
		site.write(
			'tracewatch.yaml',
			text.replace(/url: .*HOOK_URL./, () => `url: ${value}`),
		)
		const ends = await Promise.all(['check', 'run'].map((command) => site.run([command], { LOG_LEVEL: 'debug' })))
		for (const { code } of ends) expect(code).toBe(78)
		expectSilence(site, ends)
	})
})

/** On one line; which form comes first differs from turn to turn. */
function loginRepeated(turn: number): string {
	const [user, password] = [odd('smtp user'), odd('smtp password')]
	const wrapped = [`\u0000${user}\u0000${password}`, `${user}:${password}`]
	const forms = [
		...wrapped.map((text) => Buffer.from(text).toString('base64')),
		...repeated(user),
		...repeated(password),
	]
	const first = (turn * 5) % forms.length
	return [...forms.slice(first), ...forms.slice(0, first)].join(' ').slice(0, 1_500)
}
