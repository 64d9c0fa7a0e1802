// `tracewatch setup`, by scripts, over what is there, and without success.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { Refused, startDialectGateway } from '../support/dialectGateway.js'
import { startMailServer } from '../support/mailServer.js'
import { CLEAR, pick, startSetup } from './setupSite.js'
import { hookServer, told, treasury, vault } from './site.js'

let node: TestAnvil

beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

const checksummed = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

test('error: over a configuration that is there, setup says to edit it, and changes nothing', async () => {
	const { here, hook, out, read, script, secrets, terminal } = await startSetup(node)
	expect(await script(['--address', treasury], secrets)).toMatchObject({ code: 0 })
	const names = readdirSync(out, { recursive: true }).sort()
	const list = read('watchlists/local.yaml')
	// As setup wrote it, edited, broken, empty.
	for (const before of [read('tracewatch.yaml'), `${read('tracewatch.yaml')}# mine\n`, 'networks: [\n', '']) {
		here.write('out/tracewatch.yaml', before)
		const { code, stderr } = await script(['--address', vault], secrets)
		expect(code).toBe(1)
		const words = stderr.replaceAll(out, 'OUT')
		expect(words).toContain('OUT/tracewatch.yaml is there already')
		expect(words).toContain('edit OUT/tracewatch.yaml and the files in OUT/watchlists')
		expect([read('tracewatch.yaml'), read('watchlists/local.yaml')]).toEqual([before, list])
	}
	expect(await terminal().ended, 'no question is asked').toBe(1)
	expect([read('tracewatch.yaml'), read('watchlists/local.yaml')]).toEqual(['', list])
	expect(readdirSync(out, { recursive: true }).sort()).toEqual(names)
	expect(told(hook.hits), 'no receiver is tried').toHaveLength(1)
})

test('behavior: a watchlist that is there stays, and a new one comes; a wrong one: nothing is written', async () => {
	const { here, out, read, script, secrets } = await startSetup(node)
	const right = `network: local\nreceivers: [ops]\nwatches: [{address: ${vault}}]\n`
	here.write('out/watchlists/local.yaml', right.replace('[ops]', '[nobody]'))
	const refused = await script(['--address', treasury], secrets)
	expect(refused).toMatchObject({
		code: 78,
		stderr: expect.stringMatching(/nothing was written.*watchlists\/local\.yaml:2:13: /s),
	})
	expect(existsSync(join(out, 'tracewatch.yaml'))).toBe(false)
	expect([readdirSync(join(out, 'watchlists')), readdirSync(join(out, 'secrets'))]).toEqual([['local.yaml'], []])

	here.write('out/watchlists/local.yaml', right)
	const done = await script(['--address', treasury], secrets)
	expect(done, done.stderr).toMatchObject({ code: 0 })
	expect(read('watchlists/local.yaml')).toBe(right)
	expect(read('watchlists/local-2.yaml')).toContain(checksummed)
})

test('behavior: of PagerDuty the key is asked for, a wrong one again', async () => {
	const { out, read, secrets, terminal } = await startSetup(node)
	const key = 'a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4'
	const person = terminal('--untested', '--chain-id', '31337')
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('Alerts by', pick.pagerduty)
	await person.answers('Integration key of the service, Events API v2 (not shown)', 'https://events.pagerduty.com/')
	await person.sees('it must')
	person.types(`${key}\r`)
	await person.answers('First address to watch', treasury)
	await person.answers('Its label', 'Till')
	expect(await person.ended, person.screen()).toBe(0)
	expect(person.screen()).not.toContain(key)
	const url = 'https://events.pagerduty.com/v2/enqueue'
	const kept = () => [read('secrets/OPS_HOOK_URL'), read('secrets/OPS_HOOK_SECRET')].map((text) => text.trim())
	expect(kept()).toEqual([url, key])
	const receiver = { name: 'ops', type: 'webhook', format: 'pagerduty', routing_key: '${OPS_HOOK_SECRET}' }
	expect(parse(read('tracewatch.yaml')).receivers).toMatchObject([receiver])
	expect(readFileSync(join(out, 'tracewatch.yaml'), 'utf8')).not.toContain(key)
})

test('behavior: an answer pasted ahead of its question is not shown', async () => {
	const { out, secrets, terminal } = await startSetup(node)
	const person = terminal('--address', treasury)
	await person.sees('Endpoint')
	person.types(`${secrets.ETHEREUM_RPC_URL}\rj\r${secrets.OPS_HOOK_URL}\r`)
	person.types(`${secrets.OPS_HOOK_URL}\r`)
	await person.sees('Alerts by')
	person.types('\u0003')
	expect(await person.ended).toBe(75)
	expect(person.screen()).not.toMatch(/Canary/)
	expect(existsSync(out)).toBe(false)
})

test('error: a secret that is there: setup overwrites nothing, and asks nothing', async () => {
	const { here, read, secrets, script, terminal } = await startSetup(node)
	here.write('out/secrets/OPS_HOOK_URL', 'mine')
	const refused = await script(['--yes', '--address', treasury], secrets)
	expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('secrets/OPS_HOOK_URL is there already') })
	expect(await terminal().ended).toBe(1)
	expect(read('secrets/OPS_HOOK_URL')).toBe('mine')
})

test('error: a dead endpoint, a receiver that refuses, nothing to go by: nothing is written', async () => {
	const { hook, here, out, script, secrets } = await startSetup(node)
	const dead = { ...secrets, ETHEREUM_RPC_URL: 'http://127.0.0.1:9/Canary-dead-0123456789' }
	const results = [await script(['--address', treasury], dead)]
	hook.answer = () => ({ status: 404 })
	results.push(await script(['--address', treasury], secrets))
	results.push(await script(['--address', '0x12'], secrets), await script([], secrets), await script([]))
	expect(results.map(({ code }) => code)).toEqual([75, 1, 2, 2, 2])
	for (const { stdout, stderr } of results) expect(stdout + stderr).not.toContain('Canary')
	expect(results[0]?.stderr).toMatch(/127\.0\.0\.1:9 .*To do: look at the URL: .*\nnothing was written/)
	expect(results[4]?.stderr).toContain('there is no terminal to ask on (or --yes): give --address')
	expect(existsSync(out)).toBe(false)
	// The file is in the way of a folder: setup says so before it sends a test message.
	const sent = hook.hits.length
	here.write('out/watchlists', 'a file')
	hook.answer = () => ({ status: 204 })
	expect(await script(['--address', treasury], secrets)).toMatchObject({ code: 1 })
	expect(readdirSync(out)).toEqual(['watchlists'])
	expect(hook.hits).toHaveLength(sent)
})

test('behavior: all trace methods are refused in unknown words: setup says so', async () => {
	const gateway = await startDialectGateway(node.url, {
		twist(method) {
			if (!/^(trace|debug)_/.test(method)) return undefined
			throw new Refused({ error: { code: -32000, message: 'ask our people about this one' } })
		},
	})
	onTestFinished(() => gateway.close())
	await node.receipt(await node.send({ from: vault, to: treasury, valueWei: 5n }))
	const { script, secrets } = await startSetup(node)
	const { stderr } = await script(['--address', treasury], { ...secrets, ETHEREUM_RPC_URL: gateway.url })
	expect(stderr).toMatch(/ answers: .*\n.*its traces could not be tried: .*ask our people about this one/)
	expect(stderr).not.toContain(' works: ')
})

/** A server that takes mails of its own user only, and the URL for him. */
async function mailSite() {
	const server = await startMailServer({
		login: { user: 'watch@example.org', pass: 'Canary p@ss/w0rd' },
		loginInClear: true,
	})
	onTestFinished(() => server.close())
	const url = (pass: string) => `smtp://watch%40example.org:${encodeURIComponent(pass)}@${server.host}`
	return { server, smtp: url('Canary p@ss/w0rd'), wrong: url('Canary wrong') }
}

test('behavior: by mail: the password is a credential, the trial arrives, and so does an alert', async () => {
	const { here, out, read, secrets, terminal } = await startSetup(node)
	const { server, smtp, wrong } = await mailSite()
	const person = terminal()
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('Alerts by', pick.mail)
	await person.answers('Mail server', 'smtp://me:Canary p@ss/word@host')
	await person.sees('it ')
	person.types(`${wrong}\r`)
	await person.sees('535')
	await person.answers('Mail server', smtp)
	await person.answers('Mails go to', 'ops@example.org, nobody')
	await person.sees('it ')
	person.types(`${CLEAR}ops@example.org, second@example.org\r`)
	await person.answers('First address to watch', `${checksummed.slice(0, -1)}7`)
	await person.sees('checksum')
	person.types(`${CLEAR}${treasury}\r`)
	await person.answers('Its label in alerts', '\u202eTill')
	await person.sees('it must be one line without control')
	person.types(`${CLEAR}Till\r`)
	expect(await person.ended).toBe(0)

	expect(person.screen()).not.toMatch(/Canary|p%40ss/)
	expect(read('secrets/SMTP_URL').trim()).toBe(smtp)
	expect(read('tracewatch.yaml')).toMatch(/^ {4}smtp: \$\{SMTP_URL\}$/m)
	expect(read('tracewatch.yaml') + read('watchlists/local.yaml')).not.toContain('Canary')
	const trials = await server.until(2)
	expect(trials.map(({ recipients }) => recipients)).toEqual([['ops@example.org'], ['second@example.org']])
	for (const mail of trials)
		expect([mail.sender, mail.subject]).toEqual(['watch@example.org', expect.stringContaining('[TEST]')])
	const config = join(out, 'tracewatch.yaml')
	expect(await here.run(['once', '-c', config])).toMatchObject({ code: 0 })
	await node.receipt(await node.send({ from: vault, to: treasury, valueWei: 5n }))
	expect(await here.run(['once', '-c', config])).toMatchObject({ code: 0 })
	const [, , alert] = await server.until(4)
	expect(alert?.subject).toBe('[local] Till received 0.000000000000000005 ETH from 0x7099…79C8')
})

test('behavior: of Telegram the URL with its chat is asked for, a refused one again', async () => {
	const { read, secrets, terminal } = await startSetup(node)
	const bot = await hookServer()
	bot.answer = () => ({ status: 401 })
	const person = terminal('--address', treasury)
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('Alerts by', pick.telegram)
	await person.answers('URL of the bot', `${bot.origin}/bot123:Canary-token-wrong?chat_id=me`)
	await person.sees('the number of a chat')
	person.types(`${bot.origin}/bot123:Canary-token-wrong?chat_id=-1001234567890\r`)
	await person.sees('not delivered')
	bot.answer = () => ({ status: 204 })
	await person.answers('URL of the bot', `${bot.origin}/bot123:Canary-token-right?chat_id=-1001234567890`)
	expect(await person.ended, person.screen()).toBe(0)
	expect(person.screen()).not.toContain('Canary')
	expect(parse(read('tracewatch.yaml')).receivers).toMatchObject([{ name: 'ops', format: 'telegram' }])
	const url = `${bot.origin}/bot123:Canary-token-right?chat_id=-1001234567890`
	expect(read('secrets/OPS_HOOK_URL').trim()).toBe(url)
})

test.each([
	['pagerduty', { OPS_HOOK_SECRET: 'a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4' }, [], { routing_key: '${OPS_HOOK_SECRET}' }],
	['telegram', {}, ['--chat=-42'], {}],
	['ntfy', {}, [], {}],
] as const)('behavior: a script names %s', async (format, more, options, keys) => {
	const { read, script, secrets, hook } = await startSetup(node)
	const path = format === 'telegram' ? 'bot1:Canary-token-0123456789' : 'Canary-topic-0123456789'
	const env = { ...secrets, ...more, OPS_HOOK_URL: `${hook.origin}/${path}` }
	const done = await script(['--yes', '--address', treasury, '--format', format, ...options], env)
	expect(done, done.stderr).toMatchObject({ code: 0 })
	expect(hook.hits).toHaveLength(1)
	if (format === 'telegram') expect(read('secrets/OPS_HOOK_URL')).toContain('?chat_id=-42')
	expect(parse(read('tracewatch.yaml')).receivers).toMatchObject([{ name: 'ops', format, ...keys }])
})

test('error: a password that the mail server refuses is asked for again, alone', async () => {
	const { out, secrets, terminal } = await startSetup(node)
	const { server, wrong } = await mailSite()
	const person = terminal('--address', treasury, '--to', 'ops@example.org')
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('Mail server', wrong)
	await person.sees('535')
	await person.sees('Mail server')
	person.types('\u0003')
	expect(await person.ended).toBe(75)
	expect(server.mails).toHaveLength(0)
	expect(person.screen()).toContain('535')
	expect(person.screen()).not.toContain('Canary')
	expect(existsSync(join(out, 'tracewatch.yaml'))).toBe(false)
})

test('error: Ctrl-C at a question or while an answer is tried: nothing is written', async () => {
	const { out, tmp, secrets, terminal } = await startSetup(node)
	const { smtp } = await mailSite()
	const questions = [
		['Endpoint', secrets.ETHEREUM_RPC_URL],
		['Alerts by', pick.mail],
		['Mail server', smtp],
		['Mails go to', 'ops@example.org'],
		['First address to watch', treasury],
		['Its label', 'Till'],
	] as const
	// Typed in secret, chosen, and typed after all the others.
	for (const stop of [0, 1, 5]) {
		const [question = ''] = questions[stop] ?? []
		const person = terminal()
		for (const [before, answer] of questions.slice(0, stop)) await person.answers(before, answer)
		await person.sees(question)
		person.types('\u0003')
		expect(await person.ended, `${stop}: ${person.screen()}`).toBe(75)
		expect(person.screen()).toContain('stopped; nothing was written')
		expect(person.screen()).not.toMatch(/Canary|p%40ss/)
		expect([existsSync(out), readdirSync(tmp)]).toEqual([false, []])
	}
	const hanging = await hookServer()
	hanging.answer = () => () => undefined
	const person = terminal('--address', treasury)
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('Alerts by', pick.webhook)
	await person.answers('URL of the webhook', hanging.origin)
	await hanging.until(1)
	person.types('\u0003')
	expect(await person.ended, person.screen()).toBe(75)
	expect(existsSync(out)).toBe(false)
})
