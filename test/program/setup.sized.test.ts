// `tracewatch setup`, by a person at a terminal; by scripts: setup.long.test.ts; under systemd: test/systemd/deb.sh.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { inFull, testInFull, testOnce } from '../support/longRun.js'
import { cliPath } from '../support/program.js'
import { openTerminal } from '../support/terminal.js'
import { CLEAR, pick, startSetup } from './setupSite.js'
import { inProcess, told, treasury, vault } from './site.js'

let node: TestAnvil

beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

const checksummed = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

testOnce('default: a person answers, both ways are tried, and what is written reports a payment', async () => {
	const { hook, here, out, read, secrets, terminal } = await startSetup(node)
	const person = terminal()
	await person.answers('Endpoint', 'ftp://x/Canary-wrong')
	await person.sees('must begin with http')
	person.types(`${secrets.ETHEREUM_RPC_URL}\r`)
	await person.sees(`${new URL(secrets.ETHEREUM_RPC_URL).host} answers: anvil`)
	await person.sees('its traces could not be tried: no transactions to prove its answers by')
	await person.sees('local, chain 31337, ETH')
	await person.answers('Alerts by', pick.webhook)
	await person.answers('URL of the webhook', secrets.OPS_HOOK_URL)
	await person.sees('a test message was delivered to `ops`')
	await person.answers('First address to watch', '0x1234')
	await person.sees('it must')
	person.types(`${CLEAR}${treasury}\r`)
	await person.answers('Its label', 'Till: "Süd" #1')
	expect(await person.ended).toBe(0)

	// The terminal showed neither the keys nor the signing secret.
	const signing = read('secrets/OPS_HOOK_SECRET').trim()
	expect(signing).toMatch(/^whsec_/)
	for (const secret of ['Canary', signing]) expect(person.screen()).not.toContain(secret)
	expect(read('tracewatch.yaml') + read('watchlists/local.yaml')).not.toMatch(/Canary|whsec_/)
	expect(statSync(join(out, 'secrets')).mode & 0o777).toBe(0o700)
	for (const name of readdirSync(join(out, 'secrets')).filter((each) => each !== '.gitignore')) {
		expect([name, statSync(join(out, 'secrets', name)).mode & 0o777]).toEqual([name, 0o600])
	}
	expect(read('secrets/.gitignore')).toBe('*\n')
	expect(told(hook.hits)).toMatchObject([{ type: 'test' }])

	// Such a chain has a block only when somebody pays: its silence is no stall.
	expect(read('tracewatch.yaml')).toMatch(/^ {4}stall_after: never$/m)

	const config = join(out, 'tracewatch.yaml')
	expect(await inProcess(here).run(['once', '-c', config])).toMatchObject({ code: 0 })
	await node.receipt(await node.send({ from: vault, to: treasury, valueWei: 5n }))
	expect(await inProcess(here).run(['once', '-c', config])).toMatchObject({ code: 0 })
	const [, alert] = told(hook.hits)
	expect(alert).toMatchObject({
		type: 'alert.transfer',
		data: { valueWei: '5', watch: { address: checksummed, label: 'Till: "Süd" #1' } },
	})
})

inFull(() => {
	test('error: Ctrl-C at any question writes no configuration', async () => {
		const { out, secrets, terminal } = await startSetup(node)
		const person = terminal()
		await person.answers('Endpoint', secrets.ETHEREUM_RPC_URL)
		await person.sees('Alerts by')
		person.types('\u0003')
		await person.sees('stopped; nothing was written')
		expect(await person.ended).toBe(75)
		expect(existsSync(out)).toBe(false)
	})
})

testOnce('error: an endpoint of another chain than --chain-id says: nothing is written', async () => {
	const { out, secrets, script } = await startSetup(node)
	const { code, stderr } = await script(['--chain-id', '10', '--address', treasury], secrets)
	expect([code, stderr]).toEqual([1, expect.stringContaining('the endpoint is of chain 31337, not 10 (--chain-id)')])
	expect(existsSync(out)).toBe(false)
})

testOnce(
	'behavior: blanks around what is pasted are dropped, and a wrong answer is blamed on its variable',
	async () => {
		const { out, secrets, script } = await startSetup(node)
		const wrong = await script(['--address', treasury], { ...secrets, OPS_HOOK_SECRET: 'exported-for-something-else' })
		expect(wrong.code).toBe(2)
		expect(wrong.stderr).toContain('OPS_HOOK_URL: it is beside OPS_HOOK_SECRET, which must be `whsec_`')
		const ftp = await script(['--address', treasury], { ...secrets, ETHEREUM_RPC_URL: 'ftp://x/Canary-wrong' })
		expect([ftp.code, ftp.stderr]).toEqual([2, expect.stringContaining('ETHEREUM_RPC_URL: it must begin with http://')])
		const blanks = Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, `  ${value} `]))
		expect((await script(['--address', ` ${treasury} `], blanks)).code).toBe(0)
		expect(existsSync(out)).toBe(true)
	},
)

testInFull('behavior: replay fits the terminal that it is shown on', async () => {
	const { here, out, secrets, script } = await startSetup(node)
	await script(['--untested', '--chain-id', '31337', '--address', treasury, '--label', 'Treasury'], secrets)
	const from = String((await node.head()) + 1n)
	await node.receipt(await node.send({ from: vault, to: treasury, valueWei: 7n }))
	const config = join(out, 'tracewatch.yaml')
	const replay = [process.execPath, cliPath, 'replay', '-c', config, '--from', from, '--to', 'latest']
	const inner = replay.map((word) => `'${word}'`).join(' ')
	const narrow = openTerminal(['sh', '-c', `stty columns 80; exec ${inner}`], { cwd: here.folder })
	expect(await narrow.ended).toBe(0)
	const lines = narrow.screen().replaceAll('\r', '').trim().split('\n')
	expect(lines.filter((line) => line.length > 80)).toEqual([])
	expect(lines.join(' ')).toContain('Treasury received 0.000000000000000007 ETH from 0x7099…79C8')
	expect(lines.at(-1)).toMatch(/^ {2}0x[0-9a-f]{64}$/)
	const wide = openTerminal(['sh', '-c', `stty columns 300; exec ${inner}`], { cwd: here.folder })
	expect(await wide.ended).toBe(0)
	expect(wide.screen()).toMatch(/^block +time +kind/m)
})
