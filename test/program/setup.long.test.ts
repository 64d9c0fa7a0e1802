// `tracewatch setup`, by scripts, again over what is there, and in vain.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTestDevnode, type TestDevnode } from '../support/anvil.js'
import { startMailServer } from '../support/mailServer.js'
import { startSetup } from './setupSite.js'
import { hookServer, stranger, told, treasury, vault } from './site.js'

let node: TestDevnode

beforeAll(async () => {
	node = await startTestDevnode()
})
afterAll(() => node.stop())

const checksummed = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

test('behavior: a script sets up, adds an address, and changes the receiver; nobody is asked', async () => {
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
	await yes.answers('mail or webhook', 'w')
	await yes.answers('URL of the webhook', '')
	expect(await yes.ended).toBe(0)
	expect(read('tracewatch.yaml')).not.toContain('# mine')
	expect(read('tracewatch.yaml.old')).toBe(edited)
	expect(existsSync(join(out, 'tracewatch.yaml.old.2'))).toBe(false)
})

test('behavior: pasted in one go, nothing secret is shown', async () => {
	const { out, secrets, terminal } = await startSetup(node)
	const person = terminal('--untested', '--chain-id', '5')
	await person.sees('Endpoint')
	person.types(`${secrets.ETHEREUM_RPC_URL}\rwebhook\r${secrets.OPS_HOOK_URL}\r${treasury}\r\r`)
	expect(await person.ended).toBe(0)
	expect(person.screen()).not.toMatch(/Canary|\/dev\/evm/)
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
	expect(results[4]?.stderr).toContain('nobody can be asked here: give --rpc')
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
	const { server, smtp } = await mailSite()
	const person = terminal()
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('mail or webhook? [mail]', 'pigeon')
	await person.sees('it takes mail or webhook')
	await person.answers('mail or webhook? [mail]', '')
	await person.answers('Mail server', 'smtp://me:Canary p@ss/word@host')
	await person.sees('it ')
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
	await person.sees('delivered to `ops`')
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

test('error: a password that the mail server refuses is told, and nothing is written', async () => {
	const { out, secrets, terminal } = await startSetup(node)
	const { server, wrong } = await mailSite()
	const person = terminal('--address', treasury, '--to', 'ops@example.org')
	await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
	await person.answers('Mail server', wrong)
	await person.answers('Sender', '')
	await person.answers('Go on all the same? [y/N]', '')
	expect(await person.ended).toBe(1)
	expect(server.mails).toHaveLength(0)
	expect(person.screen()).toContain('535')
	expect(person.screen()).not.toContain('Canary')
	expect(existsSync(out)).toBe(false)
})

test('error: Ctrl-C at each question, and while both ways are tried, leaves nothing', {
	timeout: 300_000,
}, async () => {
	const { here, out, tmp, secrets, terminal } = await startSetup(node)
	const { server, smtp } = await mailSite()
	const questions = [
		['Endpoint', secrets.ETHEREUM_RPC_URL],
		['mail or webhook?', 'mail'],
		['Mail server', smtp],
		['Mails go to', 'ops@example.org'],
		['Sender of the mails', ''],
		['First address to watch', treasury],
		['Its label', 'Till'],
	] as const
	for (let stop = 0; stop <= questions.length; stop++) {
		if (stop === questions.length) server.answer = (phase) => (phase === 'data' ? 'hang' : null)
		const person = terminal()
		for (const [question, answer] of questions.slice(0, stop)) await person.answers(question, answer)
		await person.sees(questions[stop]?.[0] ?? 'chain id')
		person.types('\u0003')
		expect(await person.ended, `${stop}: ${person.screen()}`).toBe(75)
		expect(person.screen()).toContain('stopped')
		expect([existsSync(out), readdirSync(tmp)], `${stop}`).toEqual([false, []])
	}
	// What was there stays as it was, too.
	here.write('out/tracewatch.yaml', 'networks: []   # mine\n')
	const person = terminal()
	await person.answers('[y/N]', 'y')
	await person.sees('Endpoint')
	person.types('\u0003')
	expect(await person.ended).toBe(75)
	expect(readdirSync(out)).toEqual(['tracewatch.yaml'])
	expect(readFileSync(join(out, 'tracewatch.yaml'), 'utf8')).toBe('networks: []   # mine\n')
})
