// The operator's own words, which are also in the path of a URL, are shown; keys are not.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { hookServer, inProcess, other, polled, settings, siteOf, told, treasury, watchlist } from './site.js'

let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

describe("the operator's own words", () => {
	test('stand in messages, on pages and in logs though they are parts of the path of a URL', async () => {
		const hook = await hookServer()
		const key = 'x3Jq7wQkzV0oGqfRsT2uBnCM'
		const hooks = {
			treasury: `${hook.origin}/treasury`,
			alerts: `${hook.origin}/alerts`,
			keyed: `${hook.origin}/services/${key}?channel=treasury`,
		}
		const site = siteOf({
			'tracewatch.yaml': `${settings(node.url, hooks)}http: 127.0.0.1:0\n`,
			'watchlists/a.yaml': watchlist(
				[`{address: ${treasury}, label: treasury wallet, tags: [alerts, channel]}`],
				'treasury, alerts, keyed',
			),
		})
		hook.answer = ({ url }) => (url === '/alerts' ? { status: 401, body: `who is /services/${key}?` } : 204)
		const running = site.start(['run'])
		const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
		await polled(running)
		await node.receipt(await node.send({ from: other, to: treasury, valueWei: 5n }))
		await hook.until((hits) => hits.filter(({ url }) => url === '/treasury').length > 0)
		await running.line(({ receiver }) => receiver === 'alerts')
		const [alert] = told(hook.hits.filter(({ url }) => url === '/treasury'))
		expect(alert.data.watch).toMatchObject({ label: 'treasury wallet', tags: ['alerts', 'channel'] })
		const origin = `http://127.0.0.1:${String(port)}`
		const pages = await Promise.all(
			['/', '/alerts', '/watches'].map(async (path) => (await fetch(`${origin}${path}`)).text()),
		)
		expect(pages.join('\n')).toContain('href="/alerts')
		expect(pages.join('\n')).toContain('treasury wallet')
		const { stdout, stderr } = await running.stop()
		const listed = await inProcess(site).run(['deliveries', 'list', '--json'])
		const everything = [stdout, stderr, ...pages, listed.stdout].join('\n')
		// Only what the receiver repeats of another's URL.
		expect(everything).toContain('who is [secret]?')
		expect(everything.replaceAll('who is [secret]?', '')).not.toContain('[secret]')
		expect(everything).not.toContain(key)
	})

	test('are pointed out by check where they may be a key', async () => {
		const hooks = {
			hook: 'https://hooks.example.org/treasury',
			keyed: 'https://hooks.example.org/x3Jq7wQkzV0oGqfRsT2u',
		}
		const site = siteOf({
			'tracewatch.yaml': settings('https://node.example.org/letmein', hooks),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}}`], 'hook, keyed'),
		})
		const { code, stderr } = await inProcess(site).run(['check'])
		expect(code).toBe(0)
		const found = stderr.split('\n').filter((line) => line.includes('word-like'))
		expect(found).toEqual([
			expect.stringMatching(/^warning: tracewatch\.yaml:4:\d+: an `rpc` URL of `local` has a short or word-like part/),
			expect.stringMatching(/^warning: tracewatch\.yaml:9:\d+: the URL of `hook` has a short or word-like part/),
		])
		expect(stderr).not.toContain('letmein')
		expect(stderr).not.toContain('treasury')
	})
})
