// The pages of a running daemon, as a browser without script gets them.

import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { testInFull, testOnce } from '../support/longRun.js'
import { statusOf } from '../support/statusOf.js'
import { hookServer, inProcess, other, settings, siteOf, treasury, vault, watchlist } from './site.js'

let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

const hostile = '</td><script>alert(1)</script>"\'&amp;'

/** A daemon that has told of a payment to two receivers, one of which accepts nothing. */
async function pagedSite(http = '127.0.0.1:0', more = '') {
	const from = (await node.head()) + 1n
	await node.receipt(await node.send({ from: other, to: treasury, valueWei: 5n }))
	const [good, bad] = [await hookServer(), await hookServer()]
	bad.answer = () => ({ status: 401, body: hostile })
	const hooks = { good: `${good.origin}/KEYq7XthatZ9mustN0tK2show`, bad: `${bad.origin}/KEYq7XthatZ9mustN0tK2show` }
	const site = siteOf({
		'tracewatch.yaml': `${settings(node.url, hooks)}http: ${http}\n${more}`,
		'watchlists/a.yaml': watchlist(
			[
				`{address: ${treasury}, label: ${JSON.stringify(hostile)}, tags: [cold], from_block: ${from}}`,
				`{address: ${vault}, label: Vault}`,
			],
			'good, bad',
		),
	})
	const running = site.start(['run'])
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	await good.until(1)
	await bad.until(1)
	return { site, running, port: Number(port), origin: `http://127.0.0.1:${String(port)}` }
}

/** fetch sends no Host of ours. */
function get(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
	return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
		const asked = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
			let body = ''
			response.setEncoding('utf8').on('data', (chunk: string) => {
				body += chunk
			})
			response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
		})
		asked.on('error', reject).end()
	})
}

/** Until the page says so. */
async function said(origin: string, path: string, is: (found: ReturnType<typeof JSON.parse>) => boolean) {
	const endMs = Date.now() + 120_000
	for (;;) {
		const found: ReturnType<typeof JSON.parse> = await (await fetch(`${origin}${path}`)).json()
		if (is(found)) return found
		if (Date.now() > endMs) throw new Error(`${path} never said it: ${JSON.stringify(found)}`)
		await new Promise((resolve) => setTimeout(resolve, 250))
	}
}

describe('the pages', () => {
	testOnce('default: each as HTML and as JSON, with what there is to know', async () => {
		const { origin, running } = await pagedSite()
		const overview = await said(
			origin,
			'/?format=json',
			({ receivers, ok }) => receivers[0].delivered > 0 && receivers[1].lastAnswer !== null && !ok,
		)
		expect(overview).toMatchObject({ ok: false, reason: expect.stringContaining('bad refuses messages') })
		expect(overview).toMatchObject({ state: 'degraded', troubles: [overview.reason] })
		expect(overview.latest).toMatchObject([{ type: 'alert.transfer', alert: { valueWei: '5', direction: 'in' } }])
		expect(overview.networks[0]).toMatchObject({ network: 'local', chainId: 31337, ok: true, watches: 2 })
		expect(overview.networks[0].endpoint).toMatch(/^127\.0\.0\.1:\d+$/)
		expect(overview.receivers[0]).toMatchObject({ receiver: 'good', lastAnswer: { result: 'delivered' } })
		expect(overview.receivers[1].lastAnswer.words).toContain('401')

		const { alerts } = await said(origin, '/alerts?format=json', (found) => found.alerts[0]?.deliveries.length === 2)
		expect(alerts).toHaveLength(1)
		expect(alerts[0]).toMatchObject({ type: 'alert.transfer', alerts: [{ valueWei: '5', direction: 'in' }] })
		const results = alerts[0].deliveries.map(({ receiver, result }: Record<string, string>) => `${receiver} ${result}`)
		expect(results.sort()).toEqual(['bad pending', 'good delivered'])
		for (const [query, count] of [
			['q=cold', 1],
			['q=script', 1],
			[`address=${treasury}`, 1],
			[`address=${vault}`, 0],
			['network=base', 0],
			['kind=transfer', 1],
			['kind=deployment', 0],
			['receiver=nobody', 0],
		] as const) {
			expect((await said(origin, `/alerts?format=json&${query}`, () => true)).alerts, query).toHaveLength(count)
		}

		const { watches } = await said(origin, '/watches?format=json', (found) => found.watches[0].lastEvent !== null)
		expect(watches.map(({ label }: { label: string }) => label)).toEqual([hostile, 'Vault'])
		expect(watches[0].lastEvent.id).toBe(alerts[0].id)
		expect(await said(origin, `/watches?format=json&q=${vault}`, () => true)).toMatchObject({
			watches: [{ label: 'Vault' }],
		})

		const { deliveries } = await said(origin, '/deliveries?format=json', () => true)
		expect(deliveries.map(({ result }: { result: string }) => result)).toEqual(['pending', 'delivered'])
		const waiting = await said(origin, '/deliveries?format=json&status=pending', () => true)
		expect(waiting.deliveries.map(({ receiver }: { receiver: string }) => receiver)).toEqual(['bad'])

		const own = `/watch?network=local&address=${treasury}`
		for (const path of ['/', '/alerts', '/watches', '/deliveries', own]) {
			const answer = await fetch(origin + path)
			expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
			const policy = answer.headers.get('content-security-policy') ?? ''
			expect(policy).toContain("default-src 'none'")
			expect(policy).not.toMatch(/unsafe|\*|https?:/)
			const body = await answer.text()
			expect(body).toContain('class="health degraded"')
			expect(body.split('bad refuses messages')).toHaveLength(2)
			expect(body).not.toContain('<script')
			expect(body).not.toContain('KEYq7XthatZ9mustN0tK2show')
			expect(body).not.toMatch(/ (style|on[a-z]+)=/)
			// Nothing is asked of anybody else.
			expect(body).not.toMatch(/(src|href)="(https?:)?\/\//)
		}
		for (const path of ['/style.css', '/icon.svg']) expect(await statusOf(origin + path)).toBe(200)
		expect(await statusOf(`${origin}/constructor`)).toBe(404)
		expect(await statusOf(`${origin}/alerts`, { method: 'POST' })).toBe(405)
		await node.receipt(await node.send({ from: other, to: treasury, valueWei: 1n }))
		const books = await said(origin, '/watches?format=json&q=cold', (found) => found.watches[0]?.book !== null)
		const { balanceWei, closedTo, asset } = books.watches[0].book
		expect([BigInt(balanceWei), asset]).toEqual([await node.balanceWei(treasury, BigInt(closedTo)), 'ETH'])
		await running.stop()
	})

	testInFull(
		'behavior: without a password foreign names are refused, and off loopback there are no pages',
		async () => {
			const { port, running, origin } = await pagedSite('0.0.0.0:0')
			expect((await get(port, '/', { host: 'evil.example.org' })).status).toBe(421)
			expect((await get(port, '/alerts')).status).toBe(404)
			const { body, status } = await get(port, '/')
			expect(status).toBe(200)
			expect(body).toContain('http_password')
			expect(await statusOf(`${origin}/metrics`)).toBe(200)
			await running.stop()
		},
	)

	testInFull('behavior: with a password any name will do, and nothing without it but health and metrics', async () => {
		const password = 'correct:horse ü'
		const { site, port, running } = await pagedSite('0.0.0.0:0', `http_password: "${password}"\n`)
		const login = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
		for (const path of ['/', '/alerts', '/watches?format=json', '/deliveries', '/style.css', '/nothing']) {
			const refused = await get(port, path)
			expect(refused.status, path).toBe(401)
			expect(refused.headers['www-authenticate']).toContain('Basic')
			expect(refused.body).not.toContain('Vault')
		}
		for (const wrong of ['x:correct:horse', `x:${password}x`, password, ':', '']) {
			expect((await get(port, '/', login(wrong))).status, wrong).toBe(401)
		}
		const foreign = { host: 'watch.example.org', ...login(`anybody:${password}`) }
		expect((await get(port, '/watches', foreign)).body).toContain('Vault')
		expect((await get(port, '/watches', { host: 'watch.example.org' })).status).toBe(401)
		expect((await get(port, '/metrics', { host: 'watch.example.org' })).status).toBe(421)
		expect((await get(port, '/metrics')).status).toBe(200)
		await expect.poll(async () => (await get(port, '/healthz')).status, { interval: 250 }).toBe(503)
		await running.stop()
		expect(running.output()).not.toContain(password)
		expect((await inProcess(site).run(['check'])).stdout).not.toContain(password)
	})
})
