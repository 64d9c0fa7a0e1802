/** Bad input, from outside: a message that a person understands, the right exit code, and nothing lost. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { typed } from '../support/commandLine.js'
import { type HookServer, startHookServer } from '../support/hookServer.js'
import type { Ended, Site } from '../support/program.js'
import { type NodeMood, startTalkativeNode, type TalkativeNode } from '../support/talkativeNode.js'
import { settings, siteOf, told, treasury, vault, watchlist } from './site.js'

let chain: TestAnvil
let node: TalkativeNode
let hook: HookServer

beforeAll(async () => {
	chain = await startTestAnvil()
	node = await startTalkativeNode(chain.url)
	hook = await startHookServer()
})

afterAll(() => Promise.all([chain.stop(), node.close(), hook.close()]))

const rpcUrl = () => `http://${node.host}/key/evm`
const good = () => settings(rpcUrl(), { hook: hook.origin })
const oneWatch = watchlist([`{address: ${treasury}, direction: out}`])

/** A site that has been at work: it stands at a checkpoint, and something has happened since. */
async function seasoned(): Promise<Site & { catchesUp(): Promise<void> }> {
	const site = siteOf({ 'tracewatch.yaml': good(), 'watchlists/a.yaml': oneWatch })
	expect((await typed(['once'], { cwd: site.folder })).code).toBe(0)
	const before = hook.hits.length
	const valueWei = BigInt(before + 1)
	await chain.send({ from: treasury, to: vault, valueWei })
	return {
		...site,
		/** What happened before the mistake was made is told once it is fixed. */
		async catchesUp() {
			expect(told(hook.hits.slice(before))).toEqual([])
			const { code, stdout, stderr } = await typed(['once'], { cwd: site.folder })
			expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, ''])
			expect(told(hook.hits.slice(before)).map(({ data }) => data.valueWei)).toEqual([String(valueWei)])
		},
	}
}

/** One line for each problem, nothing else, and no stack. */
function expectProblems({ code, stderr }: Pick<Ended, 'code' | 'stderr'>, ...lines: readonly RegExp[]): void {
	expect(code).toBe(78)
	expect(stderr).not.toMatch(/^\s+at /m)
	for (const line of lines) expect(stderr).toMatch(line)
}

// The words for other mistakes are tested in test/config.
describe('a wrong configuration ends with 78, says where, and loses nothing', () => {
	const mistakes: readonly [what: string, file: string, text: (good: string) => string, line: RegExp][] = [
		['broken YAML', 'tracewatch.yaml', (text) => text.replace('[', '[['), /^tracewatch\.yaml:\d+:\d+: .*not closed/m],
		[
			'an unknown receiver',
			'watchlists/a.yaml',
			(text) => text.replace('[hook]', '[hok]'),
			/^watchlists\/a\.yaml:2:13: .*`hok`.*`hook`/m,
		],
		[
			'a missing secret',
			'tracewatch.yaml',
			(text) => text.replace(hook.origin, '$' + '{HOOK_URL}'),
			/^tracewatch\.yaml:9:10: .*HOOK_URL} is not set.*HOOK_URL_FILE/m,
		],
		[
			'no watchlist',
			'tracewatch.yaml',
			(text) => `${text}watchlists: nowhere\n`,
			/^tracewatch\.yaml:10:13: .*nowhere/m,
		],
	]

	test('error: each of these mistakes, one after another', async () => {
		const site = await seasoned()
		for (const [, file, spoil, line] of mistakes) {
			const text = file === 'tracewatch.yaml' ? good() : oneWatch
			site.write(file, spoil(text))
			expectProblems(await typed(['check'], { cwd: site.folder }), line)
			expectProblems(await site.run(['run']), line)
			site.write(file, text)
		}
		await site.catchesUp()
	})

	test('error: no configuration at all', async () => {
		const site = siteOf({})
		expectProblems(await site.run(['run']), /tracewatch setup/)
		const named = await site.run(['run', '-c', 'other.yaml'])
		expectProblems(named, /^other\.yaml:1:1: the file cannot be read: it does not exist$/m)
	})

	test('error: an endpoint of another chain', async () => {
		const site = await seasoned()
		site.write('tracewatch.yaml', good().replace('31337', '1'))
		const { code, stdout } = await site.run(['once'])
		expect(code).toBe(78)
		expect(stdout).toContain(`${node.host} is on chain 31337, but chain 1 is configured`)
		site.write('tracewatch.yaml', good())
		await site.catchesUp()
	})
})

describe('an endpoint that fails ends with 75, is named by its host, and loses nothing', () => {
	const moods: readonly [mood: NodeMood, words: RegExp][] = [
		['page', /the answer is a web page, not JSON/],
		['cut', /the answer is cut off/],
		['error', /code -32000/],
		['failing', /HTTP 500/],
		['unauthorized', /HTTP 401/],
		['redirect', /to another address \(HTTP 302\), which is not followed/],
	]

	test('error: each of these answers, one after another', async () => {
		const site = await seasoned()
		onTestFinished(() => {
			node.mood = 'good'
		})
		for (const [mood, words] of moods) {
			node.mood = mood
			const { code, stdout } = await site.run(['once'])
			expect([mood, code]).toEqual([mood, 75])
			const line = stdout.split('\n').find((text) => text.includes('polling failed')) ?? ''
			const { msg, level } = JSON.parse(line)
			expect(level).toBe('error')
			expect(msg).toContain(node.host)
			expect(msg).toMatch(words)
			expect(msg).toContain('nothing is lost')
			// What the endpoint says stands in quotes, and may repeat a path that is no secret.
			expect(msg.replace(/".*"/, '')).not.toContain('/key/evm')
		}
		node.mood = 'good'
		await site.catchesUp()
	})
})

describe('a port in use ends with 1 and says what to do', () => {
	async function takenPort(): Promise<number> {
		const server = createServer()
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		onTestFinished(() => void server.close())
		return (server.address() as AddressInfo).port
	}

	test('error: http', async () => {
		const site = await seasoned()
		const port = await takenPort()
		site.write('tracewatch.yaml', `${good()}http: 127.0.0.1:${port}\n`)
		const { code, stderr } = await site.run(['run'])
		expect(code).toBe(1)
		expect(stderr).toBe(
			`127.0.0.1:${port} is in use by another program: choose another port at \`http:\`, or stop that program\n`,
		)
		site.write('tracewatch.yaml', good())
		await site.catchesUp()
	})
})

describe('a state that cannot be used ends with 1 and says why', () => {
	test('error: the folder is a file', async () => {
		const site = await seasoned()
		site.write('taken', 'no folder')
		site.write('tracewatch.yaml', `${good()}state: taken\n`)
		for (const command of ['once', 'run']) {
			const { code, stderr } = await site.run([command])
			expect(code).toBe(1)
			expect(stderr).toMatch(/^cannot read .*taken: it is not a folder/)
			expect(stderr.trim().split('\n')).toHaveLength(1)
		}
		site.write('tracewatch.yaml', good())
		await site.catchesUp()
	})

	test('error: the state is of another chain', async () => {
		const site = await seasoned()
		const other = await startTestAnvil(['--chain-id', '4711'])
		onTestFinished(() => other.stop())
		site.write('tracewatch.yaml', settings(other.url, { hook: hook.origin }).replace('31337', '4711'))
		const { code, stdout } = await site.run(['once'])
		expect(code).toBe(1)
		expect(stdout).toMatch(/the state of network 'local' is of chain 31337, but it now says chain 4711/)
		site.write('tracewatch.yaml', good())
		await site.catchesUp()
	})
})

test('error: wrong usage ends with 2 and names the way out', async () => {
	const site = siteOf({ 'tracewatch.yaml': good(), 'watchlists/a.yaml': oneWatch })
	const cases: readonly (readonly [args: readonly string[], words: RegExp])[] = [
		[['runn'], /unknown command 'runn'.*--help/],
		[['run', '--fast'], /--fast.*tracewatch run --help/],
		[['run', 'now'], /too many arguments.*tracewatch run --help/],
		[['test-send'], /missing required argument 'receiver'/],
		[['test-send', 'hok'], /no receiver `hok`.*`hook`/],
		[['deliveries', 'forget'], /'forget' is invalid.*list, retry, drop/],
		[['deliveries', 'retry'], /--all/],
		[['replay', '--from', 'soon', '--to', '1'], /--from <block>' argument 'soon' is invalid. it takes a block number/],
		[['replay', '--to', '1'], /'--from <block>' not specified/],
		[['replay', '--from', '2', '--to', '1'], /--from 2 is after --to 1/],
		[['replay', '--from', '1', '--to', '1', '--format', 'xml'], /'xml' is invalid.*table, json/],
		[['replay', '--from', '1', '--to', '1', '--network', 'lokal'], /no network `lokal`.*`local`/],
		[['replay', '--from', '1', '--to', '1', '--address', '0x12'], /0x12/],
	]
	const hold = (args: readonly string[], words: RegExp, { code, stderr }: Pick<Ended, 'code' | 'stderr'>) => {
		expect([args, code]).toEqual([args, 2])
		expect(stderr).toMatch(words)
		expect(stderr.trim().split('\n')).toHaveLength(1)
	}
	for (const [args, words] of cases) hold(args, words, await typed(args, { cwd: site.folder }))
	const [first] = cases
	if (first !== undefined) hold(...first, await site.run(first[0]))
})
