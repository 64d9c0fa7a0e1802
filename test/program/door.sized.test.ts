import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sized } from '../support/longRun.js'

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

const slips: readonly (readonly [args: readonly string[], words: string])[] = [
	[['stat'], 'there is no command `stat`; did you mean `status` or `state`?; `tracewatch --help` lists them'],
	[['xyzzy'], 'there is no command `xyzzy`; `tracewatch --help` lists them'],
	[['check', '--al'], '`check` has no option `--al`; did you mean `--all`?; see `tracewatch check --help`'],
	[['-c', 'tracewatch.yaml'], 'which command? such as `tracewatch check -c FILE`'],
	[['-c'], 'which command? such as `tracewatch check -c FILE`'],
	[['test-send'], '`test-send` needs more: tracewatch test-send RECEIVER [-c FILE]; see `tracewatch test-send --help`'],
	[['check', '--xyzzy'], '`check` has no option `--xyzzy`; see `tracewatch check --help`'],
]
test.each(slips.filter((_, at) => sized(at < 3, true)))('error: %j names what was probably meant', (args, words) => {
	expect(run(...args)).toMatchObject({ status: 2, err: words })
})

const removed: readonly (readonly [args: readonly string[], instead: string])[] = [
	[['import', 'oz', 'monitors', '--out', 'here'], 'addresses_from'],
	[['statement', '0x12', '--tokens'], 'deliveries --sent'],
	[['control', '0x12'], '/watch'],
	[['init'], 'examples/starter'],
	[['schema', 'alert'], 'schema/'],
	[['devnode', 'pay', '0x12', '--rpc', 'http://127.0.0.1:9'], 'npx @foundry-rs/anvil'],
	[['demo', 'incidents', '--keep'], 'npm run demo'],
	[['secret', 'set', 'SMTP_URL'], '/etc/tracewatch/secrets/NAME; mode 0600'],
]
test.each(removed)('error: the removed command %j says what replaces it', (args, instead) => {
	const { status, err, out } = run(...args)
	expect([status, out]).toEqual([2, ''])
	expect(err).toMatch(/^`[a-z]+` was removed: [^\n]+$/)
	expect(err).toContain(instead)
})

test('behavior: the configuration may be named before the command', () => {
	writeFileSync(join(folder, 'other.yaml'), 'networks: []\n')
	for (const args of sized(
		[['-c', 'other.yaml']],
		[['-c', 'other.yaml'], ['--config', 'other.yaml'], ['--config=other.yaml']],
	)) {
		const { status, err } = run(...args, 'check')
		expect(status).toBe(78)
		expect(err).toContain('other.yaml:1:11: `networks` is empty; name at least one')
	}
})

test('error: a receiver that is not configured is distinguished from one that has nothing', () => {
	const settings = [
		'networks: [{name: local, chain_id: 31337, rpc: ["http://127.0.0.1:9/x"], schedule: "* * * * * *"}]',
		'receivers: [{name: hook, type: webhook, url: "http://127.0.0.1:9/x"}]\nwatchlists: []\n',
	]
	writeFileSync(join(folder, 'tracewatch.yaml'), settings.join('\n'))
	const words = 'there is no receiver `hok`; did you mean `hook`?; there are: `hook`'
	for (const args of sized(
		[['deliveries']],
		[['deliveries', '--sent'], ['deliveries'], ['deliveries', 'drop', '--all']],
	)) {
		expect(run(...args, '--receiver', 'hok')).toMatchObject({ status: 2, err: words })
		expect(run(...args, '--receiver', 'hook')).toMatchObject({ status: 0, err: '' })
	}
})
