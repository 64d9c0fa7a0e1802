// What a person is told at 3 a.m.: one sentence, the same everywhere, and an exit code that a script can use.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { inFull, testInFull, testOnce } from '../support/longRun.js'
import type { Running, Site } from '../support/program.js'
import { booksOpened, hookServer, inProcess, other, settings, siteOf, treasury, watchlist } from './site.js'

let node: TestAnvil

beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

const watches = { 'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]) }

async function served(running: Running): Promise<string> {
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	return `http://127.0.0.1:${String(port)}`
}

/** Asks until the page says so; the test's own time is the limit. */
async function untilSaid(origin: string, words: string): Promise<{ status: number; text: string }> {
	for (;;) {
		const answer = await fetch(`${origin}/healthz`)
		const text = await answer.text()
		if (text.includes(words)) return { status: answer.status, text }
		await new Promise((resolve) => setTimeout(resolve, 250))
	}
}

async function status(here: Site) {
	const { code, stdout } = await inProcess(here).run(['status', '--json'])
	return { code, ...JSON.parse(stdout).daemon }
}

testOnce('default: nothing is wrong, and a script sees it', async () => {
	const hook = await hookServer()
	const more = 'http: 127.0.0.1:0\n'
	const here = siteOf({ 'tracewatch.yaml': settings(node.url, { hook: hook.origin }, more), ...watches })
	const running = here.start(['run'])
	const origin = await served(running)
	await booksOpened(running)
	expect((await untilSaid(origin, '"status":"ok"')).status).toBe(200)
	expect(await status(here)).toEqual({ code: 0, running: true, ok: true, reason: null })
	await running.stop()
	expect(await status(here)).toEqual({ code: 0, running: false, ok: true, reason: 'no daemon runs' })
})

inFull(() => {
	test('error: an endpoint that hangs is named by its host in what is sent, on the page and by status', async () => {
		const hook = await hookServer()
		// It takes every request, and answers none.
		const hung = await hookServer()
		hung.answer = () => () => undefined
		const more = '    stall_after: 3s\nhttp: 127.0.0.1:0\n'
		const text = settings(`${hung.origin}/Canary-Key-0001`, { hook: hook.origin }, more)
		const here = siteOf({ 'tracewatch.yaml': text, ...watches })
		const running = here.start(['run'])
		// The second once a request was given up, after 30 s, which is when a slow machine gets to it.
		const { host } = new URL(hung.origin)
		const who = new RegExp(`no poll has ended yet: (no answer of ${host}|${host} does not answer)`)
		const { text: page } = await untilSaid(await served(running), 'no block of local was scanned')
		const [told] = await hook.until((hits) => hits.some(({ body }) => body.includes('system.stalled')))
		const { reason } = await status(here)
		for (const said of [page, String(told?.body), reason]) {
			expect(said).toMatch(who)
			expect(said).not.toContain('Canary')
		}
	})

	test('error: an endpoint of another chain is reported at once, not after the stall', async () => {
		const hook = await hookServer()
		const text = settings(node.url, { hook: hook.origin }, 'http: 127.0.0.1:0\n').replace('31337', '1')
		const here = siteOf({ 'tracewatch.yaml': text, ...watches })
		const running = here.start(['run'])
		const said = await untilSaid(await served(running), 'local is not scanned')
		expect(said.status).toBe(503)
		const { code, ok, reason } = await status(here)
		expect({ code, ok }).toEqual({ code: 1, ok: false })
		expect(reason).toContain('31337')
		await running.stop()
	})
})

testInFull('error: the only receiver refuses our credentials', async () => {
	const hook = await hookServer()
	hook.answer = () => 401
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }, 'http: 127.0.0.1:0\n'),
		...watches,
	})
	const running = here.start(['run'])
	const origin = await served(running)
	await booksOpened(running)
	await node.send({ from: other, to: treasury, valueWei: 1n })
	const said = await untilSaid(origin, 'hook refuses')
	expect(said.status).toBe(503)
	expect(said.text).toContain('the credentials were refused')
	const { code, stdout } = await inProcess(here).run(['status'])
	expect([code, stdout.includes('(and the head as of then)')]).toEqual([1, false])
	await running.stop()
})

testInFull('error: beside a daemon that was killed', async () => {
	const hook = await hookServer()
	const here = siteOf({ 'tracewatch.yaml': settings(node.url, { hook: hook.origin }), ...watches })
	const running = here.start(['run'])
	await booksOpened(running)
	await running.stop('SIGKILL')
	const { code, stdout } = await inProcess(here).run(['status'])
	expect(code).toBe(1)
	expect(stdout).toContain('NOT WELL: no daemon runs: it was killed')
	expect(stdout).toContain('(and the head as of then)')
	// Whoever goes on with `once` has no daemon that could be missed.
	expect((await inProcess(here).run(['once'])).code).toBe(0)
	expect((await inProcess(here).run(['status'])).stdout).not.toContain('killed')
})
