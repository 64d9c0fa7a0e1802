// `tracewatch setup --add`: more of it, in what a person has edited.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { startSetup } from './setupSite.js'
import { hookServer, stranger, told, treasury, vault } from './site.js'

let node: TestAnvil
let second: TestAnvil

beforeAll(async () => {
	;[node, second] = await Promise.all([startTestAnvil(), startTestAnvil(['--chain-id', '8453'])])
})
afterAll(() => Promise.all([node.stop(), second.stop()]))

/** Set up with a webhook, and then edited: every line of it has a person's words. */
async function startEdited() {
	const site = await startSetup(node)
	expect(await site.script(['--address', treasury], site.secrets)).toMatchObject({ code: 0 })
	const edit = (name: string) => {
		const lines = site.read(name).trimEnd().split('\n')
		const edited = lines.map((line, at) => `${line}${line.includes('#') ? '' : `   # mine ${at}`}\n`).join('')
		site.here.write(`out/${name}`, edited)
		return edited.split('\n')
	}
	return { ...site, settings: edit('tracewatch.yaml'), list: edit('watchlists/local.yaml') }
}

/** Lines of the first that the second has not, in order; each of the rest is there as it was. */
function gone(before: readonly string[], after: string): readonly string[] {
	const left = after.split('\n')
	return before.filter((line) => {
		const at = left.indexOf(line)
		if (at !== -1) left.splice(0, at + 1)
		return at === -1
	})
}

test('behavior: a receiver, a chain, a node and an address more; what a person wrote stays', async () => {
	const { hook, here, out, read, script, env, settings, list } = await startEdited()
	const other = await hookServer()
	const slack = `${other.origin}/services/Canary-slack-0123456789`
	const added = await script(['--add', 'receiver', '--webhook', slack, '--format', 'slack'])
	expect(added, added.stderr).toMatchObject({ code: 0 })
	expect(other.hits).toHaveLength(1)
	expect(told(hook.hits), 'the one that is there is not tried again').toHaveLength(1)
	expect(gone(settings, read('tracewatch.yaml'))).toEqual([])
	expect(read('secrets/OPS_HOOK_URL_2').trim()).toBe(slack)
	expect(read('watchlists/local.yaml')).toContain('receivers: [ops, ops-slack]')
	expect(gone(list, read('watchlists/local.yaml'))).toEqual([list.find((line) => line.startsWith('receivers:'))])
	expect(added.stdout + added.stderr).not.toContain('Canary')

	const chain = await script(['--add', 'chain', '--rpc', second.url, '--address', vault])
	expect(chain, chain.stderr).toMatchObject({ code: 0 })
	expect(gone(settings, read('tracewatch.yaml'))).toEqual([])
	expect(read('watchlists/base.yaml')).toContain('receivers: [ops, ops-slack]')

	const again = await script(['--add', 'chain', '--rpc', `${node.url}/again`, '--untested', '--chain-id', '31337'])
	expect(again, again.stderr).toMatchObject({ code: 0 })
	expect(gone(settings, read('tracewatch.yaml'))).toEqual([])

	expect(await script(['--add', 'address', '--address', stranger, '--untested'])).toMatchObject({
		code: 2,
		stderr: expect.stringContaining('--network'),
	})
	const more = ['--add', 'address', '--address', stranger, '--network', 'base', '--label', 'Third', '--untested']
	expect(await script(more)).toMatchObject({ code: 0 })

	const check = await here.run(['check', '-c', 'out/tracewatch.yaml'], env)
	expect(check, check.stderr).toMatchObject({ code: 0 })
	for (const word of ['local', 'base', 'ops-slack', 'Third']) expect(check.stdout).toContain(word)
	expect(existsSync(join(out, '.watchlists'))).toBe(false)
	const running = here.start(['run', '-c', 'out/tracewatch.yaml'], env)
	onTestFinished(async () => void (await running.stop()))
	await running.line(({ msg, network }) => msg === 'coverage changed' && network === 'base')
	const before = other.hits.length
	await second.send({ from: treasury, to: vault, valueWei: 5n })
	await other.until(before + 1)
})

test('behavior: mail beside a webhook, asked for at a terminal', async () => {
	const { read, terminal, settings } = await startEdited()
	const asked = terminal('--add', 'receiver', '--untested')
	await asked.answers('ntfy or pagerduty', 'mail')
	await asked.answers('Mail server', 'smtp://user:Canary-mail@127.0.0.1:2525')
	await asked.answers('Mails go to', 'ops@example.org')
	await asked.answers('Sender', '')
	expect(await asked.ended).toBe(0)
	expect(asked.screen()).not.toContain('Canary')
	expect(gone(settings, read('tracewatch.yaml'))).toEqual([])
	expect(read('tracewatch.yaml')).toContain('name: ops-mail')
	expect(read('secrets/SMTP_URL')).toContain('Canary-mail')
})

test('error: nothing set up yet, a receiver that refuses, a list with an anchor: nothing changes', async () => {
	const fresh = await startSetup(node)
	expect(await fresh.script(['--add', 'receiver', '--webhook', fresh.hook.origin])).toMatchObject({
		code: 1,
		stderr: expect.stringContaining('nothing is set up there yet'),
	})
	expect(await fresh.script(['--add', 'receivers'])).toMatchObject({ code: 2 })

	const { here, read, script } = await startEdited()
	const before = read('tracewatch.yaml')
	const deaf = await hookServer()
	deaf.answer = () => 401
	expect((await script(['--add', 'receiver', '--webhook', deaf.origin])).code).not.toBe(0)
	expect(read('tracewatch.yaml')).toBe(before)

	const [head = '', tail = ''] = before.split('receivers:')
	const anchored = `${head}receivers: &all${tail}`.replace('receivers: &all   #', 'receivers: &all #')
	here.write('out/tracewatch.yaml', anchored)
	const kept = await script(['--add', 'receiver', '--webhook', (await hookServer()).origin])
	if (kept.code !== 0) expect(read('tracewatch.yaml')).toBe(anchored)
	else expect(gone(anchored.split('\n'), read('tracewatch.yaml'))).toEqual([])
})
