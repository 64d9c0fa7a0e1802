// `tracewatch setup`, by scripts, again over what is there, and without success.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { startMailServer } from '../support/mailServer.js'
import { startSetup } from './setupSite.js'
import { hookServer, stranger, told, treasury, vault } from './site.js'

let node: TestAnvil

beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

const checksummed = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

test('behavior: a script sets up, adds an address, and changes the receiver; no one is asked', async () => {
	const { hook, read, script, secrets } = await startSetup(node)
	expect(await script(['--address', treasury], secrets)).toMatchObject({ code: 0 })
	const signing = read('secrets/OPS_HOOK_SECRET')
	expect(await script(['--address', vault, '--label', 'Vault'])).toMatchObject({ code: 0 })
	expect(read('watchlists/local.yaml').match(/^ {2}- address: .*$/gm)).toEqual([
		`  - address: ${checksummed}`,
		'  - address: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
	])
	expect(read('secrets/OPS_HOOK_SECRET')).toBe(signing)
	expect(told(hook.hits)).toHaveLength(2)

	const other = await hookServer()
	expect(await script(['--webhook', other.origin, '--format', 'slack'])).toMatchObject({ code: 0 })
	expect(other.hits).toHaveLength(1)
	expect(read('secrets/OPS_HOOK_URL').trim()).toBe(`${other.origin}/`)
	expect(read('watchlists/local.yaml').match(/address:/g)).toHaveLength(2)
})

test('behavior: what a person edited is replaced only when that is confirmed, and kept', async () => {
	const { here, out, read, script, secrets, terminal } = await startSetup(node)
	await script(['--address', treasury, '--untested', '--chain-id', '31337'], secrets)
	const edited = `${read('tracewatch.yaml')}# mine\n`
	here.write('out/tracewatch.yaml', edited)
	here.write('out/watchlists/local.yaml', `# my words\n${read('watchlists/local.yaml')}# an end\n`)
	const list = read('watchlists/local.yaml')

	const refused = await script(['--address', vault, '--format', 'slack'])
	expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('was edited by hand and stays as it is') })
	// An address alone may come in, with the rest as the person wrote it.
	expect(await script(['--address', vault, '--untested'])).toMatchObject({ code: 0 })
	expect(read('tracewatch.yaml')).toBe(edited)
	expect(read('watchlists/local.yaml')).toBe(`${list}  - address: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n`)

	const no = terminal('--untested', '--address', stranger)
	await no.answers('[y/N]', '')
	expect(await no.ended).toBe(0)
	expect(read('tracewatch.yaml')).toBe(edited)

	const yes = terminal('--untested', '--chain-id', '31337', '--address', stranger)
	await yes.answers('[y/N]', 'y')
	await yes.answers('Endpoint', '')
	await yes.answers('ntfy or pagerduty', 'w')
	await yes.answers('URL of the webhook', '')
	await yes.answers('A second receiver', '')
	expect(await yes.ended).toBe(0)
	expect(read('tracewatch.yaml')).not.toContain('# mine')
	expect(read('tracewatch.yaml.old')).toBe(edited)
	expect(existsSync(join(out, 'tracewatch.yaml.old.2'))).toBe(false)
})

test('behavior: of PagerDuty the key is asked for, a wrong one again; later Enter alone keeps it', async () => {
	const { out, read, secrets, terminal } = await startSetup(node)
	const key = 'a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4'
	const site = ['--untested', '--chain-id', '31337']
	const person = terminal(...site)
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('ntfy or pagerduty?', 'PagerDuty')
	await person.answers('Integration key of the service, Events API v2 (not shown)', 'https://events.pagerduty.com/')
	await person.answers('Integration key', key)
	await person.answers('First address to watch', treasury)
	await person.answers('Its label', 'Till')
	await person.answers('A second receiver', '')
	expect(await person.ended, person.screen()).toBe(0)
	expect(person.screen()).not.toContain(key)
	const url = 'https://events.pagerduty.com/v2/enqueue'
	const kept = () => [read('secrets/OPS_HOOK_URL'), read('secrets/OPS_HOOK_SECRET')].map((text) => text.trim())
	expect(kept()).toEqual([url, key])
	const receiver = { name: 'ops', type: 'webhook', format: 'pagerduty', routing_key: '${OPS_HOOK_SECRET}' }
	expect(parse(read('tracewatch.yaml')).receivers).toMatchObject([receiver])
	expect(readFileSync(join(out, 'tracewatch.yaml'), 'utf8')).not.toContain(key)

	const again = terminal(...site)
	await again.answers('Endpoint', '')
	await again.answers('ntfy or pagerduty? [pagerduty]', '')
	await again.answers('Integration key', '')
	await again.answers('Another address', '')
	await again.answers('A second receiver', '')
	expect(await again.ended, again.screen()).toBe(0)
	expect(kept()).toEqual([url, key])
})

test('behavior: PagerDuty as the second receiver has a key of its own; each is the fallback of the other', async () => {
	const { read, secrets, terminal } = await startSetup(node)
	const person = terminal('--untested', '--chain-id', '31337', '--address', treasury, '--label', 'Till')
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('ntfy or pagerduty?', 'webhook')
	await person.answers('URL of the webhook', secrets.OPS_HOOK_URL)
	await person.answers('A second receiver', 'pagerduty')
	await person.answers('Integration key', 'b1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4')
	expect(await person.ended, person.screen()).toBe(0)
	const [first, second] = parse(read('tracewatch.yaml')).receivers
	expect(second).toMatchObject({ type: 'webhook', format: 'pagerduty', fallback: first.name })
	expect(first).toMatchObject({ fallback: second.name })
	expect(read('secrets/OPS_HOOK_SECRET').trim()).toMatch(/^whsec_/)
	const name = /\{(\w+)\}/.exec(second.routing_key)?.[1] ?? ''
	expect(read(`secrets/${name}`).trim()).toBe('b1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4')
})

test('behavior: pasted in one go, nothing secret is shown', async () => {
	const { out, secrets, terminal } = await startSetup(node)
	const person = terminal('--untested', '--chain-id', '5')
	await person.sees('Endpoint')
	person.types(`${secrets.ETHEREUM_RPC_URL}\rwebhook\r${secrets.OPS_HOOK_URL}\r${treasury}\r\r\r`)
	expect(await person.ended).toBe(0)
	expect(person.screen()).not.toMatch(/Canary/)
	expect(readFileSync(join(out, 'tracewatch.yaml'), 'utf8')).toContain('chain_id: 5')
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
	expect(results[4]?.stderr).toContain('there is no terminal to ask on: give --address')
	expect(existsSync(out)).toBe(false)
	// The file stands where a folder must be made: what was written before it goes again.
	here.write('out/watchlists', 'a file')
	hook.answer = () => ({ status: 204 })
	expect(await script(['--address', treasury], secrets)).toMatchObject({ code: 1 })
	expect(readdirSync(out).sort()).toEqual(['secrets', 'watchlists'])
	expect(readdirSync(join(out, 'secrets'))).toEqual([])
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
	const { here, out, read, secrets, terminal, env } = await startSetup(node)
	const { server, smtp, wrong } = await mailSite()
	const person = terminal()
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('ntfy or pagerduty? [mail]', 'pigeon')
	await person.sees('it takes mail, webhook')
	await person.answers('ntfy or pagerduty? [mail]', '')
	await person.answers('Mail server', 'smtp://me:Canary p@ss/word@host')
	await person.sees('it ')
	await person.answers('Mail server', wrong)
	await person.sees('535')
	await person.answers('Use it anyway? [y/N]', '')
	await person.answers('Mail server', smtp)
	await person.answers('Mails go to', 'ops@example.org, nobody')
	await person.sees('it ')
	await person.answers('Mails go to', 'ops@example.org, second@example.org')
	await person.answers('Sender of the mails [watch@example.org]', '')
	await person.answers('First address to watch', `${checksummed.slice(0, -1)}7`)
	await person.sees('checksum')
	await person.answers('First address to watch', treasury)
	await person.answers('Its label in alerts [none]', '\u202eTill')
	await person.sees('it must be one line without control characters')
	await person.answers('Its label in alerts [none]', 'Till')
	await person.answers('A second receiver', '')
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
	expect(await here.run(['once', '-c', config], env)).toMatchObject({ code: 0 })
	await node.receipt(await node.send({ from: vault, to: treasury, valueWei: 5n }))
	expect(await here.run(['once', '-c', config], env)).toMatchObject({ code: 0 })
	const [, , alert] = await server.until(4)
	expect(alert?.subject).toBe('[local] Till received 0.000000000000000005 ETH from 0x7099…79C8')
})

test('behavior: a second receiver, by Telegram, and each is the fallback of the other', async () => {
	const { here, hook, out, read, secrets, terminal, env } = await startSetup(node)
	const bot = await hookServer()
	bot.answer = () => ({ status: 401 })
	const person = terminal('--address', treasury)
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('ntfy or pagerduty?', 'webhook')
	await person.answers('URL of the webhook', secrets.OPS_HOOK_URL)
	await person.answers('A second receiver', 'telegram')
	await person.answers('Number of the chat', 'me')
	await person.sees('it must be the number of a chat')
	await person.answers('Number of the chat', '-1001234567890')
	await person.answers('Token of the bot', `${bot.origin}/bot123:Canary-token-wrong`)
	await person.answers('Use it anyway? [y/N]', '')
	bot.answer = () => ({ status: 204 })
	await person.answers('Token of the bot', `${bot.origin}/bot123:Canary-token-right`)
	expect(await person.ended, person.screen()).toBe(0)
	expect(person.screen()).not.toContain('Canary')
	expect(told(hook.hits), 'the first one is tried once').toHaveLength(1)
	const { receivers } = parse(read('tracewatch.yaml'))
	expect(receivers.map(({ name, fallback }: Record<string, string>) => [name, fallback])).toEqual([
		['ops', 'ops-telegram'],
		['ops-telegram', 'ops'],
	])
	expect(receivers[1]).toMatchObject({ format: 'telegram', chat_id: '-1001234567890' })
	expect(parse(read('watchlists/local.yaml')).receivers).toEqual(['ops', 'ops-telegram'])
	const check = await here.run(['check', '-c', join(out, 'tracewatch.yaml')], env)
	expect(check, check.stderr).toMatchObject({ code: 0 })
	expect(check.stderr).not.toContain('fallback')
})

test.each([
	['pagerduty', { OPS_HOOK_SECRET: 'a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4' }, [], { routing_key: '${OPS_HOOK_SECRET}' }],
	['telegram', {}, ['--chat=-42'], { chat_id: '-42' }],
	['ntfy', {}, [], {}],
] as const)('behavior: a script names %s', async (format, more, options, keys) => {
	const { read, script, secrets, hook } = await startSetup(node)
	const path = format === 'telegram' ? 'bot1:Canary-token-0123456789' : 'Canary-topic-0123456789'
	const env = { ...secrets, ...more, OPS_HOOK_URL: `${hook.origin}/${path}` }
	const done = await script(['--address', treasury, '--format', format, ...options], env)
	expect(done, done.stderr).toMatchObject({ code: 0 })
	expect(hook.hits).toHaveLength(1)
	expect(parse(read('tracewatch.yaml')).receivers).toMatchObject([{ name: 'ops', format, ...keys }])
})

test('error: a password that the mail server refuses is asked for again, alone', async () => {
	const { out, secrets, terminal } = await startSetup(node)
	const { server, wrong } = await mailSite()
	const person = terminal('--address', treasury, '--to', 'ops@example.org')
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('Mail server', wrong)
	await person.answers('Use it anyway? [y/N]', '')
	await person.sees('Mail server')
	person.types('\u0003')
	expect(await person.ended).toBe(75)
	expect(server.mails).toHaveLength(0)
	expect(person.screen()).toContain('535')
	expect(person.screen()).not.toContain('Canary')
	expect(existsSync(join(out, 'tracewatch.yaml'))).toBe(false)
})

test('error: Ctrl-C at each question, and while an answer is tried: the next setup goes on from the answers', {
	timeout: 600_000,
}, async () => {
	const { here, out, tmp, read, secrets, terminal } = await startSetup(node)
	const { server, smtp } = await mailSite()
	const questions = [
		['Endpoint', secrets.ETHEREUM_RPC_URL],
		['ntfy or pagerduty?', 'mail'],
		['Mail server', smtp],
		['Mails go to', 'ops@example.org'],
		['Sender of the mails', 'Watch <watch@example.org>'],
		['First address to watch', treasury],
		['Its label', 'Till'],
	] as const
	for (let stop = 0; stop < questions.length; stop++) {
		const person = terminal()
		for (const [question] of questions.slice(0, Math.max(0, stop - 1))) await person.answers(question, '')
		const last = questions[stop - 1]
		if (last !== undefined) await person.answers(last[0], last[1])
		await person.sees(questions[stop]?.[0] ?? '')
		person.types('\u0003')
		expect(await person.ended, `${stop}: ${person.screen()}`).toBe(75)
		expect(person.screen()).toContain('stopped')
		expect(person.screen()).not.toMatch(/Canary|p%40ss/)
		const kept = stop === 0 ? [] : ['setup-answers']
		expect([existsSync(join(out, 'tracewatch.yaml')), readdirSync(tmp)], `${stop}`).toEqual([false, []])
		expect(stop === 0 ? existsSync(out) : readdirSync(join(out, 'secrets'))).toEqual(stop === 0 ? false : kept)
		if (stop > 0) expect(statSync(join(out, 'secrets/setup-answers')).mode & 0o777).toBe(0o600)
	}
	// While the mail server keeps the test message waiting.
	let isTried = false
	server.answer = (phase) => {
		isTried ||= phase === 'data'
		return phase === 'data' ? 'hang' : null
	}
	const hung = terminal()
	for (const [question] of questions.slice(0, 5)) await hung.answers(question, '')
	await expect.poll(() => isTried).toBe(true)
	hung.types('\u0003')
	expect(await hung.ended, hung.screen()).toBe(75)
	server.answer = () => null
	const last = terminal()
	for (const [question] of questions.slice(0, 6)) await last.answers(question, '')
	await last.answers('Its label', 'Till')
	await last.answers('A second receiver', '')
	expect(await last.ended, last.screen()).toBe(0)
	expect(read('tracewatch.yaml')).toContain('Watch <watch@example.org>')
	expect(read('watchlists/local.yaml')).toContain(checksummed)
	expect(existsSync(join(out, 'secrets/setup-answers'))).toBe(false)
	rmSync(out, { recursive: true })
	// What was there stays as it was, too.
	here.write('out/tracewatch.yaml', 'networks: []   # mine\n')
	const person = terminal()
	await person.answers('[y/N]', 'y')
	await person.sees('Endpoint')
	person.types('\u0003')
	expect(await person.ended).toBe(75)
	expect(readdirSync(out).sort()).toEqual(['tracewatch.yaml'])
	expect(readFileSync(join(out, 'tracewatch.yaml'), 'utf8')).toBe('networks: []   # mine\n')
})
