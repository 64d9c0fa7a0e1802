import { spawnSync } from 'node:child_process'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/model/delivery.js'
import {
	createWebhookReceiver,
	type WebhookOptions,
	type WebhookSettings,
} from '../../../src/notify/webhook/webhook.js'
import { drip, type HookServer, startHookServer } from '../../support/hookServer.js'
import { START_MS, standingClock } from '../../support/standingClock.js'
import { makeCertificate } from '../email/certificate.js'
import { alertData, deliveryOf, idOf, messageOf, never } from '../samples.js'

const secret = `whsec_${Buffer.from('a secret of more than 24 bytes').toString('base64')}`
const older = `whsec_${Buffer.from('the secret that was used before').toString('base64')}`

let hook: HookServer
beforeEach(async () => {
	hook = await startHookServer()
})
afterEach(() => hook.close())

async function send(
	settings: Partial<WebhookSettings> = {},
	options: Partial<WebhookOptions> = {},
	delivery = deliveryOf(1),
	signal = never,
): Promise<Outcome> {
	const receiver = createWebhookReceiver(
		{ type: 'webhook', name: 'hook', url: `${hook.origin}/alerts`, secret, ...settings },
		{ version: '1.2.3', clock: standingClock, ...options },
	)
	try {
		return await receiver.deliver(delivery, signal)
	} finally {
		await receiver.close()
	}
}

describe('a webhook', () => {
	test('default: posts the envelope, and the reference library accepts its signature', async () => {
		const message = messageOf(alertData({ watch: { ...alertData().watch, label: 'Tresor “Ä” 🐋\u2028' } }))
		expect(await send({}, {}, deliveryOf(1, { message }))).toMatchObject({ result: 'delivered' })
		const [hit] = hook.hits
		if (hit === undefined) throw new Error('no request came')
		expect(hit.method).toBe('POST')
		expect(hit.url).toBe('/alerts')
		expect(hit.headers['content-type']).toBe('application/json')
		expect(hit.headers['user-agent']).toBe('tracewatch/1.2.3')
		expect(hit.headers['webhook-id']).toBe(idOf(1))
		const verified = new Webhook(secret).verify(hit.body, hit.headers as Record<string, string>)
		expect(verified).toEqual({ type: 'alert.transfer', timestamp: '2026-11-20T10:00:00.000Z', data: message.data })
		expect((verified as { data: { deliveryId: string } }).data.deliveryId).toBe(idOf(1))
	})

	test('behavior: a body with one byte changed, or five minutes old, fails the check of the signature', async () => {
		await send()
		await send({}, { clock: () => START_MS - 301_000 })
		const [fresh, old] = hook.hits
		if (fresh === undefined || old === undefined) throw new Error('no request came')
		const forged = Buffer.from(fresh.body)
		forged[forged.length - 3] = (forged[forged.length - 3] ?? 0) ^ 1
		const verifier = new Webhook(secret)
		expect(() => verifier.verify(forged, fresh.headers as Record<string, string>)).toThrow()
		expect(() => verifier.verify(old.body, old.headers as Record<string, string>)).toThrow(/old/)
	})

	test('behavior: each attempt is signed anew, under the same id and with the same body', async () => {
		let nowMs = START_MS - 60_000
		await send({}, { clock: () => nowMs })
		nowMs += 59_000
		await send({}, { clock: () => nowMs })
		const [first, second] = hook.hits
		expect(first?.id).toBe(second?.id)
		expect(first?.body).toEqual(second?.body)
		expect(Number(second?.headers['webhook-timestamp']) - Number(first?.headers['webhook-timestamp'])).toBe(59)
		expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature'])
	})

	test('behavior: while a secret is replaced, receivers with either accept it', async () => {
		await send({ secret: `${secret} ${older}` })
		const [hit] = hook.hits
		for (const one of [secret, older]) {
			expect(() => new Webhook(one).verify(hit?.body ?? '', hit?.headers as Record<string, string>)).not.toThrow()
		}
	})

	test('behavior: without a secret it carries id and time, and no signature', async () => {
		await send({ secret: null })
		expect(hook.hits[0]?.id).toBe(idOf(1))
		expect(hook.hits[0]?.headers['webhook-timestamp']).toMatch(/^\d{10}$/)
		expect(hook.hits[0]?.headers).not.toHaveProperty('webhook-signature')
	})

	test('behavior: user and password of the URL become Basic authorization; headers are sent along', async () => {
		const url = `${hook.origin.replace('//', '//us%40er:p%3Aw@')}/alerts`
		await send({ url, headers: { 'X-Token': 'abc' } })
		const [hit] = hook.hits
		expect(hit?.headers.authorization).toBe(`Basic ${Buffer.from('us@er:p:w').toString('base64')}`)
		expect(hit?.headers['x-token']).toBe('abc')
	})

	test('behavior: a redirect is not followed, and is no success', async () => {
		hook.answer = ({ url }) => (url === '/alerts' ? { status: 302, headers: { location: '/ok' } } : 200)
		expect((await send()).result).toBe('parked')
		expect(hook.hits.map(({ url }) => url)).toEqual(['/alerts'])
	})

	test('behavior: headers that drip in end with the time limit, whatever each of them takes', async () => {
		hook.answer = () => (response) => {
			response.socket?.write('HTTP/1.1 200 OK\r\n')
			const timer = setInterval(() => response.socket?.write('X-More: yes\r\n'), 20)
			response.on('close', () => clearInterval(timer))
		}
		const outcome = await send({}, { timeLimitMs: 300 })
		expect(outcome).toMatchObject({ result: 'retry', reason: expect.stringContaining('within 0.3 s') })
	})

	test('behavior: an answer that drips does not undo a success, nor hold it up beyond its limit', async () => {
		hook.answer = () => drip(200, 20)
		// Its head comes at once, unless this process stands still.
		expect(await send({}, { timeLimitMs: 10_000 })).toMatchObject({ result: 'delivered' })
	})

	test('behavior: of a bomb only the first 64 KiB are read, packed as they came', async () => {
		const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
		let written = 0
		hook.answer = () => (response) => {
			response.writeHead(500, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
			const more = (): void => {
				if (response.destroyed) return
				written += bomb.length
				response.write(bomb, more)
			}
			more()
		}
		expect((await send()).result).toBe('retry')
		expect(written).toBeLessThan(8 * 1024 * 1024)
	})

	test('behavior: a stop ends an attempt at once, without a judgement', async () => {
		hook.answer = () => () => undefined
		const controller = new AbortController()
		const sent = send({}, {}, deliveryOf(1), controller.signal)
		await hook.until(1)
		controller.abort()
		expect(await sent).toEqual({ result: 'retry', code: 'failed', reason: 'stopped before the answer came' })
	})
})

describe('link-local addresses', () => {
	for (const host of [
		'169.254.169.254',
		'0xa9fea9fe',
		'2852039166',
		'169.16689662',
		'0251.0376.0251.0376',
		'[::ffff:169.254.169.254]',
		'[::ffff:a9fe:a9fe]',
		'[fe80::1]',
		'[fd00:ec2::254]',
	]) {
		test(`error: ${host} is never contacted`, async () => {
			const outcome = await send({ url: `http://${host}/latest/meta-data` })
			expect(outcome).toMatchObject({ result: 'retry', reason: expect.stringContaining('link-local') })
		})
	}

	test('behavior: loopback and private addresses are allowed, by name too', async () => {
		expect(await send({ url: hook.origin.replace('127.0.0.1', 'localhost') })).toMatchObject({ result: 'delivered' })
	})
})

describe('errors', () => {
	test('error: a name that has no address is reported by its host', async () => {
		const outcome = await send({ url: 'http://user:PASSWORD@no-such-host.invalid/PATH?key=QUERY' })
		expect(outcome).toMatchObject({ result: 'retry', reason: expect.stringContaining('no-such-host.invalid') })
		expect(JSON.stringify(outcome)).not.toMatch(/PASSWORD|PATH|QUERY/)
	})

	test('error: invisible characters in the words of a refusal do not bring its links back', async () => {
		hook.answer = () => ({ status: 403, body: 'see https:\u200b//evil.\u200bexample' })
		expect(await send()).toMatchObject({ reason: expect.stringContaining('(“see https[://]evil[.]example”)') })
	})

	test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
		'error: a certificate that no one has signed is reported as such, and nothing is sent',
		async () => {
			const requests: string[] = []
			const server = createTlsServer(makeCertificate('localhost'), (request, response) => {
				requests.push(request.url ?? '')
				response.end()
			})
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
			const { port } = server.address() as AddressInfo
			const outcome = await send({ url: `https://localhost:${port}/PATH` })
			await new Promise((resolve) => server.close(resolve))
			expect(outcome).toEqual({
				result: 'retry',
				code: 'failed',
				reason: `localhost:${port}: its certificate is self-signed`,
			})
			expect(requests).toEqual([])
		},
	)
})
