// The border for what goes out to a terminal, by itself: a label that hides a letter is right by the rules of
// watchlists. Where the border is taken out, `check` and `replay --format json` print it, and every command the
// words that it was given. The others are held further in, too: tables and trees by `fitWords` for each
// cell or line, deliveries as the state is written.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hash } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type HookServer, startHookServer } from '../support/hookServer.js'
import { openSite } from '../support/program.js'
import { inProcess, other, settings, treasury, watchlist } from './site.js'

const hidden = '\u200b'
const label = `Trea${hidden}sury`

let node: TestAnvil
let hook: HookServer
let here: ReturnType<typeof openSite>
let hash: Hash

beforeAll(async () => {
	node = await startTestAnvil()
	hook = await startHookServer()
	here = inProcess(
		openSite({
			'tracewatch.yaml': settings(node.url, { hook: hook.origin }),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}, label: ${JSON.stringify(label)}}`]),
		}),
	)
	expect((await here.run(['once'])).code).toBe(0)
	await node.receipt(await node.send({ from: other, to: treasury, valueWei: 4n }))
	await node.mine(2)
	expect((await here.run(['once'])).code).toBe(0)
	hash = await node.send({ from: other, to: treasury, valueWei: 5n })
	await node.receipt(hash)
	await node.mine(2)
	hook.answer = () => ({ status: 503, body: label })
	await here.run(['once'])
})

afterAll(async () => {
	await here.close()
	await hook.close()
	await node.stop()
})

const span = ['--network', 'local', '--from', '1', '--to', 'latest']

test.each<[string, () => readonly string[]]>([
	['check', () => ['check']],
	['replay', () => ['replay', ...span]],
	['replay --format json', () => ['replay', ...span, '--format', 'json']],
	['explain of a transaction', () => ['explain', hash, '--network', 'local']],
	['deliveries --sent', () => ['deliveries', '--sent']],
	['deliveries --sent --json', () => ['deliveries', '--sent', '--json']],
	['deliveries', () => ['deliveries']],
	['deliveries list --json', () => ['deliveries', 'list', '--json']],
	['a command that is not there', () => [`no${hidden}Treasury`]],
	['a network that is not there', () => ['replay', '--network', `no${hidden}Treasury`, '--from', '1', '--to', '2']],
	['a file that is not there', () => ['check', '--config', `no${hidden}Treasury.yaml`]],
])('error: %s', async (_, args) => {
	const { stdout, stderr } = await here.run(args())
	const text = stdout + stderr
	expect(text).not.toContain(hidden)
	// Else the label was not there, and nothing is proved. JSON says what was there, as an escape.
	expect(text).toMatch(/Trea(?:\\u200b)?sury/)
})

/** Without them the command says only that they are missing. */
const needed: Readonly<Record<string, readonly string[]>> = {
	replay: ['--from', '1', '--to', '2'],
	watch: ['--rpc', 'x'],
}

test('error: every command, of words that it was given', async () => {
	const { stdout: help } = await here.run(['--help'])
	const names = [...help.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name ?? '')
	expect(names.length).toBeGreaterThan(10)
	for (const name of names) {
		const { stdout, stderr } = await here.run([name, ...(needed[name] ?? []), `--no${hidden}Treasury`])
		expect(stdout + stderr, name).not.toContain(hidden)
		expect(stderr, name).toContain('--noTreasury')
	}
})
