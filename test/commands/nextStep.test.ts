import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Io } from '../../src/commands/command.js'
import { adviceOfService, nextStep } from '../../src/commands/nextStep.js'
import { serveControl } from '../../src/ops/controlSocket.js'
import { createScrubber } from '../../src/ops/scrub.js'

function place(env: NodeJS.ProcessEnv = {}): { folder: string; said: () => Promise<string> } {
	const folder = mkdtempSync(join(tmpdir(), 'tracewatch-next-'))
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
	const io: Io = {
		out() {},
		err() {},
		env,
		cwd: folder,
		isTty: false,
		signal: new AbortController().signal,
		scrubber: createScrubber(),
	}
	return { folder, said: async () => (await nextStep(io)).join('\n') }
}

const settings = `networks: [{name: a, chain_id: 1, rpc: ["http://127.0.0.1:9/"], schedule: "* * * * * *"}]
receivers: [{name: hook, type: webhook, url: "http://127.0.0.1:9/x"}]
state: state
`
const list = 'network: a\nreceivers: [hook]\nwatches: [{address: "0x00000000219ab540356cBB839Cbe05303d7705Fa"}]\n'

test('default: from nothing to a daemon that runs, each state has its next step', async () => {
	const { folder, said } = place()
	expect(await said()).toContain('tracewatch setup')

	writeFileSync(join(folder, 'tracewatch.yaml'), `${settings}coffee: yes\n`)
	mkdirSync(join(folder, 'watchlists'))
	writeFileSync(join(folder, 'watchlists/a.yaml'), list)
	expect(await said()).toMatch(/^The configuration is wrong: tracewatch\.yaml:4:1: unknown key .*tracewatch check/)

	writeFileSync(join(folder, 'tracewatch.yaml'), settings)
	expect(await said()).toContain('watches 1 address, and no daemon runs')

	mkdirSync(join(folder, 'state'))
	let health: { ok: boolean; reason: string | null } = { ok: true, reason: null }
	onTestFinished(await serveControl(join(folder, 'state'), async () => ({ health })))
	expect(await said()).toContain('is well')
	health = { ok: false, reason: 'the disk is full' }
	expect(await said()).toContain('NOT WELL: the disk is full')
})

test.each([
	['npx tracewatch', { npm_command: 'exec' }, '/usr/bin/tracewatch'],
	['node dist/cli.js', {}, resolve('dist/cli.js')],
])('behavior: in a clone, where `%s` starts the program, it suggests that', async (call, env, path) => {
	const [, before = ''] = process.argv
	onTestFinished(() => {
		process.argv[1] = before
	})
	process.argv[1] = path
	const said = await place(env).said()
	expect(said).toContain(`\n  ${call} setup --dir FOLDER `)
	expect(said).not.toMatch(/sudo|^ {2}tracewatch /m)
})

describe('of the configuration that the package installs', () => {
	const path = '/etc/tracewatch/tracewatch.yaml'
	const unset = { message: '${SMTP_URL} is not set: set the environment variable SMTP_URL' }
	const refused = { message: 'the secret /etc/tracewatch/secrets/RPC_URL cannot be read: permission denied' }

	test('default: none of its secrets is set: it is not set up yet', () => {
		expect(adviceOfService(path, [unset, unset])).toContain('not set up yet. Next: `sudo tracewatch setup`')
	})

	test('behavior: its secrets are for root alone: sudo', () => {
		expect(adviceOfService(path, [unset, refused])).toContain('`sudo tracewatch status`')
	})

	test('behavior: anything else is wrong, and so is a file elsewhere', () => {
		expect(adviceOfService(path, [unset, { message: 'unknown key `x`' }])).toBeNull()
		expect(adviceOfService('/home/a/tracewatch.yaml', [unset])).toBeNull()
	})
})
