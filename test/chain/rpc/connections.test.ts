// How connections to a node fail: each as what it is, and none waits for ever.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
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

/** What a caller is told of a node at that URL, asked once. */
async function failureAt(url: string): Promise<{ kind: string; message: string }> {
	const rpc = createRpc({ url, timeoutMs: 60_000, connectTimeoutMs: 300 })
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

test('error: a change of protocol that nobody asked for is a connection that was cut', async () => {
	const port = await portOf(saying('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'))
	expect(await failureAt(`http://127.0.0.1:${port}`)).toMatchObject({ message: expect.stringContaining('was cut') })
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

test('error: a TLS handshake that nobody answers has the time of a connection, not of a request', async () => {
	const port = await portOf(
		createServer((socket) => {
			socket.on('error', () => {})
			closers.push(() => socket.destroy())
		}),
	)
	expect(await failureAt(`https://127.0.0.1:${port}`)).toMatchObject({
		message: expect.stringContaining('did not answer in time (ETIMEDOUT)'),
	})
})

test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
	'error: a certificate that nobody has signed is told as such, and nothing is sent',
	async () => {
		let asked = 0
		const port = await portOf(createTlsServer(makeCertificate('localhost'), () => asked++))
		expect(await failureAt(`https://localhost:${port}`)).toMatchObject({
			message: expect.stringContaining('its certificate is signed by itself'),
		})
		expect(asked).toBe(0)
	},
)
