import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { openSite, type Site } from '../support/program.js'
import { settings, treasury, watchlist } from './site.js'

let node: TestAnvil
let site: Site

beforeAll(async () => {
	node = await startTestAnvil()
	site = openSite({
		'tracewatch.yaml': settings(node.url, { hook: 'http://127.0.0.1:9/x' }),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
	})
})

afterAll(async () => {
	await site.close()
	await node.stop()
})

test('behavior: SIGUSR1 does not open the debugger', async () => {
	const daemon = site.start(['run'], { LOG_LEVEL: 'debug' })
	const polls = () => daemon.output().split('"msg":"polled"').length
	await daemon.line(({ msg }) => msg === 'polled')
	daemon.process.kill('SIGUSR1')
	// The debugger would have said so long before two more polls, and listen on its usual port.
	const before = polls()
	await expect.poll(polls).toBeGreaterThan(before + 1)
	const isOpen = await new Promise<boolean>((resolve) => {
		const socket = connect(9229, '127.0.0.1', () => resolve(true))
		socket.once('error', () => resolve(false)).once('connect', () => socket.destroy())
	})
	expect(isOpen).toBe(false)
	expect(daemon.output()).not.toContain('Debugger listening')
	expect((await daemon.stop()).code).toBe(0)
})
