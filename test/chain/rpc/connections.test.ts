// How connections to a node fail: each as what it is, and none waits for ever.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { makeCertificate } from '../../notify/email/certificate.js'

const never = new AbortController().signal
const closers: (() => unknown)[] = []
afterEach(async () => {
	while (closers.length > 0) await closers.pop()?.()
})

async function portOf(server: Server): Promise<number> {
	closers.push(() => server.close())
	await once(server.listen(0, '127.0.0.1'), 'listening')
	return (server.address() as AddressInfo).port
}

/** What a caller gets of a node at that URL, asked once. A slow machine has the time to connect, too. */
async function failureAt(url: string, connectTimeoutMs = 60_000): Promise<{ kind: string; message: string }> {
	const rpc = createRpc({ url, timeoutMs: 60_000, connectTimeoutMs })
	closers.push(rpc.close)
	return await rpc.once('test_echo', [1], never).then(
		() => expect.fail('it answered'),
		(error) => error,
	)
}

/** Answers whatever comes with this text, and leaves the connection open. */
const saying = (text: string) =>
	createServer((socket) => {
		socket.on('error', () => {}).once('data', () => socket.write(text))
		closers.push(() => socket.destroy())
	})

test('error: a change of protocol that no one asked for is a connection that was cut', async () => {
	const port = await portOf(saying('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'))
	expect(await failureAt(`http://127.0.0.1:${port}`)).toMatchObject({ message: expect.stringContaining('was cut') })
})

test('error: answers before the answer, without end', async () => {
	const server = createServer((socket) => {
		const goOn = () => {
			while (socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000))) {}
		}
		socket
			.on('error', () => {})
			.on('drain', goOn)
			.once('data', goOn)
		closers.push(() => socket.destroy())
	})
	expect(await failureAt(`http://127.0.0.1:${await portOf(server)}`)).toMatchObject({ kind: 'malformed' })
})

test('behavior: a few of them are passed over', async () => {
	const answer = '{"jsonrpc":"2.0","id":1,"result":7}'
	const early = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(4)
	const port = await portOf(saying(`${early}HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`))
	const rpc = createRpc({ url: `http://127.0.0.1:${port}` })
	closers.push(rpc.close)
	expect(await rpc.once('test_echo', [1], never)).toBe(7)
})

test('error: a large answer that is no JSON, packed', async () => {
	const body = gzipSync(`{"jsonrpc":"2.0","id":1,"result":[${'0,'.repeat(3_000_000)}?${' '.repeat(3_000_000)}`)
	const server = createHttpServer((_, response) => response.setHeader('content-encoding', 'gzip').end(body))
	expect(await failureAt(`http://127.0.0.1:${await portOf(server)}`)).toMatchObject({
		kind: 'malformed',
		message: expect.stringContaining('not the JSON that it should be'),
	})
})

test('error: no HTTP', async () => {
	const port = await portOf(saying('SSH-2.0-x\r\n'))
	expect(await failureAt(`http://127.0.0.1:${port}`)).toMatchObject({ kind: 'malformed' })
})

test('error: TLS to a port that does not speak it', async () => {
	const port = await portOf(createHttpServer())
	expect(await failureAt(`https://127.0.0.1:${port}`)).toMatchObject({
		message: expect.stringContaining('does not speak TLS on this port'),
	})
})

test('error: a TLS handshake that no one answers has the time of a connection, not of a request', async () => {
	const port = await portOf(
		createServer((socket) => {
			socket.on('error', () => {})
			closers.push(() => socket.destroy())
		}),
	)
	expect(await failureAt(`https://127.0.0.1:${port}`, 300)).toMatchObject({
		message: expect.stringContaining('did not answer in time (ETIMEDOUT)'),
	})
})

test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
	'error: a certificate that no one has signed is reported as such, and nothing is sent',
	async () => {
		let asked = 0
		const port = await portOf(createTlsServer(makeCertificate('localhost'), () => asked++))
		expect(await failureAt(`https://localhost:${port}`)).toMatchObject({
			message: expect.stringContaining('its certificate is self-signed'),
		})
		expect(asked).toBe(0)
	},
)
