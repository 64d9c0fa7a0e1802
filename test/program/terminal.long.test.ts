// What a terminal is shown, where a node, a receiver and a label supply what a terminal obeys, and lines of their own.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Hash } from '../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type DialectGateway, Refused, startDialectGateway } from '../support/dialectGateway.js'
import { type HookServer, startHookServer } from '../support/hookServer.js'
import type { Ended } from '../support/program.js'
import { inProcess, settings, siteOf, treasury, vault, watchlist } from './site.js'

/** Erases, names the window, colours, turns the direction, hides, begins lines; after each a word that may stay. */
const signs = '\u001b[2J \u001b]0;owned\u0007 \u009b31m \u202e \u2066 \u200b \ufeff \u0085 \r'.split(' ')
const marked = signs.map((sign, at) => `${sign}w${at}`).join(' ')
const hostile = `${marked}\nFORGED: all is well\u2028FORGED again\u2029\r\nFORGED`
const unfit = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u

let node: TestAnvil
let gateway: DialectGateway
let hook: HookServer
let failed: Hash

beforeAll(async () => {
	node = await startTestAnvil()
	hook = await startHookServer()
	hook.answer = () => ({ status: 400, body: Buffer.from(hostile) })
	gateway = await startDialectGateway(node.url, { clientVersion: hostile, twist })
	failed = await node.send({ from: treasury, to: vault, valueWei: 5n })
	await node.receipt(failed)
	await node.mine(2)
})

afterAll(async () => {
	await gateway.close()
	await hook.close()
	await node.stop()
})

/** A kind of frame and a method refused in the node's own words. */
function twist(method: string, _params: readonly unknown[], result: unknown): unknown {
	if (method === 'trace_filter' || method === 'ots_getContractCreator') {
		throw new Refused({ error: { code: -32000, message: hostile } })
	}
	if (method === 'eth_getTransactionReceipt' && result !== null) return { ...(result as object), status: '0x0' }
	if (method !== 'trace_transaction' && method !== 'trace_block') return undefined
	return (result as object[]).map((row) => ({ ...row, error: hostile }))
}

function open(url = gateway.url) {
	return inProcess(
		siteOf({
			'tracewatch.yaml': settings(url, { hook: hook.origin }),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}, label: Treasury}`]),
		}),
	)
}

function expectFit(name: string, { stdout, stderr }: Ended, shows?: RegExp): void {
	for (const [stream, text] of Object.entries({ stdout, stderr })) {
		expect(unfit.exec(text)?.[0], `${name}, ${stream}: ${JSON.stringify(text)}`).toBeUndefined()
		const forged = text.split('\n').filter((line) => /^\W{0,3}FORGED/.test(line))
		expect(forged, `${name}, ${stream}: a line of somebody else's`).toEqual([])
	}
	// Else the words were not there, and nothing is proved.
	if (shows !== undefined) expect(stdout + stderr, name).toMatch(shows)
}

test('error: doctor, of a node that names itself and refuses with escapes and lines', async () => {
	const here = open()
	expectFit('doctor', await here.run(['doctor']), /FORGED/)
	const json = await here.run(['doctor', '--json'])
	expectFit('doctor --json', json, /FORGED/)
	expect(() => JSON.parse(json.stdout)).not.toThrow()
})

test('error: explain, of a frame that failed in such words', async () => {
	expectFit('explain', await open().run(['explain', failed, '--network', 'local']), /FORGED/)
})

test.each([
	['all of them', hostile],
	['only what turns letters round', '\u202eTreasury'],
	['only a line of its own', 'Treasury\u2028FORGED'],
])('error: check and replay, of a label with %s', async (_name, label) => {
	const here = inProcess(
		siteOf({
			'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}, label: ${JSON.stringify(label)}}`]),
		}),
	)
	expectFit('check', await here.run(['check']), /control characters/)
	expectFit('replay', await here.run(['replay', '--network', 'local', '--from', '0', '--to', '1']))
})

test('behavior: invisible characters are taken out of a label', async () => {
	const here = inProcess(
		siteOf({
			'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}, label: "Trea\u200bsury"}`]),
		}),
	)
	expectFit('check', await here.run(['check']), /Treasury/)
})

test('error: deliveries, status and test-send, of a receiver that answers with them', async () => {
	const here = open(node.url)
	expectFit('test-send', await here.run(['test-send', 'hook']), /FORGED/)
	expectFit('first', await here.start(['once']).ended)
	await node.receipt(await node.send({ from: treasury, to: vault, valueWei: 7n }))
	expectFit('once', await here.start(['once']).ended, /FORGED/)
	for (const args of [['deliveries'], ['deliveries', 'list', '--json'], ['status'], ['status', '--json']]) {
		expectFit(args.join(' '), await here.run(args), args[0] === 'deliveries' ? /FORGED/ : undefined)
	}
})

test('error: watch and once, of a node that refuses everything so', async () => {
	const rude = await startDialectGateway(node.url, {
		twist(method) {
			if (method !== 'eth_chainId') throw new Refused({ error: { code: -32000, message: hostile } })
			return undefined
		},
	})
	onTestFinished(() => rude.close())
	const here = open(rude.url)
	expectFit('once', await here.start(['once']).ended, /FORGED/)
	expectFit('replay', await here.run(['replay', '--network', 'local', '--from', '1', '--to', '2']), /FORGED/)
	const running = here.start(['watch', treasury, '--rpc', rude.url], { TMPDIR: here.folder })
	await expect.poll(running.output).toContain('FORGED')
	expectFit('watch', await running.stop('SIGINT'), /FORGED/)
})
