/** What each service is sent, over HTTP, against what its documentation asks for. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/model/alert.js'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { FormatName } from '../../../src/notify/webhook/formats/byName.js'
import { createWebhookReceiver, type WebhookSettings } from '../../../src/notify/webhook/webhook.js'
import { type Hit, type HookAnswer, type HookServer, startHookServer } from '../../support/hookServer.js'
import { START_MS, standingClock } from '../../support/standingClock.js'
import {
	alertData,
	alertDeliveryOf,
	blockHash,
	deliveryOf,
	digestData,
	idOf,
	messageOf,
	never,
	payer,
	removalOf,
	shownBy,
	startMs,
	systemData,
	treasury,
	txHash,
	undeliveredData,
} from '../samples.js'

/** Everything that some service would take for a mention, markup or a link. */
const nasty = '<!channel> @everyone <@U1> `code` *bold* [x](http://evil.example) & </b> \u202e\u0000 #1 ||s||'
const nastyMessage = messageOf(alertData({ watch: { ...alertData().watch, label: nasty } }))
const long = (letters: string) => ({
	...alertData().watch,
	watchlist: letters.repeat(200),
	tags: Array(400).fill(letters),
})

let hook: HookServer
beforeEach(async () => {
	hook = await startHookServer()
})
afterEach(() => hook.close())

interface Sent {
	readonly outcome: Outcome
	readonly hit: Hit
	// biome-ignore lint/suspicious/noExplicitAny: whatever was sent; each test says what it must be
	readonly body: any
}

async function send(
	format: FormatName,
	path: string,
	answer: HookAnswer,
	message: Message = messageOf(alertData()),
	rest: Partial<WebhookSettings> & { readonly delivery?: Partial<Delivery>; readonly nowMs?: number } = {},
): Promise<Sent> {
	const { delivery, nowMs = startMs + 5_000, ...settings } = rest
	hook.answer = () => answer
	const receiver = createWebhookReceiver(
		{ type: 'webhook', name: 'chat', url: `${hook.origin}${path}`, secret: null, format, ...settings },
		{ version: '1.2.3', clock: () => nowMs },
	)
	const outcome = await receiver.deliver(deliveryOf(1, { message, ...delivery }), never)
	await receiver.close()
	const hit = hook.hits.at(-1)
	if (hit === undefined) throw new Error('no request came')
	expect(hit.method).toBe('POST')
	expect(hit.headers['content-type']).toBe('application/json')
	return { outcome, hit, body: JSON.parse(hit.body.toString('utf8')) }
}

const delivered: Outcome = { result: 'delivered' }

describe('slack', () => {
	const path = '/services/T000/B000/SECRETq7Xz9SECRET2vK7mW'

	test('default: a text with the sentence, the addresses and the link', async () => {
		const { outcome, hit, body } = await send('slack', path, { status: 200, body: 'ok' })
		expect(outcome).toMatchObject(delivered)
		expect(hit.url).toBe(path)
		expect(body.text).toContain('[ethereum] Treasury received 1.500000000000000001 ETH from 0xd8dA…6045')
		expect(body.text).toContain(`To: ${treasury}`)
		expect(body.text).toContain(`<https://explorer.example/tx/${txHash}>`)
	})

	test('default: blocks: the sentence as heading, the facts, one link', async () => {
		const { body } = await send('slack', path, { status: 200, body: 'ok' })
		const [header, facts, ...rest] = body.blocks
		expect(header).toEqual({
			type: 'header',
			text: {
				...{ type: 'plain_text', emoji: false },
				text: '[ethereum] Treasury received 1.500000000000000001 ETH from 0xd8dA…6045',
			},
		})
		expect(facts.text.text.split('\n')).toContain(`*To:* ${treasury}`)
		expect(facts.text.text.split('\n').at(-1)).toBe(`<https://explorer.example/tx/${txHash}|Look at the transaction>`)
		expect(rest).toEqual([])
	})

	test('behavior: a long digest is split between lines, at most 3,000 characters in a block', async () => {
		const alerts = Array.from({ length: 20 }, (_, at) => alertDeliveryOf(at + 1))
		const { body } = await send('slack', path, 200, messageOf(digestData(alerts), 'alert.digest'))
		const texts = body.blocks.slice(1).map(({ text }: { text: { text: string } }) => text.text)
		expect(texts.length).toBeGreaterThan(1)
		for (const text of texts) expect(text.length).toBeLessThanOrEqual(3_000)
		const lines = texts.join('\n').split('\n')
		expect(lines).toHaveLength(20)
		for (const line of lines) expect(line).toMatch(/^\d+\. .*<https:\/\/explorer\.example\/tx\/0x[0-9a-f]{64}>$/)
	})

	test('behavior: nothing of a label stays a mention or a link', async () => {
		const { body } = await send('slack', path, 200, nastyMessage)
		expect(body.text).toContain('&lt;!channel&gt;')
		expect(body.text.replaceAll(/<https:\/\/explorer\.example\/tx\/0x[0-9a-f]+>/g, '')).not.toMatch(
			/[<>]|&(?!amp;|lt;|gt;)/,
		)
	})

	test('error: an archived channel is parked', async () => {
		const { outcome } = await send('slack', path, { status: 410, body: 'channel_is_archived' })
		expect(outcome).toMatchObject({ result: 'parked', reason: expect.stringContaining('channel_is_archived') })
	})
})

describe('discord', () => {
	const path = '/api/webhooks/123/SECRETq7Xz9SECRET2vK7mW?thread_id=9'
	const kept = { status: 200, body: '{"id":"1234567890","type":0}' }

	test('default: waits for the message to be kept, and mentions no one', async () => {
		const { outcome, hit, body } = await send('discord', path, kept, nastyMessage)
		expect(outcome).toMatchObject(delivered)
		expect(hit.url).toBe('/api/webhooks/123/SECRETq7Xz9SECRET2vK7mW?thread_id=9&wait=true')
		expect(body.allowed_mentions).toEqual({ parse: [] })
		expect(body.content).toContain('\\<!channel\\>')
		expect(body.content).toContain('\\@everyone')
		expect(body.embeds).toMatchObject([
			{ title: 'Look at the transaction', url: `https://explorer.example/tx/${txHash}`, color: 0x2f6fb5 },
		])
		expect(body.embeds[0].timestamp).toBe(nastyMessage.timestamp)
		expect(body.embeds[0].fields).toContainEqual({ name: 'To', value: treasury })
	})

	test('behavior: each text within its limit, and 6,000 characters in all', async () => {
		const many = alertData({ watch: long('*'), lateReason: '*'.repeat(5_000), late: true })
		const { body } = await send('discord', path, kept, messageOf(many))
		expect(body.content.length).toBeLessThanOrEqual(2_000)
		const { fields, title } = body.embeds[0]
		expect(fields.length).toBeLessThanOrEqual(25)
		for (const { name, value } of fields) {
			expect(name.length).toBeLessThanOrEqual(256)
			expect(value.length).toBeLessThanOrEqual(1_024)
		}
		expect(shownBy(body).length + title.length).toBeLessThanOrEqual(6_000)
		expect(shownBy(body).length).toBeGreaterThan(500)
	})

	test.each([
		['system.stalled', systemData(), 0xd32f2f],
		['system.recovered', systemData(), 0x2e7d32],
		['alert.removed', alertData(), 0xd32f2f],
		['alert.transfer', alertData({ lookalike: { of: treasury, label: null, prefix: 4, suffix: 4 } }), 0xd32f2f],
	] as const)('behavior: the colour of %s', async (type, data, color) => {
		const { body } = await send('discord', path, kept, messageOf(data, type))
		expect(body.embeds[0].color).toBe(color)
	})

	test('error: an answer without a message, or one that breaks off, is no success', async () => {
		expect((await send('discord', path, { status: 200, body: '{}' })).outcome.result).toBe('retry')
		const cut: HookAnswer = (response) => {
			response.writeHead(200, { 'content-length': '1000' })
			response.write('{"id":"1234567890"')
			setTimeout(() => response.destroy(), 20)
		}
		expect((await send('discord', path, cut)).outcome.result).toBe('retry')
	})

	test('behavior: a rate limit of Discord in fractions of a second is obeyed', async () => {
		const { outcome } = await send('discord', path, {
			status: 429,
			body: '{"message":"slow","retry_after":64.57,"global":false}',
		})
		expect(outcome).toMatchObject({ result: 'retry', afterMs: 64_570 })
	})
})

describe('telegram', () => {
	const path = '/bot123456:SECRETq7Xz9SECRET2vK7mW/sendMessage?chat_id=-100123&message_thread_id=7'
	const ok = { status: 200, body: '{"ok":true,"result":{"message_id":1}}' }

	test('default: plain text to the chat of the URL', async () => {
		const { outcome, hit, body } = await send('telegram', path, ok, nastyMessage)
		expect(outcome).toMatchObject(delivered)
		expect(hit.url).toBe('/bot123456:SECRETq7Xz9SECRET2vK7mW/sendMessage')
		expect(body).toMatchObject({ chat_id: '-100123', message_thread_id: '7' })
		expect(body).not.toHaveProperty('parse_mode')
		expect(body.text).toContain('<!channel> ＠everyone <＠U1> `code` *bold*')
		expect(body.text).not.toMatch(/\u202e/)
	})

	test('behavior: a `parse_mode` in the URL is left out: no symbol is read as markup', async () => {
		const url = '/bot1:SECRETq7Xz9SECRET2vK7mW/sendMessage?chat_id=-100123&parse_mode=HTML'
		const { hit, body } = await send('telegram', url, ok, nastyMessage)
		expect(body).toMatchObject({ chat_id: '-100123', text: expect.stringContaining('<!channel>') })
		expect(body).not.toHaveProperty('parse_mode')
		expect(hit.url).not.toContain('parse_mode')
	})

	test('behavior: the method may be left out of the URL; at most 4,096 characters', async () => {
		const message = messageOf(alertData({ watch: long('🐋') }))
		const { hit, body } = await send('telegram', '/bot1:SECRETq7Xz9SECRET2vK7mW?chat_id=@channel', ok, message)
		expect(hit.url).toBe('/bot1:SECRETq7Xz9SECRET2vK7mW/sendMessage')
		expect(body.text.length).toBeLessThanOrEqual(4_096)
		expect(Buffer.from(body.text, 'utf8').toString('utf8')).toBe(body.text)
	})

	const answers: readonly (readonly [HookAnswer, Outcome['result']])[] = [
		[{ status: 200, body: '{"ok":false}' }, 'retry'],
		[{ status: 200, body: 'a page' }, 'retry'],
		[{ status: 429, body: '{"ok":false,"error_code":429,"parameters":{"retry_after":31}}' }, 'retry'],
		[{ status: 400, body: '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}' }, 'parked'],
		[
			{
				status: 400,
				body:
					'{"ok":false,"description":"Bad Request: group chat was upgraded to a supergroup chat",' +
					'"parameters":{"migrate_to_chat_id":-1001}}',
			},
			'parked',
		],
		[{ status: 400, body: '{"ok":false,"description":"Bad Request: message text is empty"}' }, 'parked'],
		[{ status: 401, body: '{"ok":false,"description":"Unauthorized"}' }, 'parked'],
		[{ status: 403, body: '{"ok":false,"description":"Forbidden: bot was blocked by the user"}' }, 'parked'],
		[{ status: 404, body: '{"ok":false,"description":"Not Found"}' }, 'parked'],
	]
	test('error: a chat that blocked the bot: the reason says so, and not that the token is wrong', async () => {
		const body = '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}'
		const { outcome } = await send('telegram', path, { status: 403, body })
		const reason = expect.stringMatching(
			/^127\.0\.0\.1:\d+ answered 403: the chat refused the bot \(“.*blocked by the user/,
		)
		expect(outcome).toMatchObject({ result: 'parked', code: 'refused', reason })
	})

	for (const [answer, expected] of answers) {
		test(`error: ${JSON.stringify(answer)} is ${expected}`, async () => {
			const { outcome } = await send('telegram', path, answer)
			expect(outcome.result).toBe(expected)
			expect(JSON.stringify(outcome)).not.toContain('SECRET')
		})
	}
})

describe('ntfy', () => {
	test('default: JSON to the root, with topic, title, message and link; a repetition replaces the first', async () => {
		const headers = { Authorization: 'Bearer tk_SECRETq7Xz9SECRET2vK7mW' }
		const { outcome, hit, body } = await send('ntfy', '/alerts-topic', 200, undefined, { headers })
		expect(outcome).toMatchObject(delivered)
		expect(hit.url).toBe('/')
		expect(hit.headers.authorization).toBe('Bearer tk_SECRETq7Xz9SECRET2vK7mW')
		expect(body).toMatchObject({
			topic: 'alerts-topic',
			title: '[ethereum] Treasury received 1.500000000000000001 ETH from 0xd8dA…6045',
			priority: 3,
			sequence_id: idOf(1),
			click: `https://explorer.example/tx/${txHash}`,
			tags: ['inbox_tray', 'ethereum', 'transfer'],
			actions: [{ action: 'view', label: 'Transaction', url: `https://explorer.example/tx/${txHash}` }],
		})
	})

	test('behavior: under a path of its own, and urgent where it must be', async () => {
		const { hit, body } = await send('ntfy', '/push/topic/', 200, messageOf(systemData(), 'system.stalled'))
		expect(hit.url).toBe('/push/')
		expect(body).toMatchObject({ topic: 'topic', priority: 5, tags: ['warning', 'ethereum', 'stalled'] })
		expect(body).not.toHaveProperty('click')
	})

	test('behavior: at most 4,096 bytes, whole characters', async () => {
		const { body } = await send('ntfy', '/topic', 200, messageOf(alertData({ watch: long('🐋') })))
		expect(Buffer.byteLength(body.message)).toBeLessThanOrEqual(4_096)
		expect(Buffer.byteLength(body.message)).toBeGreaterThan(3_000)
		expect(Buffer.from(body.message, 'utf8').toString('utf8')).toBe(body.message)
	})
})

describe('pagerduty', () => {
	const path = '/v2/enqueue'
	const secret = 'SECRETROUTINGKEYSECRETROUTINGKEY'

	test('default: triggers under the id of the alert', async () => {
		const { outcome, body } = await send('pagerduty', path, { status: 202, body: '{"status":"success"}' }, undefined, {
			secret,
		})
		expect(outcome).toMatchObject(delivered)
		expect(body).toMatchObject({
			routing_key: secret,
			event_action: 'trigger',
			dedup_key: alertData().id,
			payload: { source: 'ethereum', severity: 'info', timestamp: '2026-11-20T10:00:00.000Z' },
			links: [{ href: `https://explorer.example/tx/${txHash}` }],
		})
		expect(body.payload.summary).toContain('Treasury received')
		expect(body.payload.custom_details['In wei']).toBe('1500000000000000001')
	})

	test('behavior: a withdrawal resolves its alert, a recovery its stall', async () => {
		const removed = await send('pagerduty', path, 202, messageOf(alertData(), 'alert.removed'), { secret })
		expect(removed.body).toMatchObject({ event_action: 'resolve', dedup_key: alertData().id })
		const stalled = await send('pagerduty', path, 202, messageOf(systemData(), 'system.stalled'), { secret })
		const recovered = await send('pagerduty', path, 202, messageOf(systemData(), 'system.recovered'), { secret })
		expect(stalled.body).toMatchObject({ event_action: 'trigger', payload: { severity: 'critical' } })
		expect(recovered.body).toMatchObject({ event_action: 'resolve', dedup_key: stalled.body.dedup_key })
	})

	test('behavior: alerts deep in a transaction have keys of their own, of at most 255 characters', async () => {
		const keyOf = async (id: string, type: Message['type']): Promise<string> =>
			(await send('pagerduty', path, 202, messageOf(alertData({ id }), type), { secret })).body.dedup_key
		const keys: string[] = []
		for (const place of ['0_'.repeat(120), '0_'.repeat(121)])
			for (const address of [treasury, payer]) {
				const id = `1:${txHash}:${place}0:transfer:${address.toLowerCase()}`
				const key = await keyOf(id, 'alert.transfer')
				expect(await keyOf(id, 'alert.removed')).toBe(key)
				keys.push(key)
			}
		expect(new Set(keys).size).toBe(4)
		expect(keys.filter(({ length }) => length > 255)).toEqual([])
	})

	test('behavior: a gap that was read resolves that gap, and no stall', async () => {
		const data = systemData({ fromBlock: 7, toBlock: 7 })
		const gap = await send('pagerduty', path, 202, messageOf(data, 'system.gap'), { secret })
		expect(gap.body).toMatchObject({ event_action: 'trigger', payload: { severity: 'critical' } })
		expect(gap.body.payload.summary).toContain('GAP: block 7 cannot be read at present')
		const read = await send('pagerduty', path, 202, messageOf(data, 'system.recovered'), { secret })
		expect(read.body).toMatchObject({ event_action: 'resolve', dedup_key: gap.body.dedup_key })
		const stalled = await send('pagerduty', path, 202, messageOf(systemData(), 'system.stalled'), { secret })
		expect(stalled.body.dedup_key).not.toBe(gap.body.dedup_key)
	})

	test('error: a refused routing key and a refused event are parked, and no key is repeated', async () => {
		const errors = ["Length of 'routing_key' is incorrect (should be 32 characters)", secret]
		const key = await send(
			'pagerduty',
			path,
			{ status: 400, body: JSON.stringify({ status: 'invalid event', errors }) },
			undefined,
			{ secret },
		)
		expect(key.outcome.result).toBe('parked')
		expect(JSON.stringify(key.outcome)).not.toContain('SECRET')
		const event = await send('pagerduty', path, { status: 400, body: '{"status":"invalid event"}' }, undefined, {
			secret,
		})
		expect(event.outcome.result).toBe('parked')
	})
})

describe('alertmanager', () => {
	test('default: an alert fires for a day in Alertmanager, with its identity in its labels', async () => {
		const { outcome, hit, body } = await send('alertmanager', '/am/', 200)
		expect(outcome).toMatchObject(delivered)
		expect(hit.url).toBe('/am/api/v2/alerts')
		expect(body).toHaveLength(1)
		expect(body[0].labels).toEqual({
			alertname: 'TracewatchTransfer',
			network: 'ethereum',
			severity: 'info',
			kind: 'transfer',
			direction: 'in',
			address: treasury,
			tx_hash: txHash,
			trace: '0_1_2',
		})
		expect(body[0].startsAt).toBe('2026-11-20T10:00:00.000Z')
		expect(Date.parse(body[0].endsAt)).toBe(startMs + 5_000 + 24 * 3_600_000)
		expect(body[0].annotations.summary).toContain('Treasury received')
		expect(body[0].generatorURL).toBe(`https://explorer.example/tx/${txHash}`)
	})

	test('behavior: a later attempt is the same alert', async () => {
		const first = await send('alertmanager', '/api/v2/alerts', 503)
		const second = await send('alertmanager', '/api/v2/alerts', 200, undefined, { nowMs: startMs + 50 * 3_600_000 })
		expect(second.hit.url).toBe('/api/v2/alerts')
		expect(second.body[0].labels).toEqual(first.body[0].labels)
		expect(second.body[0].startsAt).toBe(first.body[0].startsAt)
		expect(Date.parse(second.body[0].endsAt)).toBeGreaterThan(startMs + 50 * 3_600_000)
	})

	test('behavior: a withdrawal ends its alert and is reported as one of its own', async () => {
		const told = await send('alertmanager', '', 200)
		const { body } = await send('alertmanager', '', 200, messageOf(alertData(), 'alert.removed'))
		expect(body.map(({ labels }: { labels: { alertname: string } }) => labels.alertname)).toEqual([
			'TracewatchTransfer',
			'TracewatchWithdrawn',
		])
		expect(body[0].labels).toEqual(told.body[0].labels)
		expect(Date.parse(body[0].endsAt)).toBe(startMs + 5_000)
		expect(Date.parse(body[1].endsAt)).toBeGreaterThan(startMs + 5_000)
	})

	test('behavior: two alerts of one block have labels of their own, whatever their kind', async () => {
		const noFrame = { txHash: blockHash, txIndex: null, traceAddress: [] } as const
		const address = treasury.toLowerCase()
		const alerts = [
			...['7', '8'].map((index) =>
				alertData({
					...{ ...noFrame, kind: 'withdrawal', frameType: 'withdrawal', index },
					id: `1:withdrawal:${index}:withdrawal:${address}`,
				}),
			),
			...['slot_owner', 'slot_admin'].map((place) =>
				alertData({ ...noFrame, kind: 'control', frameType: 'storage', id: `1:19000000:${place}:control:${address}` }),
			),
			...['auth_0', 'auth_1'].map((place) =>
				alertData({ kind: 'delegation', frameType: 'delegation', id: `1:${txHash}:${place}:delegation:${address}` }),
			),
		].map((data, at) => deliveryOf(at, { message: messageOf(data, `alert.${data.kind}`, idOf(at)) }))
		const { body } = await send('alertmanager', '', 200, messageOf(digestData(alerts), 'alert.digest'))
		expect(body.map(({ labels }: { labels: { trace: string } }) => labels.trace)).toEqual([
			...['7', '8', 'slot_owner', 'slot_admin', 'auth_0', 'auth_1'],
		])
	})

	test('error: the clock was set back: no alert ends before its start', async () => {
		const gone = messageOf(alertData(), 'alert.removed')
		const { body } = await send('alertmanager', '', 200, gone, { nowMs: startMs - 3_600_000 })
		const times = body.map(({ startsAt, endsAt }: Record<string, string>) => [startsAt, endsAt].map((at) => at ?? ''))
		expect(times[0]).toEqual(['2026-11-20T09:00:00.000Z', '2026-11-20T09:00:00.000Z'])
		expect(times[1]).toEqual(['2026-11-20T09:00:00.000Z', '2026-11-21T09:00:00.000Z'])
	})

	test('behavior: a recovery ends its stall', async () => {
		const stalled = await send('alertmanager', '', 200, messageOf(systemData(), 'system.stalled'))
		const recovered = await send('alertmanager', '', 200, messageOf(systemData(), 'system.recovered'))
		expect(recovered.body).toHaveLength(1)
		expect(recovered.body[0].labels).toEqual(stalled.body[0].labels)
		expect(Date.parse(recovered.body[0].endsAt)).toBe(startMs + 5_000)
		const gap = systemData({ fromBlock: 7, toBlock: 7 })
		const fired = await send('alertmanager', '', 200, messageOf(gap, 'system.gap'))
		const read = await send('alertmanager', '', 200, messageOf(gap, 'system.recovered'))
		expect(fired.body[0].labels).toMatchObject({ alertname: 'TracewatchGap', blocks: '7-7', severity: 'critical' })
		expect(read.body).toHaveLength(1)
		expect(read.body[0].labels).toEqual(fired.body[0].labels)
	})
})

describe('watchlists that were edited wrongly', () => {
	const word = messageOf(systemData({ reason: 'the watchlists as edited are wrong' }), 'system.refused')

	test('default: a pager does not take them for a stall, whose end would be theirs', async () => {
		const stalled = await send('pagerduty', '/v2/enqueue', 202, messageOf(systemData(), 'system.stalled'))
		const refused = await send('pagerduty', '/v2/enqueue', 202, word)
		expect(refused.body).toMatchObject({ event_action: 'trigger', payload: { severity: 'warning' } })
		expect(refused.body.payload.summary).toContain('NOT IN EFFECT')
		expect(refused.body.dedup_key).not.toBe(stalled.body.dedup_key)
		const { body } = await send('alertmanager', '', 200, word)
		// A trouble that lasts must not end by itself after a day, as an alert does.
		expect(Date.parse(body[0].endsAt)).toBe(startMs + 5_000 + 30 * 24 * 3_600_000)
		expect(body.map(({ labels }: { labels: object }) => labels)).toEqual([
			{ alertname: 'TracewatchRefused', network: 'ethereum', severity: 'warning' },
		])
	})

	test('default: watchlists that are right again end the alert of their refusal, and no alert of a stall', async () => {
		const over = messageOf(systemData({ ends: 'refused' }), 'system.recovered')
		const refused = await send('pagerduty', '/v2/enqueue', 202, word)
		const accepted = await send('pagerduty', '/v2/enqueue', 202, over)
		expect(accepted.body).toMatchObject({ event_action: 'resolve', dedup_key: refused.body.dedup_key })
		expect(accepted.body.payload.summary).toContain('the watchlists are right again and in effect')
		const [fired] = (await send('alertmanager', '', 200, word)).body
		const [resolved] = (await send('alertmanager', '', 200, over)).body
		expect(resolved.labels).toEqual(fired.labels)
		expect(Date.parse(resolved.endsAt)).toBeLessThanOrEqual(START_MS)
	})
})

describe('a receiver that does not take its messages', () => {
	const word = messageOf(undeliveredData({ reason: nasty }), 'system.undelivered')

	test('default: chats say who, how many and why, and no more than that', async () => {
		const kept = { status: 200, body: '{"ok":true,"id":"1"}' }
		for (const [format, path] of [
			['slack', '/services/T/B/S'],
			['discord', '/api/webhooks/1/S'],
			['telegram', '/bot1:S?chat_id=1'],
			['ntfy', '/topic'],
		] as const) {
			const { outcome, body } = await send(format, path, kept, word)
			expect(outcome).toMatchObject(delivered)
			const said = JSON.stringify(body).replaceAll('\\', '')
			for (const fact of ['NOT DELIVERED', 'ops-hook', '12 messages', 'Reason']) expect(said).toContain(fact)
		}
	})

	test('behavior: pagers are called, once for each receiver', async () => {
		const event = await send('pagerduty', '/v2/enqueue', 202, word, { secret: 'KEY' })
		expect(event.body).toMatchObject({
			event_action: 'trigger',
			dedup_key: 'tracewatch:undelivered:ops-hook',
			payload: { source: 'tracewatch', severity: 'critical' },
		})
		const { body } = await send('alertmanager', '', 200, word)
		expect(body.map(({ labels }: { labels: object }) => labels)).toEqual([
			{ alertname: 'TracewatchUndelivered', receiver: 'ops-hook', severity: 'critical' },
		])
	})

	test('default: once nothing is left of what it refused, the incident is resolved', async () => {
		const over = messageOf(undeliveredData({ count: 0, ends: 'undelivered' }), 'system.recovered')
		const event = await send('pagerduty', '/v2/enqueue', 202, over, { secret: 'KEY' })
		expect(event.body).toMatchObject({ event_action: 'resolve', dedup_key: 'tracewatch:undelivered:ops-hook' })
		const { body } = await send('alertmanager', '', 200, over)
		expect(body).toHaveLength(1)
		const [{ labels, endsAt }] = body
		expect(labels).toEqual({ alertname: 'TracewatchUndelivered', receiver: 'ops-hook', severity: 'critical' })
		expect(Date.parse(endsAt)).toBeLessThanOrEqual(START_MS)
	})
})

describe('a digest', () => {
	const watch = { ...alertData().watch, label: nasty }
	const alert = alertDeliveryOf(1, {}, { watch })
	const late = alertDeliveryOf(2, {}, { network: 'base', late: true, direction: 'out', value: '7' })
	const digest = messageOf(digestData([alert, late, removalOf(3, alert)]), 'alert.digest')
	const kept = { status: 200, body: '{"ok":true,"id":"1"}' }

	test('default: standard is the envelope as it is', async () => {
		const { hit, body } = await send('standard', '/', 204, digest)
		expect(body).toEqual(JSON.parse(JSON.stringify(digest)))
		expect(hit.id).toBe(idOf(1))
	})

	for (const [format, path] of [
		['slack', '/services/T/B/S'],
		['discord', '/api/webhooks/1/S'],
		['telegram', '/bot1:S?chat_id=1'],
		['ntfy', '/topic'],
	] as const) {
		test(`default: ${format} gets a line for each, with amount and link, and nothing of it is markup`, async () => {
			const { outcome, body } = await send(format, path, kept, digest)
			expect(outcome).toMatchObject(delivered)
			const text = shownBy(body)
			const lines = text.split('\n').map((line) => line.replaceAll('\\', ''))
			expect(lines[0]).toContain('[ethereum, base] 3 alerts: ')
			const told = lines.filter((line) => /^\d\. /.test(line))
			expect(told.map((line) => line.slice(0, 3))).toEqual(['1. ', '2. ', '3. '])
			expect(told[0]).toContain('received 1.500000000000000001 ETH from 0xd8dA…6045')
			expect(told[1]).toContain('[base] Treasury sent 7 ETH to 0x742d…f44e (late)')
			expect(told[2]).toContain('[ethereum] RETRACTED: ')
			for (const line of told) expect(line).toContain(`https://explorer.example/tx/${txHash}`)
			if (format === 'slack') expect(text).toContain('&lt;!channel&gt;')
			if (format === 'discord') expect(text).toContain('\\<!channel\\>')
		})
	}

	test('default: alertmanager gets alerts, each with its labels; one and its withdrawal are one, over', async () => {
		const { body } = await send('alertmanager', '', 200, digest)
		const names = body.map(({ labels }: { labels: { alertname: string } }) => labels.alertname)
		expect(names).toEqual(['TracewatchTransfer', 'TracewatchTransfer', 'TracewatchWithdrawn'])
		expect(Date.parse(body[0].endsAt)).toBe(startMs + 5_000)
		expect(Date.parse(body[1].endsAt)).toBeGreaterThan(startMs + 5_000)
		const alone = await send('alertmanager', '', 200, late.message)
		expect(body[1].labels).toEqual(alone.body[0].labels)
	})

	test('behavior: pagerduty takes none, since nothing could resolve one alert among many', () => {
		const settings = { type: 'webhook', name: 'pager', url: 'http://127.0.0.1:9/', secret: 'K' } as const
		const options = { version: '1', clock: standingClock }
		expect(createWebhookReceiver({ ...settings, format: 'pagerduty' }, options).takesDigest).toBeUndefined()
		expect(createWebhookReceiver({ ...settings, format: 'standard' }, options).takesDigest?.(digest)).toBe(true)
	})
})
