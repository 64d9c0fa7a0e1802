import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { WebSocket } from 'ws'
import { type FollowOptions, followHeads } from '../../../src/chain/heads/newHeads.js'
import { PlainError } from '../../../src/errors.js'
import type { Log } from '../../../src/model/ports.js'
import { startTestAnvil } from '../../support/anvil.js'
import { createArrivals } from '../../support/arrivals.js'
import { type HeadServer, notification, startHeadServer, subscription } from '../../support/headServer.js'
import { silent } from '../../support/silent.js'

interface Line {
	readonly level: string
	readonly facts: { readonly endpoint?: string; readonly kind?: string; readonly error?: string }
	readonly message: string
}

interface Following {
	/** How often it was woken so far. */
	woken(): number
	/** Resolves when it was woken so often. */
	wokenTimes(times: number): Promise<unknown>
	readonly lines: readonly Line[]
	/** Resolves with the first line that `matches` likes. */
	line(matches: (line: Line) => boolean): Promise<Line>
	/** What it rested between connections. */
	readonly rests: readonly number[]
	stop(): Promise<void>
}

/** Follows until the test ends; rests take no time unless the test brings a `wait`. */
function follow(urls: string | readonly string[], options: Partial<FollowOptions> = {}): Following {
	const stopping = new AbortController()
	const lines: Line[] = []
	const rests: number[] = []
	let woken = 0
	const { changed, wait } = createArrivals(() => lines.map((line) => JSON.stringify(line)).join('\n'))
	const until = (done: () => boolean) => wait(() => done() || undefined, done)
	const tell = (level: string) => (facts: object, message: string) => {
		lines.push({ level, facts, message })
		changed()
	}
	const log: Log = {
		debug: tell('debug'),
		info: tell('info'),
		warn: tell('warn'),
		error: tell('error'),
		child: () => log,
	}
	const ended = followHeads(
		{
			urls: typeof urls === 'string' ? [urls] : urls,
			onHead() {
				woken += 1
				changed()
			},
			log,
			gapMs: 0,
			random: () => 0.5,
			async wait(ms, signal) {
				signal.throwIfAborted()
				rests.push(ms)
				await new Promise((resolve) => setImmediate(resolve))
				signal.throwIfAborted()
			},
			...options,
		},
		stopping.signal,
	)
	const stop = async () => {
		stopping.abort()
		await ended
	}
	onTestFinished(stop)
	return {
		woken: () => woken,
		wokenTimes: (times) => until(() => woken >= times),
		lines,
		async line(matches) {
			await until(() => lines.some(matches))
			return lines.find(matches) as Line
		},
		rests,
		stop,
	}
}

async function open(options?: Parameters<typeof startHeadServer>[0]): Promise<HeadServer> {
	const server = await startHeadServer(options)
	onTestFinished(() => server.close())
	return server
}

const isWarning = ({ level }: Line) => level === 'warn'

describe('heads', () => {
	test('default: a real node wakes at each head, and once for what came before', async () => {
		const anvil = await startTestAnvil()
		onTestFinished(() => anvil.stop())
		const following = follow(anvil.url.replace('http', 'ws'))
		await following.wokenTimes(1)
		await anvil.mine()
		await following.wokenTimes(2)
		await anvil.mine()
		await following.wokenTimes(3)
		expect(following.lines.filter(isWarning)).toEqual([])
	})

	test('behavior: heads that come together wake once at once and once for the rest', async () => {
		const server = await open()
		const following = follow(`ws://${server.host}`, { gapMs: 300 })
		await following.wokenTimes(1)
		for (let head = 0; head < 100; head += 1) server.head()
		await following.wokenTimes(2)
		for (let head = 0; head < 100; head += 1) server.head()
		await following.wokenTimes(3)
		expect(following.woken()).toBe(3)
	})

	test('behavior: a head that is reported before the answer wakes; one of another subscription does not', async () => {
		const server = await open()
		server.answer = (socket) => socket.send(notification({ subscription, result: null }))
		const following = follow(`ws://${server.host}`)
		await following.wokenTimes(1)
		server.say(JSON.stringify({ jsonrpc: '2.0', id: 1, result: subscription }))
		await following.wokenTimes(2)
		server.say(notification({ subscription: '0xother', result: {} }))
		server.say(JSON.stringify({ jsonrpc: '2.0', method: 'net_gossip', params: [] }))
		server.say(notification({ subscription, result: 'what is told of a head is not read' }))
		await following.wokenTimes(3)
		expect(following.woken()).toBe(3)
	})
})

describe('connections', () => {
	test('default: a cut connection is opened again, and heads missed meanwhile wake the reader', async () => {
		const server = await open()
		const following = follow(`ws://${server.host}`)
		await following.wokenTimes(1)
		server.head()
		await following.wokenTimes(2)
		server.cut()
		await following.wokenTimes(3)
		server.head()
		await following.wokenTimes(4)
		expect(server.subscriptions).toBe(2)
		expect(following.lines.filter(({ level }) => level !== 'debug')).toEqual([])
	})

	test('behavior: rests grow and are spread; a head ends the series', async () => {
		const server = await open()
		server.refuse = (socket) => socket.destroy()
		let random = 0
		const spread = () => {
			random = (random + 0.25) % 1
			return random
		}
		const following = follow(`ws://${server.host}`, { random: spread })
		await server.until(() => server.opened.length > 9)
		server.refuse = null
		await following.wokenTimes(1)
		server.head()
		await following.wokenTimes(2)
		const before = following.rests.length
		server.cut()
		await following.wokenTimes(3)
		expect(following.rests.slice(0, 4)).toEqual([875, 2_000, 4_500, 6_000])
		expect(following.rests.slice(7, 9).map((ms) => ms / 60_000)).toEqual([0.75, 0.875])
		expect(following.rests[before]).toBeLessThan(1_250)
	})

	test('behavior: a second failure in a row is reported, once, and so is the end of the trouble', async () => {
		const server = await open()
		server.refuse = (socket) => socket.destroy()
		const following = follow(`ws://${server.host}`)
		await server.until(() => server.opened.length > 5)
		server.refuse = null
		await following.wokenTimes(1)
		server.head()
		await following.line(({ message }) => message === 'new heads are followed again')
		const told = following.lines.filter(({ level }) => level !== 'debug')
		expect(told.map(({ level, message }) => [level, message])).toEqual([
			['warn', 'new heads cannot be followed; polling continues on its schedule'],
			['info', 'new heads are followed again'],
		])
	})

	test('behavior: the next URL takes over, and the first comes back in its turn', async () => {
		const [first, second] = [await open(), await open()]
		first.refuse = (socket) => socket.destroy()
		const following = follow([`ws://${first.host}/a`, `ws://${second.host}/b`])
		await following.wokenTimes(1)
		expect([first.opened.length, second.opened.length]).toEqual([1, 1])
		first.refuse = null
		second.cut()
		await following.wokenTimes(2)
		expect(first.subscriptions).toBe(1)
	})

	test('behavior: without a head for long it is opened again, and that is no trouble', async () => {
		const server = await open()
		const following = follow(`ws://${server.host}`, { limits: { silenceMs: 80 } })
		await server.until(() => server.subscriptions > 3)
		expect(following.lines.filter(({ level }) => level !== 'debug')).toEqual([])
		expect(following.lines.find(({ facts }) => facts.kind !== undefined)?.facts.error).toBe(
			`${server.host} gave no head for 0.08 s`,
		)
		expect(Math.max(...following.rests)).toBe(1_000)
	})

	test('behavior: a dead connection is known by its silence to a ping; a living one stays', async () => {
		const [dead, living] = [await open({ autoPong: false }), await open()]
		const one = follow(`ws://${dead.host}`, { limits: { pingEveryMs: 40 } })
		// Longer than a busy machine takes for a pong.
		const other = follow(`ws://${living.host}`, { limits: { pingEveryMs: 1_500 } })
		await dead.until(() => dead.subscriptions > 2)
		expect((await one.line(({ facts }) => facts.kind === 'timeout')).facts.error).toContain('answers no ping')
		await living.until(() => living.pings > 2)
		expect(living.subscriptions).toBe(1)
		expect(other.lines).toHaveLength(1)
	})

	test('behavior: an abort ends it at once, whatever it does', async () => {
		const server = await open()
		const subscribed = follow(`ws://${server.host}`)
		await subscribed.wokenTimes(1)
		await subscribed.stop()
		server.refuse = () => {}
		const opening = follow(`ws://${server.host}`)
		await server.until(() => server.opened.length === 2)
		await opening.stop()
		const resting = follow('ws://127.0.0.1:9', {
			wait: (_ms, signal) =>
				new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
		})
		await resting.line(({ facts }) => facts.kind === 'network')
		await resting.stop()
		await expect(
			followHeads({ urls: ['ws://127.0.0.1:9'], onHead() {}, log: silent }, AbortSignal.abort()),
		).resolves.toBeUndefined()
	})

	test('error: a URL that is none of ws is refused without being shown', async () => {
		for (const url of ['http://host/SECRET', 'host/SECRET', 'ws://[SECRET']) {
			const error = await followHeads({ urls: [url], onHead() {}, log: silent }, new AbortController().signal).catch(
				(thrown: unknown) => thrown,
			)
			expect(error).toBeInstanceOf(PlainError)
			expect((error as PlainError).message).not.toContain('SECRET')
		}
	})
})

const http = (status: string) => (socket: Duplex) => socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`)
const says = (text: string | Buffer) => (server: HeadServer) => {
	server.answer = (socket) => socket.send(text)
}
const refuses = (how: (socket: Duplex) => void) => (server: HeadServer) => {
	server.refuse = how
}

const wrong: readonly (readonly [what: string, how: (server: HeadServer) => void, kind: string, words: string])[] = [
	['HTTP 401', refuses(http('401 Unauthorized')), 'auth', 'does not open a WebSocket (HTTP 401)'],
	['HTTP 429', refuses(http('429 Too Many Requests')), 'rate', '(HTTP 429)'],
	['HTTP 404', refuses(http('404 Not Found')), 'unsupported', '(HTTP 404)'],
	['HTTP 302', refuses(http('302 Found\r\nlocation: /elsewhere')), 'unsupported', '(HTTP 302)'],
	['HTTP 503', refuses(http('503 Unavailable')), 'server', '(HTTP 503)'],
	['no HTTP at all', refuses((socket) => socket.end('SSH-2.0-hello\r\n')), 'malformed', 'is not HTTP'],
	[
		'interim answers without end',
		refuses((socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(22))),
		'malformed',
		'is not HTTP (HPE_INTERIM)',
	],
	['a hang at the handshake', refuses(() => {}), 'timeout', 'did not begin to tell of new heads within 0.1 s'],
	['a hang at the subscription', (server) => (server.answer = () => {}), 'timeout', 'did not begin'],
	['a web page', says('<!doctype html>'), 'malformed', 'a web page'],
	['half an answer', says('{"jsonrpc":"2.0","id":1,'), 'malformed', 'does not end'],
	['an id of another', says('{"jsonrpc":"2.0","id":7,"result":"0x1"}'), 'malformed', 'the id of another request'],
	['no id of a subscription', says('{"jsonrpc":"2.0","id":1,"result":{}}'), 'malformed', 'is no id'],
	['null', says('{"jsonrpc":"2.0","id":1,"result":null}'), 'malformed', 'is no id'],
	[
		'notifications unknown',
		says('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"notifications not\\u001b supported"}}'),
		'unsupported',
		'refused eth_subscribe: "notifications not supported" (code -32601)',
	],
	['a message of megabytes', says(Buffer.alloc(3_000_000, '[')), 'network', 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'],
	['broken frames', (server) => (server.answer = (socket) => rawOf(socket).write('no frame')), 'network', 'WS_ERR_'],
	[
		'a close',
		(server) => (server.answer = (socket) => socket.close(1013)),
		'network',
		'closed the WebSocket (code 1013)',
	],
	[
		'junk after the subscription',
		(server) => {
			server.answer = (socket, { id }) => {
				socket.send(JSON.stringify({ id, result: subscription }))
				socket.send('junk')
			}
		},
		'malformed',
		'sends what is not JSON-RPC',
	],
	[
		'a lost subscription',
		(server) => {
			server.answer = (socket, { id }) => {
				socket.send(JSON.stringify({ id, result: subscription }))
				socket.send(notification({ subscription, error: { code: -1, message: 'gone' } }))
			}
		},
		'server',
		'ended the subscription',
	],
]

/** The socket under a WebSocket. */
function rawOf(socket: object): Duplex {
	return (socket as { readonly _socket: Duplex })._socket
}

describe('wrong answers', () => {
	test.each(wrong)('error: %s', async (_what, how, kind, words) => {
		const server = await open()
		const good = server.answer
		how(server)
		const answerMs = kind === 'timeout' ? 100 : 20_000
		const following = follow(`ws://${server.host}`, { limits: { answerMs } })
		const { facts } = await following.line(isWarning)
		expect(facts.kind).toBe(kind)
		expect(facts.endpoint).toBe(server.host)
		expect(facts.error).toContain(`${server.host} `)
		expect(facts.error).toContain(words)
		server.answer = good
		server.refuse = null
		await following.line(({ message }) => message === 'new heads are followed')
		const before = following.woken()
		await server.until(() => {
			server.head()
			return true
		})
		await following.wokenTimes(before + 1)
	})

	test('error: no one is there', async () => {
		const closed = createServer().listen(0, '127.0.0.1')
		await once(closed, 'listening')
		const { port } = closed.address() as { port: number }
		await new Promise((resolve) => closed.close(resolve))
		const following = follow(`ws://127.0.0.1:${port}`)
		const { facts } = await following.line(isWarning)
		expect(facts.error).toBe(`127.0.0.1:${port} does not tell of new heads: the connection was refused (ECONNREFUSED)`)
	})

	test('error: keys in path, query and login are sent, and never sent, even when the node repeats them', async () => {
		const server = await open()
		const canaries = ['CANARYPATHq7Xz9K2vW', 'CANARYQUERY', 'CANARYUSERq7Xz9K2vW', 'CANARYPASSWORD']
		server.answer = (socket, { id }) => {
			const opened = server.opened[0]
			const said = `no plan for ${opened?.url} (${opened?.headers.authorization}), ${canaries.join(' ')}`
			socket.send(JSON.stringify({ id, error: { code: -32000, message: said } }))
		}
		const url = `ws://CANARYUSERq7Xz9K2vW:CANARYPASSWORD@${server.host}/v2/CANARYPATHq7Xz9K2vW?key=CANARYQUERY`
		const following = follow([url])
		await following.line(isWarning)
		server.refuse = http('403 CANARYPATHq7Xz9K2vW')
		await following.line(({ facts }) => facts.kind === 'auth')
		const basic = Buffer.from('CANARYUSERq7Xz9K2vW:CANARYPASSWORD').toString('base64')
		expect(server.opened[0]?.url).toBe('/v2/CANARYPATHq7Xz9K2vW?key=CANARYQUERY')
		expect(server.opened[0]?.headers.authorization).toBe(`Basic ${basic}`)
		const told = JSON.stringify(following.lines)
		expect(told).toContain(server.host)
		for (const canary of [...canaries, basic]) expect(told).not.toContain(canary)
	})
})

describe('a node that floods', () => {
	const head = notification({ subscription, result: { number: '0x10' } })
	const times = (count: number, send: () => void) => {
		for (let sent = 0; sent < count; sent++) send()
	}

	test.each<[string, (socket: WebSocket) => void, RegExp]>([
		['heads', (socket) => times(501, () => socket.send(head)), /sent more than 500 messages in 10 s/],
		['others', (socket) => times(501, () => socket.send('{"jsonrpc":"2.0"}')), /sent more than 500 messages in 10 s/],
		[
			'long ones',
			(socket) => times(17, () => socket.send(`{"x":"${'x'.repeat(1_000_000)}"}`)),
			/16000000 bytes in 10 s/,
		],
		// ws ends it as well, where 60 pongs of its own cannot be sent at once.
		['pings', (socket) => times(501, () => socket.ping()), /sent more than 500 messages in 10 s|code 1006/],
	])('error: %s: the connection is closed, and each rest is longer', async (_name, flood, words) => {
		const server = await startHeadServer()
		onTestFinished(() => server.close())
		server.answer = (socket, { id }) => {
			socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: subscription }))
			flood(socket)
		}
		const following = follow(`ws://${server.host}`)
		await server.until(() => server.opened.length >= 6)
		expect(following.rests.slice(0, 5)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000])
		const warned = following.lines.filter(({ level }) => level === 'warn')
		expect(warned.map(({ facts }) => facts.error).join()).toMatch(words)
		expect(following.lines.filter(({ level }) => level === 'info')).toEqual([])
	})

	test('behavior: the heads of a fast chain are no flood', async () => {
		const server = await startHeadServer()
		onTestFinished(() => server.close())
		server.answer = (socket, { id }) => {
			socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: subscription }))
			times(400, () => socket.send(head))
			socket.close()
		}
		const { facts } = await follow(`ws://${server.host}`).line(({ message }) => /has ended/.test(message))
		expect(facts.error).toMatch(/closed the WebSocket/)
	})
})
