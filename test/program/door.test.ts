import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const program = resolve('dist/cli.js')
let folder: string
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'tracewatch-door-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function run(...args: string[]) {
	const { status, stderr, stdout } = spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' })
	return { status, err: stderr.trim(), out: stdout }
}

test.each([
	[
		['stat'],
		'there is no command `stat`; did you mean `status`, `statement` or `state`?; `tracewatch --help` lists them',
	],
	[['xyzzy'], 'there is no command `xyzzy`; `tracewatch --help` lists them'],
	[['check', '--al'], '`check` has no option `--al`; did you mean `--all`?; see `tracewatch check --help`'],
	[['check', '--xyzzy'], '`check` has no option `--xyzzy`; see `tracewatch check --help`'],
])('error: %j names what was probably meant', (args, words) => {
	expect(run(...args)).toMatchObject({ status: 2, err: words })
})

test('behavior: the configuration may be named before the command', () => {
	writeFileSync(join(folder, 'other.yaml'), 'networks: []\n')
	for (const args of [['-c', 'other.yaml'], ['--config', 'other.yaml'], ['--config=other.yaml']]) {
		const { status, err } = run(...args, 'check')
		expect(status).toBe(78)
		expect(err).toContain('other.yaml:1:11: `networks` is empty; name at least one')
	}
})
