// Who waits at a terminal is told for what, before he wonders.
import { expect, test } from 'vitest'
import { smallFigures } from '../support/preload.js'
import { cliPath } from '../support/program.js'
import { openTerminal } from '../support/terminal.js'
import { hookServer, settings, siteOf, treasury, watchlist } from './site.js'

/** The words come after a millisecond, in place of two seconds. */
const env = smallFigures('SILENT_MS=1')

/** A server that takes what it is sent, and answers when it is told to. */
async function slow(body = '') {
	const server = await hookServer()
	const waiting: (() => void)[] = []
	server.answer = () => (response) => void waiting.push(() => response.writeHead(200).end(body))
	const release = async () => {
		await server.until(1)
		for (const answer of waiting.splice(0)) answer()
	}
	return { origin: server.origin, release }
}

test('behavior: test-send and explain say whom they wait for', async () => {
	const hook = await slow()
	const node = await slow('{"jsonrpc":"2.0","id":1,"result":"0x7a69"}')
	const here = siteOf({
		'tracewatch.yaml': settings(node.origin, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
	})
	const open = (...args: string[]) => openTerminal([process.execPath, cliPath, ...args], { cwd: here.folder, env })
	const sending = open('test-send', 'hook')
	const asking = open('explain', `0x${'ab'.repeat(32)}`)
	await sending.sees('sending to `hook` …')
	await hook.release()
	await sending.sees('delivered to `hook`')
	expect(await sending.ended).toBe(0)
	await asking.sees('asking local …')
	asking.types('\u0003')
	await asking.ended
})

test('behavior: while many addresses are read, the terminal says so', async () => {
	const rows = Array.from({ length: 20_000 }, (_, at) => `0x${(at + 1).toString(16).padStart(40, '0')},Customer\n`)
	const here = siteOf({
		'tracewatch.yaml': settings('http://127.0.0.1:9/x', { hook: 'http://127.0.0.1:9/x' }),
		'watchlists/a.yaml': 'network: local\nreceivers: [hook]\naddresses_from: many.csv\n',
		'watchlists/many.csv': rows.join(''),
	})
	const checking = openTerminal([process.execPath, cliPath, 'check'], { cwd: here.folder, env })
	await checking.sees('reading the watchlists …')
	await checking.sees('configuration is right: 1 network, 20000 watches')
	expect(await checking.ended).toBe(0)
})
