/** Every receiver against the one table, over real connections. */
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/model/delivery.js'
import type { Receiver } from '../../src/model/ports.js'
import { createEmailReceiver } from '../../src/notify/email/email.js'
import { formats } from '../../src/notify/webhook/formats/byName.js'
import type { FormatName } from '../../src/notify/webhook/formats/format.js'
import { createWebhookReceiver } from '../../src/notify/webhook/webhook.js'
import { type HookAnswer, type HookServer, hang, resetConnection, startHookServer } from '../support/hookServer.js'
import { type MailServer, startMailServer } from '../support/mailServer.js'
import { type HttpCase, policyNowMs, policyTable } from './policyTable.js'
import { deliveryOf, mailDeliveryOf, never } from './samples.js'

const password = 'PASSWORD-CANARY'
const secret = `whsec_${Buffer.from('0123456789abcdefSECRET-CANARY').toString('base64')}`
const path = '/hooks/PATH-CANARY'
/** Short where nobody answers; else long enough for a machine that has much else to do. */
const timeLimitOf = (answer: unknown) => (answer === 'hang' ? 400 : 20_000)

let hook: HookServer
let mail: MailServer
let closedPort: number
beforeAll(async () => {
	hook = await startHookServer()
	mail = await startMailServer({ login: { user: 'watch', pass: password }, loginInClear: true })
	closedPort = await freePort()
})
afterAll(async () => {
	await hook.close()
	await mail.close()
})

/** What a service says when all is well, where the status does not tell. */
const wellSaid: Partial<Record<FormatName, string>> = { discord: '{"id":"1"}', telegram: '{"ok":true}' }

for (const format of Object.keys(formats) as FormatName[]) {
	describe(`webhook, ${format}`, () => {
		for (const { name, http, expected, afterMs, says } of policyTable) {
			if (http === null) continue
			test(`behavior: ${name} (${http.status}) is ${expected}`, async () => {
				const origin = http.status === 'refused' ? `http://127.0.0.1:${closedPort}` : hook.origin
				hook.answer = () => httpAnswer({ ...http, ...(http.status === 200 ? { body: wellSaid[format] ?? 'ok' } : {}) })
				const before = hook.hits.length
				const outcome = await attempt(
					createWebhookReceiver(
						{ type: 'webhook', name: 'hook', url: `${origin}${path}?key=QUERY-CANARY`, secret, format },
						{ version: '1.2.3', clock: () => policyNowMs, timeLimitMs: timeLimitOf(http.status) },
					),
					deliveryOf(1),
				)
				check(outcome, expected, afterMs, says)
				expect(hook.hits.length - before).toBe(http.status === 'refused' ? 0 : 1)
			})
		}
	})
}

describe('email', () => {
	for (const { name, smtp, expected, says } of policyTable) {
		if (smtp === null) continue
		test(`behavior: ${name} (${smtp.phase} ${smtp.answer}) is ${expected}`, async () => {
			const host = smtp.phase === 'refused' ? `127.0.0.1:${closedPort}` : mail.host
			mail.answer = (phase) => (phase === smtp.phase && smtp.answer !== '' ? smtp.answer : null)
			const outcome = await attempt(
				createEmailReceiver(
					{
						type: 'email',
						name: 'mail',
						smtp: `smtp://watch:${password}@${host}`,
						from: 'a@example.org',
						to: ['b@example.org'],
					},
					{ timeLimitMs: timeLimitOf(smtp.answer) },
				),
				mailDeliveryOf(1, 'b@example.org'),
			)
			check(outcome, expected, undefined, says)
		})
	}
})

async function attempt(receiver: Receiver, delivery: Parameters<Receiver['deliver']>[0]): Promise<Outcome> {
	try {
		return await receiver.deliver(delivery, never)
	} finally {
		await receiver.close()
	}
}

function check(outcome: Outcome, expected: Outcome['result'], afterMs?: number, says = ''): void {
	if (outcome.result === 'delivered') {
		expect(expected).toBe('delivered')
		return
	}
	const { reason } = outcome
	expect(outcome.result, reason).toBe(expected)
	expect(outcome.result === 'retry' ? outcome.afterMs : undefined).toBe(afterMs)
	expect(reason).toContain(says)
	expect(reason).toContain('127.0.0.1')
	expect(reason).not.toMatch(/CANARY|SECRET|whsec|watch:/)
}

function httpAnswer({ status, retryAfter, body, location }: HttpCase): HookAnswer {
	if (status === 'reset') return resetConnection
	if (status === 'hang' || status === 'refused') return hang
	const headers = {
		...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
		...(location === undefined ? {} : { location }),
	}
	// A server that repeats what it was sent must not lead the secrets into our words.
	return { status, headers, body: body ?? `refused: POST ${path}?key=QUERY-CANARY signed with ${secret}` }
}

async function freePort(): Promise<number> {
	const server = createServer()
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	const address = server.address()
	await new Promise<void>((resolve) => server.close(() => resolve()))
	return typeof address === 'object' && address !== null ? address.port : 0
}
