import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { commands } from '../../src/commands/commandLine.js'
import { typed } from '../support/commandLine.js'
import { temporaryFolder } from '../support/folder.js'

test('default: without a command it lists all of them, says where to begin, and ends with 2', async () => {
	const { code, stdout } = await typed([], { cwd: temporaryFolder() })
	expect(code).toBe(2)
	for (const name of Object.keys(commands)) expect(stdout).toMatch(new RegExp(`^ {2}${name} +[a-z]`, 'm'))
	expect(stdout).toMatch(/Begin\s+with\s+`setup`,\s+or\s+with\s+`watch\s+ADDRESS\s+--rpc\s+URL`/)
})

test('default: the help of the program and of each command fits 80 columns', async () => {
	for (const words of [[], ...Object.keys(commands).map((name) => [name])]) {
		const { code, stdout } = await typed([...words, '--help'], { cwd: temporaryFolder() })
		expect(code).toBe(0)
		expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
	}
})

test('default: `help` before a command prints what `--help` after it does', async () => {
	const cwd = temporaryFolder()
	expect(await typed(['help', 'run'], { cwd })).toEqual(await typed(['run', '--help'], { cwd }))
})

test.each([
	['node dist/cli.js', resolve('dist/cli.js')],
	['tracewatch', '/usr/bin/tracewatch'],
])(
	'behavior: started as `%s`, setup names its next commands so, and says from when on alerts come',
	async (call, path) => {
		const [, before = ''] = process.argv
		onTestFinished(() => {
			process.argv[1] = before
		})
		process.argv[1] = path
		const env = { RPC_URL: 'http://127.0.0.1:9/x', OPS_HOOK_URL: 'http://127.0.0.1:9/y' }
		const words = ['setup', '--dir', 'mine', '--yes', '--untested', '--address', `0x${'12'.repeat(20)}`]
		const { code, out } = await typed(words, { cwd: temporaryFolder(), env })
		expect(code).toBe(0)
		const acts = ['check', 'run'].map((act) => `  ${call} ${act} -c mine/tracewatch.yaml`)
		expect(out.slice(-4)).toEqual([expect.stringMatching(/^Alerts begin with/), 'Nothing was started. Next:', ...acts])
	},
)

test.each([
	['receiver', ['test-send', 'https://h/Zx9qSup3rS3cr3tKeyAbC77'], '`hook`'],
	['network', ['replay', '--network', 'https://h/Zx9qSup3rS3cr3tKeyAbC77', '--from', '1', '--to', '1'], '`base`'],
])('error: a URL in place of the name of a %s is cut', async (what, words, known) => {
	const cwd = smallSite()
	const { code, stderr } = await typed(words, { cwd })
	expect([code, stderr]).toEqual([2, `there is no ${what} \`https://…\`; there are: ${known}`])
})

test.each([
	['/proc/x', '', '/proc (ENOENT)'],
	['a file', '', 'mine (ENOTDIR)'],
	['a folder with a file in place of one of its own', 'watchlists', 'mine/watchlists (ENOTDIR)'],
])('error: setup tries the folder before it asks the node: %s', async (where, inner, what) => {
	const cwd = temporaryFolder()
	if (inner !== '') mkdirSync(join(cwd, 'mine'))
	writeFileSync(join(cwd, 'mine', inner), '')
	const env = { RPC_URL: 'http://127.0.0.1:9/x', OPS_HOOK_URL: 'http://127.0.0.1:9/y' }
	const dir = where.startsWith('/') ? where : 'mine'
	const { code, stderr } = await typed(['setup', '--dir', dir, '--yes', '--address', `0x${'12'.repeat(20)}`], {
		cwd,
		env,
	})
	expect([code, stderr]).toEqual([1, expect.stringContaining(`setup cannot make files in ${resolve(cwd, what)}: `)])
	expect(readdirSync(cwd, { recursive: true })).toEqual(inner === '' ? ['mine'] : ['mine', 'mine/watchlists'])
})

test.each([
	['vrbose', ''],
	['debg', '; did you mean `debug`?'],
])('behavior: a LOG_LEVEL that is none is warned of: %s', async (level, hint) => {
	const levels = 'LOG_LEVEL is not a level: using info. Write one of debug, info, warn, error'
	const { err } = await typed(['once'], { cwd: smallSite(), env: { LOG_LEVEL: level }, signal: AbortSignal.abort() })
	expect(err[0]).toBe(`warning: ${levels}${hint}`)
})

/** A folder with one network, one receiver and one watch. */
function smallSite(): string {
	const cwd = temporaryFolder()
	const list = `network: base\nreceivers: [hook]\nwatches: [{address: 0x${'1'.repeat(40)}}]\n`
	const site = `networks: [{name: base, chain_id: 8453, rpc: ["http://127.0.0.1:9"]}]
receivers: [{name: hook, type: webhook, url: "http://127.0.0.1:9"}]
watchlists: [list.yaml]\n`
	writeFileSync(join(cwd, 'list.yaml'), list)
	writeFileSync(join(cwd, 'tracewatch.yaml'), site)
	return cwd
}
