/** What stands between us and the mail server: TLS, logins, connections. */
import { spawnSync } from 'node:child_process'
import { connect, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/model/delivery.js'
import { createEmailReceiver, type EmailSettings } from '../../../src/notify/email/email.js'
import { type MailServer, type MailServerOptions, startMailServer } from '../../support/mailServer.js'
import { mailDeliveryOf, never } from '../samples.js'
import { makeCertificate, makeIssuedCertificate } from './certificate.js'

const login = { user: 'watch@example.org', pass: 'p:ä/CANARY' }
const user = 'watch%40example.org:p%3A%C3%A4%2FCANARY'
const withOpenssl = describe.skipIf(spawnSync('openssl', ['version']).status !== 0)

const open: { close(): unknown }[] = []
afterEach(async () => {
	for (const one of open.splice(0)) await one.close()
})

async function serverOf(options: MailServerOptions): Promise<MailServer> {
	const server = await startMailServer(options)
	open.push(server)
	return server
}

async function send(settings: Pick<EmailSettings, 'smtp'> & Partial<EmailSettings>): Promise<Outcome> {
	const receiver = createEmailReceiver(
		{ type: 'email', name: 'mail', from: 'a@example.org', to: ['b@example.org'], ...settings },
		{ timeLimitMs: 60_000 },
	)
	try {
		return await receiver.deliver(mailDeliveryOf(1, 'b@example.org'), never)
	} finally {
		await receiver.close()
	}
}

describe('logging in', () => {
	test('default: user and password of the URL are decoded', async () => {
		const server = await serverOf({ login, loginInClear: true })
		expect(await send({ smtp: `smtp://${user}@${server.host}` })).toMatchObject({ result: 'delivered' })
		expect(server.logins).toEqual([login])
	})

	test('error: a server that offers no login is not sent the mail without one', async () => {
		const server = await serverOf({})
		const outcome = await send({ smtp: `smtp://${user}@${server.host}` })
		expect(outcome.result).toBe('parked')
		expect(JSON.stringify(outcome)).not.toContain('CANARY')
		expect(server.mails).toEqual([])
	})
})

withOpenssl('TLS', () => {
	test('default: STARTTLS, with the certificate verified', async () => {
		const tls = makeCertificate('localhost')
		const server = await serverOf({ tls, login })
		const smtp = `smtp://${user}@localhost:${server.port}`
		expect(await send({ smtp, ca: tls.cert, requireTls: true })).toMatchObject({ result: 'delivered' })
		expect(server.mails[0]?.secure).toBe(true)
	})

	test('behavior: smtps speaks TLS from the first byte', async () => {
		const tls = { ...makeCertificate('localhost'), implicit: true }
		const server = await serverOf({ tls, login })
		expect(await send({ smtp: `smtps://${user}@localhost:${server.port}`, ca: tls.cert })).toMatchObject({
			result: 'delivered',
		})
		expect(server.mails[0]?.secure).toBe(true)
	})

	test('behavior: a server on loopback may show a certificate made for no one', async () => {
		const server = await serverOf({ tls: makeCertificate('elsewhere'), login })
		expect(await send({ smtp: `smtp://${user}@localhost:${server.port}` })).toMatchObject({ result: 'delivered' })
		expect(server.mails[0]?.secure).toBe(true)
	})

	test('error: a certificate that no one has signed: parked, and neither login nor mail was sent', async () => {
		const server = await serverOf({ tls: makeCertificate('localhost'), login, loginInClear: true })
		for (const smtp of [`smtp://${user}@localhost:${server.port}`]) {
			const outcome = await send({ smtp, requireTls: true })
			expect(outcome).toMatchObject({
				result: 'parked',
				reason: expect.stringContaining('its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)'),
			})
		}
		expect([server.logins, server.mails]).toEqual([[], []])
	})

	test('error: a certificate whose issuer is not sent along: parked', async () => {
		const server = await serverOf({ tls: makeIssuedCertificate('localhost'), login })
		const outcome = await send({ smtp: `smtp://${user}@localhost:${server.port}`, requireTls: true })
		expect(outcome).toMatchObject({
			result: 'parked',
			reason: expect.stringContaining('is of an unknown authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE)'),
		})
		expect([server.logins, server.mails]).toEqual([[], []])
	})

	test('error: a certificate of another name: parked', async () => {
		const tls = makeCertificate('elsewhere')
		const server = await serverOf({ tls, login })
		const outcome = await send({ smtp: `smtp://${user}@localhost:${server.port}`, ca: tls.cert, requireTls: true })
		expect(outcome).toMatchObject({
			result: 'parked',
			reason: expect.stringContaining('its certificate is for another name (ERR_TLS_'),
		})
		expect(server.logins).toEqual([])
	})

	test('error: STARTTLS taken out on the way: parked, and no AUTH is ever seen', async () => {
		const server = await serverOf({ tls: makeCertificate('localhost'), login, loginInClear: true })
		const seen: string[] = []
		const stripper = await startStripper(server.port, seen)
		const outcome = await send({ smtp: `smtp://${user}@localhost:${stripper.port}`, requireTls: true })
		expect(outcome).toMatchObject({ result: 'parked', reason: expect.stringContaining('no secure connection') })
		expect(seen.join('')).toMatch(/EHLO/)
		expect(seen.join('')).not.toMatch(/AUTH|MAIL FROM/)
		expect([server.logins, server.mails]).toEqual([[], []])
	})
})

describe('connections', () => {
	test('error: a link-local server is never contacted', async () => {
		expect(await send({ smtp: 'smtp://169.254.10.10:25' })).toMatchObject({
			result: 'retry',
			reason: expect.stringContaining('link-local'),
		})
	})

	test('error: a server that accepts and says nothing is given up within the limit', async () => {
		const silent = await listen(createServer(() => undefined))
		const receiver = createEmailReceiver(
			{
				type: 'email',
				name: 'mail',
				smtp: `smtp://127.0.0.1:${silent.port}`,
				from: 'a@example.org',
				to: ['b@example.org'],
			},
			{ timeLimitMs: 300 },
		)
		const outcome = await receiver.deliver(mailDeliveryOf(1, 'b@example.org'), never)
		await receiver.close()
		expect(outcome).toMatchObject({ result: 'retry', reason: expect.stringContaining('within 0.3 s') })
	})

	test('error: a reply of 200 kB that repeats the beginning of the password: not read, and tried again', async () => {
		const reply = `554 ${'p-CANARYPASSWORD'.slice(0, 12).repeat(17_000)}\r\n`
		const { port } = await listen(createServer((socket) => socket.on('error', () => undefined).end(reply)))
		const outcome = await send({ smtp: `smtp://watch:p-CANARYPASSWORD@127.0.0.1:${port}` })
		const reason = `127.0.0.1:${port}: its answer is not SMTP, or too long`
		expect(outcome).toEqual({ result: 'retry', code: 'failed', reason })
	})

	test('error: a login that is stopped before the server greets ends at once, and hangs up', async () => {
		const stop = new AbortController()
		const slow = createServer(async (client) => {
			client.on('data', () => client.write('250 yes\r\n')).on('error', () => undefined)
			stop.abort()
			for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
			client.write('220 ready\r\n')
		})
		const hungUp = new Promise((resolve) => slow.once('connection', (client) => client.once('close', resolve)))
		const smtp = `smtp://127.0.0.1:${(await listen(slow)).port}`
		const settings = { type: 'email', name: 'mail', smtp, from: 'a@example.org', to: ['b@example.org'] } as const
		const receiver = createEmailReceiver(settings)
		expect(await receiver.login(stop.signal)).toMatchObject({ result: 'retry', code: 'failed' })
		await hungUp
		await receiver.close()
	})
})

/** A proxy that hides STARTTLS, as an attacker on the way would. */
function startStripper(port: number, seen: string[]): Promise<{ port: number }> {
	const proxy = createServer((client) => {
		const upstream = connect(port, '127.0.0.1')
		client.on('data', (chunk) => {
			seen.push(chunk.toString('latin1'))
			upstream.write(chunk.toString('latin1').replace('STARTTLS', 'XXXXXXXX'), 'latin1')
		})
		upstream.on('data', (chunk) => client.write(chunk.toString('latin1').replace('STARTTLS', 'XXXXXXXX'), 'latin1'))
		for (const [one, other] of [
			[client, upstream],
			[upstream, client],
		] as const) {
			one.on('error', () => other.destroy())
			one.on('close', () => other.destroy())
		}
	})
	return listen(proxy)
}

async function listen(server: Server): Promise<{ port: number }> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	open.push({ close: () => server.close() })
	const address = server.address()
	return { port: typeof address === 'object' && address !== null ? address.port : 0 }
}
