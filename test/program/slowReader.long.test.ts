// What a command prints reaches a reader that is slow: a pager, an archiver, a link.
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { cliPath } from '../support/program.js'
import { settings, siteOf, watchlist } from './site.js'

test('behavior: a reader that begins after seconds gets all that a command printed', async () => {
	const addresses = Array.from({ length: 20_000 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`)
	const here = siteOf({
		'tracewatch.yaml': settings('http://127.0.0.1:9', { hook: 'http://127.0.0.1:9' }),
		'watchlists/a.yaml': watchlist(addresses.map((address) => `{address: "${address}"}`)),
	})
	const program = spawn(process.execPath, [cliPath, 'check', '--all'], {
		cwd: here.folder,
		stdio: ['ignore', 'pipe', 2],
	})
	await sleep(4_000)
	let text = ''
	for await (const chunk of program.stdout?.setEncoding('utf8') ?? []) text += chunk
	expect(text.match(/^ {2}0x/gm)).toHaveLength(addresses.length)
	expect(text).toMatch(/configuration is right: 1 network, 20000 watches, 1 receiver\n$/)
})
