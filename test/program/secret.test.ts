import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cliPath } from '../support/program.js'
import { openTerminal } from '../support/terminal.js'
import { siteOf } from './site.js'

function site() {
	return siteOf({})
}

/** Runs the command with a text on its standard input. */
async function typed(args: readonly string[], text: string, env: Readonly<Record<string, string>>) {
	const child = spawn(process.execPath, [cliPath, ...args], { env: { PATH: process.env.PATH ?? '', ...env } })
	let output = ''
	for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
	child.stdin.end(text)
	const [code] = await once(child, 'close')
	return { code, output }
}

test('default: for its owner alone, found by the commands, and never shown', async () => {
	const here = site()
	const store = join(here.folder, 'credstore')
	const env = { TRACEWATCH_CREDSTORE: store }
	const secret = 'https://node.example.org/Canary-0123456789abcdef/evm'
	const { code, output } = await typed(['secret', 'set', 'ETHEREUM_RPC_URL'], `${secret}\n`, env)
	expect(code).toBe(0)
	expect(output).not.toContain('Canary')
	const path = join(store, 'tracewatch.ETHEREUM_RPC_URL')
	expect(readFileSync(path, 'utf8')).toBe(`${secret}\n`)
	expect(statSync(path).mode & 0o777).toBe(0o600)
	expect(statSync(store).mode & 0o777).toBe(0o700)

	here.write(
		'tracewatch.yaml',
		`networks: [{name: a, chain_id: 1, rpc: ["\${ETHEREUM_RPC_URL}"], schedule: "* * * * * *"}]
receivers: [{name: hook, type: webhook, url: "http://127.0.0.1:9/x"}]
`,
	)
	here.write(
		'watchlists/a.yaml',
		'network: a\nreceivers: [hook]\nwatches: [{address: "0x00000000219ab540356cBB839Cbe05303d7705Fa"}]\n',
	)
	expect(await here.run(['check'], env)).toMatchObject({ code: 0 })
	expect((await here.run(['check'], { TRACEWATCH_CREDSTORE: join(here.folder, 'none') })).code).toBe(78)
})

test('behavior: of several watchers on a machine, the one whose settings are named', async () => {
	const store = join(site().folder, 'credstore')
	const settings = '/etc/tracewatch/a/tracewatch.yaml'
	const env = { TRACEWATCH_CREDSTORE: store }
	const { code, output } = await typed(['secret', 'set', 'RPC_URL', '-c', settings], 'Canary\n', env)
	expect(code).toBe(0)
	expect(output).toContain(join(store, 'tracewatch.a.RPC_URL'))
	expect(readFileSync(join(store, 'tracewatch.a.RPC_URL'), 'utf8')).toBe('Canary\n')
})

test('error: nothing given, a wrong name, a wrong word', async () => {
	const env = { TRACEWATCH_CREDSTORE: join(site().folder, 'credstore') }
	expect(await typed(['secret', 'set', 'NAME'], '\n', env)).toMatchObject({ code: 1 })
	expect(await typed(['secret', 'set', 'NA-ME'], 'x\n', env)).toMatchObject({ code: 2 })
	expect(await typed(['secret', 'get', 'NAME'], '', env)).toMatchObject({ code: 2 })
})

test('behavior: at a terminal nothing of it is shown, and Ctrl-C writes nothing', async () => {
	const here = site()
	const store = join(here.folder, 'credstore')
	const open = () =>
		openTerminal([process.execPath, cliPath, 'secret', 'set', 'SMTP_URL'], {
			cwd: here.folder,
			env: { TRACEWATCH_CREDSTORE: store },
		})
	const first = open()
	await first.sees('not shown')
	first.types('Canary-half\u0003')
	expect(await first.ended).toBe(75)
	expect(existsSync(store)).toBe(false)
	const second = open()
	await second.answers('not shown', 'smtps://u:Canary-whole@mail.example.org')
	expect(await second.ended).toBe(0)
	expect(readFileSync(join(store, 'tracewatch.SMTP_URL'), 'utf8')).toBe('smtps://u:Canary-whole@mail.example.org\n')
	expect(first.screen() + second.screen()).not.toContain('Canary')
})
