// The pages, attacked by whoever reaches their port, and by whoever can put text on them.

import { describe, expect, test } from 'vitest'
import { addressOf } from '../state/samples.js'
import { statusOf } from '../support/statusOf.js'
import { mark, password, raw, script, serve } from './hostile.js'

const statusesIn = (back: string) => [...back.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
const paths = ['/', '/alerts', '/watches', '/deliveries']
const watch = `/watch?network=ethereum&address=${addressOf(1)}`

describe('hostile text from others on a page', () => {
	test('behavior: labels, symbols, answers and the words of nodes are text, wherever they stand', async () => {
		const { url } = await serve()
		for (const path of [...paths, watch]) {
			const body = await (await fetch(`${url}${path}`)).text()
			// Its text is there, and makes no tag, no attribute, no script and no link.
			expect(body, path).toContain(mark)
			const tags = (body.match(/<[a-z][^>]*>/gi) ?? []).map((tag) => tag.replaceAll(/"[^"]*"/g, '""'))
			expect(tags.filter((tag) => tag.includes(mark) || /\son[a-z]+\s*=/i.test(tag))).toEqual([])
			expect(tags.filter((tag) => /^<(?:img|svg\/|iframe|object|embed|base)\b/i.test(tag))).toEqual([])
			expect(body).not.toMatch(/href="(?!https?:|\/|#|\?)/)
			expect(body).not.toContain('<script')
		}
	})

	test('behavior: as JSON it is JSON, which no browser takes for a page', async () => {
		const { url } = await serve()
		for (const path of [...paths.map((one) => `${one}?`), `${watch}&`]) {
			const answer = await fetch(`${url}${path}format=json`)
			expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
			expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
			expect(JSON.stringify(await answer.json())).toContain(mark)
		}
	})
})

describe('hostile requests', () => {
	const every = [
		script,
		"' OR 1=1; DROP TABLE history; --",
		'%00',
		'../../../../etc/passwd',
		'__proto__',
		'constructor',
		'(a+)+$'.repeat(20),
		'%'.repeat(60),
		'\u202e\u0000\u001b[2J',
		'9'.repeat(400),
		'-1',
		'w-1',
		'w999999999999',
		'NaN',
		'{"$ne":null}',
	]
	const injections = every
	const filters = ['q', 'address', 'network', 'kind', 'receiver', 'status', 'before', 'format', 'nothing']

	test.each(filters)(
		'behavior: a page with hostile text in the filter `%s` comes back, and shows it as text',
		async (name) => {
			const { url } = await serve()
			for (const path of paths) {
				for (const value of injections) {
					const answer = await fetch(`${url}${path}?${new URLSearchParams([[name, value]])}`)
					const body = await answer.text()
					expect([answer.status, path, value]).toEqual([200, path, value])
					expect(body).toMatch(/<\/html>\n?$/)
					expect(body).not.toContain(`<svg/onload=${mark}`)
					expect(body).not.toContain('\u001b')
					expect(body).not.toContain('\u202e')
				}
			}
		},
	)

	test.each(injections)('error: no page of a watch is at %s, and nothing of it is on the answer', async (value) => {
		const { url } = await serve()
		for (const query of [
			{ network: value, address: value },
			{ network: 'ethereum', address: value },
		]) {
			const answer = await fetch(`${url}/watch?${new URLSearchParams(query)}`)
			expect([answer.status, value]).toEqual([404, value])
			expect(await answer.text()).not.toContain(`<svg/onload=${mark}`)
		}
	})

	test('behavior: a filter that stands there a thousand times, and none that ends', async () => {
		const { port } = await serve()
		for (const query of ['q=a&'.repeat(1_000), 'q', '?&&&==&q=%', `q=${'%F0%9F%92%A9'.repeat(300)}`]) {
			expect(statusesIn(await raw(port, `GET /alerts?${query} HTTP/1.0\r\n\r\n`))).toEqual([200])
		}
	})

	test('error: a path that leads elsewhere leads nowhere', async () => {
		const { port } = await serve()
		for (const path of [
			'/../etc/passwd',
			'/%2e%2e/%2e%2e/etc/passwd',
			'/..%2f..%2fetc%2fpasswd',
			'/style.css/../../package.json',
			'/style.css%00.html',
			'//evil.example/alerts',
			'/alerts/',
			'/ALERTS',
			'/alerts;x=1',
			'/__proto__',
			'/constructor',
			'/toString',
			'http://127.0.0.1/alerts',
			'file:///etc/passwd',
			'*',
		]) {
			const back = await raw(port, `GET ${path} HTTP/1.0\r\n\r\n`)
			expect([path, statusesIn(back)]).toEqual([path, [404]])
			expect(back).not.toMatch(/root:|"name"|location:/i)
		}
	})

	test('error: headers and addresses without an end are refused, and the next one is answered', async () => {
		const { port, url } = await serve()
		const head = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n'
		expect(statusesIn(await raw(port, `${head}X: ${'a'.repeat(20_000)}\r\n\r\n`))).toEqual([431])
		expect(statusesIn(await raw(port, `${head}${'X: a\r\n'.repeat(5_000)}\r\n`))).toEqual([431])
		expect(statusesIn(await raw(port, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`))).toEqual([431])
		expect(statusesIn(await raw(port, `GET /${'a'.repeat(7_000)} HTTP/1.0\r\n\r\n`))).toEqual([404])
		expect(await statusOf(`${url}/healthz`)).toBe(503)
	})

	test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH'])(
		'error: %s is refused, on every page, with a body and without',
		async (method) => {
			const { port } = await serve()
			for (const path of [...paths, '/metrics', '/healthz', '/style.css']) {
				const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nX-Own: ${mark}\r\n`
				for (const rest of ['\r\n', 'Content-Length: 3\r\n\r\nx=1']) {
					const back = await raw(port, `${head}${rest}`)
					expect([path, statusesIn(back)]).toEqual([path, [405]])
					expect(back).toMatch(/^allow: GET, HEAD\r$/im)
					expect(back).not.toContain(mark)
				}
			}
		},
	)

	test('error: CONNECT opens nothing', async () => {
		const { port } = await serve()
		const back = await raw(port, 'CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n')
		expect(statusesIn(back).filter((status) => status < 400)).toEqual([])
	})

	test('default: HEAD is GET without its body', async () => {
		const { port, url } = await serve()
		for (const path of [...paths, '/nothing']) {
			const [head, ...rest] = (await raw(port, `HEAD ${path} HTTP/1.0\r\n\r\n`)).split('\r\n\r\n')
			expect(rest.join('')).toBe('')
			expect(statusesIn(head ?? '')).toEqual([await statusOf(`${url}${path}`)])
		}
	})

	const get = 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
	const post = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n'
	test.each([
		['a length and chunks', `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${get}`],
		['two lengths', `${post}Content-Length: 0\r\nContent-Length: ${get.length}\r\n\r\n${get}`],
		['an encoding that nobody knows', `${post}Transfer-Encoding: xchunked\r\n\r\n${get}`],
		['chunks that are not the last encoding', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${get}`],
		['a space before the colon', `${post}Content-Length : ${get.length}\r\n\r\n${get}`],
		['a length that is no number', `${post}Content-Length: +${get.length}\r\n\r\n${get}`],
		['a header on two lines', `${post}X: a\r\n Content-Length: ${get.length}\r\n\r\n${get}`],
		['a lone line feed', `${post}X: a\nContent-Length: ${get.length}\r\n\r\n${get}`],
		['a chunk whose size is none', `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n${get}`],
		['no host', `GET / HTTP/1.1\r\n\r\n${get}`],
		['two hosts', `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n${get}`],
	])('error: a request smuggled behind %s is not answered', async (_, bytes) => {
		const { port } = await serve()
		const statuses = statusesIn(await raw(port, bytes, 1_000))
		// Whoever reads it otherwise would have a second answer, to what he took for a body.
		expect(statuses.filter((status) => status === 200)).toEqual([])
	})

	test('behavior: a page of another party can neither read an answer nor show one', async () => {
		const { url } = await serve()
		const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
		for (const path of [...paths, '/alerts?format=json', '/metrics', '/healthz', '/refresh.js']) {
			const answer = await fetch(`${url}${path}`, { headers })
			const given = [...answer.headers.keys()]
			expect(given.filter((name) => name.startsWith('access-control-'))).toEqual([])
			expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
			expect(answer.headers.get('x-frame-options')).toBe('DENY')
			expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
			expect(answer.headers.get('set-cookie')).toBeNull()
		}
	})
})

describe('with a password', () => {
	const known = { authorization: `Basic ${Buffer.from(`me:${password}`).toString('base64')}` }

	test('behavior: no page is kept by a cache or shown without the password, and none sets a cookie', async () => {
		const { url } = await serve({ asks: true })
		for (const path of [...paths, '/style.css', '/refresh.js', '/icon.svg', '/nothing']) {
			for (const headers of [known, {}]) {
				const answer = await fetch(`${url}${path}`, { headers })
				expect(answer.headers.get('cache-control')).toBe('no-store')
				expect(answer.headers.get('set-cookie')).toBeNull()
				if (headers !== known) {
					expect(answer.status).toBe(401)
					expect(await answer.text()).not.toContain(mark)
				}
			}
		}
	})

	test('error: a password in a malformed header is refused', async () => {
		const { url } = await serve({ asks: true })
		const encoded = known.authorization.slice(6)
		for (const authorization of [
			`Bearer ${encoded}`,
			`Basic ${encoded}, Basic ${encoded}`,
			`Basic\t${encoded}`,
			`Basic ${Buffer.from(password).toString('base64')}`,
			`Basic ${'A'.repeat(6_000)}`,
			'Basic',
			'Digest username="me"',
		])
			expect([authorization, await statusOf(url, { headers: { authorization } })]).toEqual([authorization, 401])
	})
})
