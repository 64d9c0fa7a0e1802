import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { createRpc, type Rpc } from '../../../src/chain/rpc/rpc.js'
import { PlainError } from '../../../src/errors.js'
import * as faults from '../../support/faults.js'
import { type Fault, startFaultyNode } from '../../support/faultyNode.js'

const never = new AbortController().signal
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
	while (closers.length > 0) await closers.pop()?.()
})

const canaries = {
	path: 'canary-PATH-q7Xz9K2vW91',
	query: 'canary&QUERY/92',
	user: 'canary:USER-q7Xz9K2vW93',
	password: 'canary@PASS-94',
}
/** Every form in which one of them may be seen. */
const forms = [
	...Object.values(canaries).flatMap((canary) => [canary, encodeURIComponent(canary)]),
	Buffer.from(`${canaries.user}:${canaries.password}`).toString('base64'),
	'canary',
]

function urlAt(host: string): string {
	const { path, query, user, password } = canaries
	const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
	return `http://${login}@${host}/${path}/evm?token=${encodeURIComponent(query)}`
}

/** All of an error that a log, a test or a person could ever see. */
function everything(error: unknown): string {
	const seen: string[] = []
	for (let one = error; one instanceof Error; one = one.cause) {
		seen.push(one.message, one.stack ?? '', JSON.stringify(one), JSON.stringify(one, Object.getOwnPropertyNames(one)))
		seen.push(inspect(one, { depth: 10, showHidden: true }))
	}
	return seen.join('\n')
}

function expectNoSecret(error: unknown): void {
	expect(error).toBeInstanceOf(Error)
	const text = everything(error)
	for (const form of forms) expect(text).not.toContain(form)
}

async function failureOf(rpc: Rpc): Promise<readonly unknown[]> {
	const thrown = await rpc.call('test_echo', [1], never).catch((error: unknown) => error)
	const calls = [1, 2].map((at) => ({ method: 'test_echo', params: [at] }))
	const answers = await rpc.batch(calls, never).catch((error: unknown) => [error])
	return [thrown, ...answers.filter((answer) => answer instanceof Error)]
}

const all: Readonly<Record<string, Fault>> = {
	'401 that says all it was asked': faults.echo(401),
	'400 that says all it was asked': faults.echo(400),
	'200 that says all it was asked': faults.echo(200),
	'302 to where it was asked': faults.echo(302),
	'the address a thousand times': (ask, response) => {
		faults.rpcError(-32000, ask.path.repeat(1_000))(ask, response, null)
	},
	'429': faults.status(429),
	'a web page': faults.html,
	'cut JSON': faults.cutJson,
	'a cut body': faults.cutBody,
	'a reset': faults.reset,
	'a redirect': faults.redirectLoop,
	'a drip': faults.drip,
	silence: faults.hang,
	'broken gzip': faults.brokenGzip,
	'an encoding that was not asked for': faults.encoded(canaries.path),
	'a gzip bomb': faults.gzipBomb(4 * 1024 * 1024),
	'what is not HTTP': (ask, response) => response.socket?.end(`GARBAGE ${ask.path}\r\n\r\n`),
	'a large header': (ask, response) => response.writeHead(200, { 'x-path': ask.path.repeat(2_000) }).end('x'),
}

describe('a key in path, query or login is in no error', () => {
	test.each(Object.entries(all))('error: %s', async (_name, fault) => {
		const node = await startFaultyNode()
		const rpc = createRpc({ url: urlAt(node.host), timeoutMs: 200, retry: { tries: 1 }, maxBodyBytes: 1024 * 1024 })
		closers.push(node.close, rpc.close)
		node.fail(fault)
		const failures = await failureOf(rpc)
		expect(failures.length).toBeGreaterThan(1)
		for (const failure of failures) expectNoSecret(failure)
		expect(everything(failures[0])).toContain(node.host)
	})

	test.each([
		['nobody listens', '127.0.0.1:1'],
		['an unknown host', 'nobody.invalid'],
	])('error: %s', async (_name, host) => {
		const rpc = createRpc({ url: urlAt(host), timeoutMs: 2_000, retry: { tries: 1 } })
		closers.push(rpc.close)
		for (const failure of await failureOf(rpc)) expectNoSecret(failure)
	})

	test('error: no TLS where TLS is asked', async () => {
		const node = await startFaultyNode()
		const rpc = createRpc({ url: urlAt(node.host).replace('http:', 'https:'), timeoutMs: 2_000 })
		closers.push(node.close, rpc.close)
		for (const failure of await failureOf(rpc)) expectNoSecret(failure)
	})

	test.each([
		['not a URL', 'canary-PATH-q7Xz9K2vW91'],
		['a URL with a wrong port', urlAt('127.0.0.1:99999')],
		['another protocol', urlAt('127.0.0.1').replace('http:', 'ftp:')],
	])('error: %s', (_name, url) => {
		let error: unknown
		try {
			createRpc({ url })
		} catch (thrown) {
			error = thrown
		}
		expect(error).toBeInstanceOf(PlainError)
		expectNoSecret(error)
	})

	test('behavior: a secret that begins like another is replaced whole', async () => {
		const node = await startFaultyNode()
		const rpc = createRpc({ url: `${node.url}/canaryQ7xZ/canaryQ7xZ9r2-long?key=canary-longer` })
		closers.push(node.close, rpc.close)
		node.fail(faults.echo(400))
		const [failure] = await failureOf(rpc)
		expect(String(failure)).toContain('/[secret]?key=[secret] ')
	})

	test('behavior: words that stand in many addresses are left as they are', async () => {
		const node = await startFaultyNode()
		const rpc = createRpc({ url: `${node.url}/api/v2/eth/k3yQ7x9Zr2VtM4pD/evm` })
		closers.push(node.close, rpc.close)
		node.fail(faults.rpcError(-32000, 'the evm at api v2 of eth does not know k3yQ7x9Zr2VtM4pD'))
		const [failure] = await failureOf(rpc)
		expect(String(failure)).toContain('the evm at api v2 of eth does not know [secret]')
	})
})
