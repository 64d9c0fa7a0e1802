import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { typed } from '../support/commandLine.js'

let folder: string
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'tracewatch-door-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function run(...args: string[]) {
	const { code, stderr, stdout } = await typed(args, { cwd: folder })
	return { status: code, err: stderr, out: stdout }
}

const slips: readonly (readonly [args: readonly string[], words: string])[] = [
	[['stat'], "unknown command 'stat'; did you mean state?; see `tracewatch --help`"],
	[['xyzzy'], "unknown command 'xyzzy'; see `tracewatch --help`"],
	[['check', '--al'], "unknown option '--al'; did you mean --all?; see `tracewatch check --help`"],
	[['-c', 'tracewatch.yaml'], 'which command? such as `tracewatch check -c FILE`'],
	[['-c'], "option '-c, --config <file>' argument missing; see `tracewatch --help`"],
	[['test-send'], "missing required argument 'receiver'; see `tracewatch test-send --help`"],
	[['check', '--xyzzy'], "unknown option '--xyzzy'; see `tracewatch check --help`"],
	[['-c', 'tracewatch.yaml', 'watch', '0x12', '--rpc', 'x'], '`watch` reads no configuration: leave out -c'],
	[
		['replay', '--send'],
		'`replay --send` was removed: `tracewatch deliveries retry` sends again what was not delivered',
	],
]
test.each(slips)('error: %j names what was probably meant', async (args, words) => {
	expect(await run(...args)).toMatchObject({ status: 2, err: words })
})

test.each([
	['watch', `0x${'5c'.repeat(32)}`, '--rpc', 'http://127.0.0.1:9'],
	['replay', '--address', `0x${'5c'.repeat(32)}`],
	['state', 'postgres://user:5c5c5c5c@db.example/state', 'state'],
	['setup', '--webook=https://hooks.example.org/5c5c5c5c'],
])('error: a key in the wrong place of a command line is not repeated: %s', async (...args) => {
	const { status, err } = await run(...args)
	expect(status).toBe(2)
	expect(err).not.toContain('5c5c5c5c')
})

test.each([
	['--add', 'chain'],
	['--network', 'local'],
	['--replace', '--yes'],
])('error: the removed option `setup %s` says what replaces it', async (option, ...more) => {
	const { status, err, out } = await run('setup', option, ...more)
	expect([status, out]).toEqual([2, ''])
	expect(err).toMatch(new RegExp(`^\`setup ${option}\` was removed: [^\n]+$`))
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
test.each(removed)('error: the removed command %j says what replaces it', async (args, instead) => {
	const { status, err, out } = await run(...args)
	expect([status, out]).toEqual([2, ''])
	expect(err).toMatch(/^`[a-z]+` was removed: [^\n]+$/)
	expect(err).toContain(instead)
})

test('behavior: the configuration may be named before the command', async () => {
	writeFileSync(join(folder, 'other.yaml'), 'networks: []\n')
	for (const args of [['-c', 'other.yaml'], ['--config', 'other.yaml'], ['--config=other.yaml']]) {
		const { status, err } = await run(...args, 'check')
		expect(status).toBe(78)
		expect(err).toContain('other.yaml:1:11: `networks` is empty; name at least one')
	}
})

test('error: a receiver that is not configured is distinguished from one that has nothing', async () => {
	const settings = [
		'networks: [{name: local, chain_id: 31337, rpc: ["http://127.0.0.1:9/x"], schedule: "* * * * * *"}]',
		'receivers: [{name: hook, type: webhook, url: "http://127.0.0.1:9/x"}]\nwatchlists: []\n',
	]
	writeFileSync(join(folder, 'tracewatch.yaml'), settings.join('\n'))
	const words = 'there is no receiver `hok`; did you mean `hook`?; there are: `hook`'
	for (const args of [['deliveries', '--sent'], ['deliveries'], ['deliveries', 'drop', '--all']]) {
		expect(await run(...args, '--receiver', 'hok')).toMatchObject({ status: 2, err: words })
		expect(await run(...args, '--receiver', 'hook')).toMatchObject({ status: 0, err: '' })
	}
})
