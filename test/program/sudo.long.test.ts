// A command of a user who may not read the state or the configuration says what to do.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cliPath } from '../support/program.js'
import { settings, siteOf, treasury, watchlist } from './site.js'

test('error: a file that the system refuses makes the message name sudo, once', ({ skip }) => {
	const site = siteOf({
		'tracewatch.yaml': `${settings('http://127.0.0.1:9', { hook: 'http://127.0.0.1:9/' })}state: state\n`,
		'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
	})
	const state = join(site.folder, 'state')
	mkdirSync(state)
	chmodSync(site.folder, 0o755)
	chmodSync(state, process.getuid?.() === 0 ? 0o700 : 0)
	// Root may read everything, so the commands run as another user.
	const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
	const run = (...args: readonly string[]) =>
		spawnSync(process.execPath, [cliPath, ...args], { cwd: site.folder, env: {}, encoding: 'utf8', ...user })
	skip(run('--version').status !== 0, 'the other user may not run this Node, or not read this folder')
	for (const args of [['status'], ['gaps'], ['deliveries', '--sent'], ['once']]) {
		const { stderr } = run(...args)
		expect(stderr).toMatch(/permission denied/)
		expect(stderr.split('\n').filter((line) => line === 'To do: run the command with sudo.')).toHaveLength(1)
	}
	chmodSync(join(site.folder, 'tracewatch.yaml'), user.uid === undefined ? 0 : 0o600)
	const { stderr } = run('check')
	expect(stderr).toMatch(/tracewatch\.yaml:1:1: the file cannot be read: permission denied\n/)
	expect(stderr).toMatch(/To do: run the command with sudo\.\n$/)
	chmodSync(state, 0o700)
})
