/** Every receiver against the one table, over real connections. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/model/delivery.js'
import type { Receiver } from '../../src/model/ports.js'
import { createEmailReceiver } from '../../src/notify/email/email.js'
import type { FormatName } from '../../src/notify/webhook/formats/byName.js'
import { formats } from '../../src/notify/webhook/formats/byName.js'
import { createWebhookReceiver } from '../../src/notify/webhook/webhook.js'
import { freePort } from '../support/freePort.js'
import { type HookAnswer, type HookServer, hang, resetConnection, startHookServer } from '../support/hookServer.js'
import { type MailServer, startMailServer } from '../support/mailServer.js'
import { type HttpCase, policyNowMs, policyTable } from './policyTable.js'
import { deliveryOf, mailDeliveryOf, never } from './samples.js'

const password = 'PASSWORD-CANARY'
const secret = `whsec_${Buffer.from('0123456789abcdefSECRET-CANARY').toString('base64')}`
const path = '/hooks/PATH-CANARY'
/** Short where no one answers; else long enough for a machine that has much else to do. */
const timeLimitOf = (answer: unknown) => (answer === 'hang' ? 400 : 20_000)

let hook: HookServer
let mail: MailServer
let closedPort: number
let cases = 0
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

/** The standard format has each row, and the others, which judge by the same code, the first row and each fourth. */
const rowsOf = (format: FormatName, turn: number) =>
	policyTable.filter((_, at) => format === 'standard' || at === 0 || at % 4 === turn % 4)

for (const [turn, format] of (Object.keys(formats) as FormatName[]).entries()) {
	describe(`webhook, ${format}`, () => {
		for (const { name, http, expected, afterMs, says } of rowsOf(format, turn)) {
			if (http === null) continue
			test(`behavior: ${name} (${http.status}) is ${expected}`, async () => {
				const origin = http.status === 'refused' ? `http://127.0.0.1:${closedPort}` : hook.origin
				hook.answer = () => httpAnswer({ ...http, ...(http.status === 200 ? { body: wellSaid[format] ?? 'ok' } : {}) })
				// Each is counted by itself, whatever comes of another when its test is over.
				const headers = { 'X-Case': String(++cases) }
				const outcome = await attempt(
					createWebhookReceiver(
						{ type: 'webhook', name: 'hook', url: `${origin}${path}?key=QUERY-CANARY`, secret, format, headers },
						{ version: '1.2.3', clock: () => policyNowMs, timeLimitMs: timeLimitOf(http.status) },
					),
					deliveryOf(1),
				)
				check(outcome, expected, afterMs, says)
				const own = hook.hits.filter((hit) => hit.headers['x-case'] === headers['X-Case']).length
				// Where this process stands still, the time of one that hangs may be over before it has come.
				if (http.status === 'hang') expect(own).toBeLessThanOrEqual(1)
				else expect(own).toBe(http.status === 'refused' ? 0 : 1)
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

describe('a refusal of the login', () => {
	const replies: readonly (readonly [phase: string, reply: string, code: string])[] = [
		['login', '535 5.7.8 no', 'login-refused'],
		['connect', '554 5.3.2 go away', 'login-refused'],
		['recipient', '530 5.7.0 authentication required', 'login-refused'],
		['sender', '550 5.7.1 not your address', 'refused'],
		['recipient', '550 5.1.1 no such user', 'refused'],
		['data', '554 5.6.0 not like this', 'refused'],
		['data', '452 4.3.1 no room', 'failed'],
	]
	test.each(replies)('mail: %s %s is %s', async (at, reply, code) => {
		mail.answer = (phase) => (phase === at ? reply : null)
		const smtp = `smtp://watch:${password}@${mail.host}`
		const settings = { type: 'email' as const, name: 'mail', smtp, from: 'a@example.org', to: ['b@example.org'] }
		const outcome = await attempt(createEmailReceiver(settings), mailDeliveryOf(1, 'b@example.org'))
		expect(outcome).toMatchObject({ code })
	})
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
