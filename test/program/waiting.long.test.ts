// Who waits at a terminal is told for what, before he wonders.
import { expect, test } from 'vitest'
import { cliPath } from '../support/program.js'
import { openTerminal } from '../support/terminal.js'
import { hookServer, settings, siteOf, treasury, watchlist } from './site.js'

/** A server that takes what it is sent, and answers after so many seconds. */
async function slow(seconds: number, body = '') {
	const server = await hookServer()
	server.answer = () => (response) => void setTimeout(() => response.writeHead(200).end(body), seconds * 1_000)
	return server
}

test('behavior: test-send and explain say whom they wait for, and take it away', async () => {
	const hook = await slow(4)
	const node = await slow(4, '{"jsonrpc":"2.0","id":1,"result":"0x7a69"}')
	const here = siteOf({
		'tracewatch.yaml': settings(node.origin, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
	})
	const open = (...args: string[]) => openTerminal([process.execPath, cliPath, ...args], { cwd: here.folder })
	const sending = open('test-send', 'hook')
	const asking = open('explain', `0x${'ab'.repeat(32)}`)
	await sending.sees('sending to `hook`, 3 s …')
	await sending.sees('\r\u001b[2K')
	await sending.sees('delivered to `hook`')
	expect(await sending.ended).toBe(0)
	await asking.sees('asking local, 3 s …')
	asking.types('\u0003')
	await asking.ended
})

test('behavior: a million addresses are read, and who waits is reported', async () => {
	const rows = Array.from({ length: 1_000_000 }, (_, at) => `0x${(at + 1).toString(16).padStart(40, '0')},Customer\n`)
	const here = siteOf({
		'tracewatch.yaml': settings('http://127.0.0.1:9/x', { hook: 'http://127.0.0.1:9/x' }),
		'watchlists/a.yaml': 'network: local\nreceivers: [hook]\naddresses_from: many.csv\n',
		'watchlists/many.csv': rows.join(''),
	})
	const startedAtMs = performance.now()
	const checking = openTerminal([process.execPath, cliPath, 'check'], { cwd: here.folder })
	await checking.sees('configuration is right: 1 network, 1000000 watches')
	expect(await checking.ended).toBe(0)
	// On a machine that is done sooner no one has waited.
	const tookMs = performance.now() - startedAtMs
	expect(tookMs < 2_500 || checking.screen().includes('reading the watchlists, 2 s …')).toBe(true)
})
