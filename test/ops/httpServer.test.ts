import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { PlainError } from '../../src/errors.js'
import type { Log } from '../../src/model/ports.js'
import type { Health } from '../../src/model/trouble.js'
import { type HttpOptions, type HttpServer, startHttp } from '../../src/ops/httpServer.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { statusOf } from '../support/statusOf.js'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
	for (const close of closers.splice(0)) await close()
})

const errors: object[] = []
const log: Log = { debug() {}, info() {}, warn() {}, error: (facts) => void errors.push(facts), child: () => log }
const scrubber = createScrubber()
scrubber.add(['k3y-of-an-endpoint'])

const network = { network: 'ethereum', checkpoint: 103, head: 110, lastPollAt: '2026-11-20T10:00:00.000Z' }
const well: Health = { ok: true, reason: null, networks: [{ ...network, ok: true, reason: null }] }
const why = 'ethereum: no endpoint answers since 10:00 (https://x/k3y-of-an-endpoint)'
const stalled: Health = { ok: false, reason: why, networks: [{ ...network, ok: false, reason: why }] }

async function serve(options: Partial<HttpOptions> = {}): Promise<HttpServer & { url: string }> {
	const server = await startHttp({
		host: '127.0.0.1',
		port: 0,
		version: '1.2.3',
		metrics: { text: async () => 'tracewatch_up 1\n', contentType: 'text/plain; version=0.0.4; charset=utf-8' },
		health: () => well,
		pages: async () => null,
		scrubber,
		log,
		...options,
	})
	closers.push(() => server.close())
	return { ...server, url: `http://127.0.0.1:${server.port}` }
}

describe('startHttp', () => {
	test('default: /metrics', async () => {
		const { url } = await serve()
		const response = await fetch(`${url}/metrics?x=1`)
		expect(response.status).toBe(200)
		expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
		expect(await response.text()).toBe('tracewatch_up 1\n')
	})

	test('default: /healthz is 200 while nothing is wrong', async () => {
		const { url } = await serve()
		const response = await fetch(`${url}/healthz`)
		expect(response.status).toBe(200)
		expect(await response.json()).toEqual({ status: 'ok', reason: null, networks: well.networks })
	})

	test('default: / says the same in words where there is no page', async () => {
		const { url } = await serve()
		expect(await (await fetch(`${url}/`)).text()).toBe('tracewatch 1.2.3: watching normally\n')
		const facts = await (await fetch(`${url}/?format=json`)).json()
		expect(facts).toEqual({ version: '1.2.3', ...well })
	})

	test('behavior: /healthz is 503 with the reason while a network stalls', async () => {
		const { url } = await serve({ health: async () => stalled })
		const response = await fetch(`${url}/healthz`)
		expect(response.status).toBe(503)
		expect(await response.json()).toMatchObject({ status: 'stalled', reason: expect.stringContaining('no endpoint') })
		expect(await (await fetch(`${url}/`)).text()).toContain('no endpoint answers')
	})

	test('behavior: no page holds a secret', async () => {
		const { url } = await serve({
			health: () => stalled,
			metrics: { text: async () => 'x{endpoint="k3y-of-an-endpoint"} 1', contentType: 'text/plain' },
		})
		for (const path of ['/', '/healthz', '/metrics', '/k3y-of-an-endpoint']) {
			const body = await (await fetch(url + path)).text()
			expect(body).not.toContain('k3y-of-an-endpoint')
			expect(body).not.toBe('')
		}
	})

	test('behavior: HEAD has no body, other methods and paths are refused', async () => {
		const { url } = await serve()
		const head = await fetch(`${url}/healthz`, { method: 'HEAD' })
		expect([head.status, await head.text()]).toEqual([200, ''])
		expect(await statusOf(`${url}/healthz`, { method: 'POST', body: 'x' })).toBe(405)
		expect(await statusOf(`${url}/secrets`)).toBe(404)
		expect(await (await fetch(`${url}/secrets`)).text()).toContain('/watches, /watch, /deliveries')
		expect(await statusOf(`${url}//metrics`)).toBe(404)
	})

	test('behavior: closing does not wait for a connection that says nothing', async () => {
		const server = await serve()
		const socket = connect(server.port, '127.0.0.1')
		await new Promise((resolve) => socket.once('connect', resolve))
		const closed = new Promise((resolve) => socket.once('close', resolve))
		await server.close()
		await closed
	})

	test('error: a page that cannot be made is 500, reported in the log and not on the page', async () => {
		const { url } = await serve({
			health: () => {
				throw new Error('inner words')
			},
		})
		const response = await fetch(`${url}/healthz`)
		expect(response.status).toBe(500)
		expect(await response.text()).not.toContain('inner words')
		expect(errors.at(-1)).toMatchObject({ err: expect.objectContaining({ message: 'inner words' }) })
	})

	test('error: a port in use is reported in words', async () => {
		const other = createServer()
		await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
		closers.push(() => new Promise((resolve) => other.close(() => resolve())))
		const { port } = other.address() as AddressInfo
		const failure = await serve({ port }).catch((error) => error)
		expect(failure).toBeInstanceOf(PlainError)
		expect(failure.message).toBe(
			`127.0.0.1:${port} is in use by another program: choose another port at \`http:\`, or stop that program`,
		)
	})

	test('error: an address of another machine is reported in words', async () => {
		const failure = await serve({ host: '192.0.2.1' }).catch((error) => error)
		expect(failure).toBeInstanceOf(PlainError)
		expect(failure.message).toContain('192.0.2.1 is no address of this machine')
	})
})

describe('the host that a client names', () => {
	/** The status that a GET of / with this Host gets. */
	const ask = (port: number, host: string) =>
		new Promise<number>((resolve, reject) => {
			request({ host: '127.0.0.1', port, path: '/', headers: { host } }, ({ statusCode = 0 }) => resolve(statusCode))
				.on('error', reject)
				.end()
		})

	test('error: a name of another party, who points it here, is not answered', async () => {
		const { port } = await serve()
		for (const host of [
			'evil.example',
			`evil.example:${port}`,
			'localhost.evil.example',
			'10.0.0.1',
			'watcher.local',
			'127.0.0.1.evil.example',
			'a b',
		])
			expect([host, await ask(port, host)]).toEqual([host, 421])
		for (const host of ['127.0.0.1', `127.0.0.1:${port}`, 'LOCALHOST', `[::1]:${port}`, '127.0.0.2', 'localhost.'])
			expect([host, await ask(port, host)]).toEqual([host, 200])
	})

	test('error: by whatever method, such a name is reported no more than that', async () => {
		const { port } = await serve()
		const ask = (method: string, host: string) =>
			new Promise<number>((resolve, reject) => {
				request({ host: '127.0.0.1', port, path: '/', method, headers: { host } }, ({ statusCode = 0 }) =>
					resolve(statusCode),
				)
					.on('error', reject)
					.end()
			})
		for (const method of ['HEAD', 'POST', 'OPTIONS', 'DELETE'])
			expect([method, await ask(method, 'evil.example')]).toEqual([method, 421])
		expect(await ask('POST', '127.0.0.1')).toBe(405)
	})

	test('behavior: on every address, names that only a local network gives are answered too', async () => {
		const { port } = await serve({ host: '0.0.0.0' })
		for (const host of ['evil.example', 'svc.evil.example', 'local.evil.example:80'])
			expect([host, await ask(port, host)]).toEqual([host, 421])
		for (const host of [
			'10.0.0.1:9464',
			'[fd00::1]',
			'watcher',
			'watcher.local',
			'tracewatch.default.svc:9464',
			hostname(),
		])
			expect([host, await ask(port, host)]).toEqual([host, 200])
	})

	test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('error: %s is refused', async (method) => {
		const { url } = await serve()
		expect(await statusOf(url, { method })).toBe(405)
	})

	test('behavior: 1,500 requests sent at once get at most one page, and the connection ends', async () => {
		let made = 0
		const { url, port } = await serve({
			pages: async () => ({ status: 200, type: 'text/plain', body: String(++made) }),
		})
		const socket = connect(port, '127.0.0.1').on('error', () => undefined)
		const closed = new Promise((resolve) => socket.once('close', resolve))
		socket.resume().write('GET /alerts HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(1_500))
		await closed
		expect(await (await fetch(`${url}/metrics`)).text()).toBe('tracewatch_up 1\n')
		expect(made).toBeLessThanOrEqual(1)
	})

	test('behavior: requests one after another on one connection are all answered', async () => {
		const { port } = await serve()
		const agent = new Agent({ keepAlive: true, maxSockets: 1 })
		onTestFinished(() => agent.destroy())
		const sockets = new Set<unknown>()
		for (let times = 0; times < 20; times++) {
			const sent = request({ host: '127.0.0.1', port, path: '/metrics', agent }).end()
			const [answer] = await once(sent, 'response')
			expect(await text(answer)).toBe('tracewatch_up 1\n')
			sockets.add(sent.socket)
		}
		expect(sockets.size).toBe(1)
	})

	test('behavior: requests that arrive together are answered in different turns of the event loop', async () => {
		let turn = 0
		const madeIn: number[] = []
		const { port } = await serve({
			pages: async () => ({ status: 200, type: 'text/plain', body: String(madeIn.push(turn)) }),
		})
		const sockets = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'))
		const ask = async () => {
			const answers = sockets.map((socket) => once(socket, 'data'))
			for (const socket of sockets) socket.write('GET /alerts HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
			await Promise.all(answers)
		}
		// The server accepts one connection a turn.
		await ask()
		madeIn.length = 0
		let isOver = false
		const count = () => {
			turn++
			if (!isOver) setImmediate(count)
		}
		count()
		await ask()
		isOver = true
		for (const socket of sockets) socket.destroy()
		expect(new Set(madeIn).size).toBe(50)
	})

	test('behavior: 250 slow connections do not keep a health check out', async () => {
		const { port, url } = await serve()
		const slow = Array.from({ length: 250 }, (_, at) => {
			const socket = connect(port, '127.0.0.1', () =>
				socket.write(at % 2 === 0 ? 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n' : ''),
			)
			return socket.on('error', () => undefined)
		})
		try {
			for (let times = 0; times < 5; times++) {
				expect(await statusOf(`${url}/healthz`, { headers: { connection: 'close' } })).toBe(200)
			}
			// No more than so many are kept at all.
			await expect
				.poll(() => slow.filter((socket) => socket.destroyed || socket.closed).length)
				.toBeGreaterThanOrEqual(150)
		} finally {
			for (const socket of slow) socket.destroy()
		}
	})

	test('behavior: a client that never ends its headers is cut off before a server of Node would do so', async () => {
		const plain = createServer().listen(0, '127.0.0.1')
		onTestFinished(() => {
			plain.closeAllConnections()
			plain.close()
		})
		await once(plain, 'listening')
		const { port } = await serve()
		const cut = async (name: string, at: number) => {
			const socket = connect(at, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n'))
			await new Promise((resolve) => socket.on('error', resolve).resume().once('close', resolve))
			return name
		}
		const theirs = cut("Node's own", (plain.address() as AddressInfo).port)
		expect(await Promise.race([cut('ours', port), theirs])).toBe('ours')
	})
})
