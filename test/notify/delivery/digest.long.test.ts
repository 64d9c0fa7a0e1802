import { describe, expect, test } from 'vitest'
import { allKinds } from '../../../src/kinds/all.js'
import type { Message } from '../../../src/model/alert.js'
import { createEmailReceiver } from '../../../src/notify/email/email.js'
import type { FormatName } from '../../../src/notify/webhook/formats/byName.js'
import { createWebhookReceiver } from '../../../src/notify/webhook/webhook.js'
import { startHookServer } from '../../support/hookServer.js'
import { startMailServer } from '../../support/mailServer.js'
import {
	alertData,
	alertDeliveryOf,
	deliveryOf,
	idOf,
	messageOf,
	never,
	removalOf,
	startMs,
	systemData,
} from '../samples.js'
import { delivererOf, fine, inside, insideOf, keeping, minuteMs, numbers, runOut, sizes } from './keeping.js'
import { retry, useLab } from './lab.js'

const lab = useLab()

describe('a storm', () => {
	test('default: five at once, the rest a minute later in as few messages as can hold them, none lost', async () => {
		const server = await startHookServer()
		const receiver = createWebhookReceiver(
			{ type: 'webhook', name: 'hook', url: server.origin, secret: null },
			{ version: '1', clock: lab.clock },
		)
		const startedMs = lab.nowMs
		const times: number[] = []
		server.answer = () => {
			times.push(lab.nowMs - startedMs)
			return 204
		}
		await lab.store.post(numbers(1, 250).map((number) => alertDeliveryOf(number)))
		await runOut(lab, [receiver])
		const bodies: Message[] = server.hits.map(({ body }) => JSON.parse(String(body)))
		expect(bodies.map(({ data }) => insideOf({ data } as Message).length)).toEqual([
			...[1, 1, 1, 1, 1],
			...[100, 100, 45],
		])
		expect(bodies.flatMap(insideOf)).toEqual(numbers(1, 250).map(idOf))
		expect(server.hits.map(({ id }) => id)).toEqual(bodies.map(({ data }) => data.deliveryId))
		expect(times).toEqual([0, 0, 0, 0, 0, ...Array(3).fill(minuteMs)])
		// Each alert stands in its digest as it would have come by itself.
		expect(bodies[5]?.data).toMatchObject({ alerts: { 1: alertDeliveryOf(7).message } })
		expect((await lab.store.summary()).receivers.get('hook')).toMatchObject({ delivered: 250, pending: 0, held: 0 })
		await receiver.close()
		await server.close()
	})

	test('behavior: a storm that runs on is sent once a minute, and few alerts are sent one by one', async () => {
		const hook = keeping(lab)
		const carrying = delivererOf(lab, [hook])
		for (let second = 0; second < 200; second += 1) {
			lab.nowMs = startMs + second * 1_000
			if (second < 120) await lab.store.post([alertDeliveryOf(second)])
			await carrying.drainOnce(never)
		}
		expect(inside(hook.got)).toEqual(numbers(0, 119).map(idOf))
		for (const { atMs } of hook.got) {
			const within = hook.got.filter((other) => other.atMs > atMs - minuteMs && other.atMs <= atMs)
			expect(within.length).toBeLessThanOrEqual(5)
		}
		expect(hook.got.length).toBeLessThan(15)
		const calm = keeping(lab)
		const quiet = delivererOf(lab, [calm])
		for (let minute = 0; minute < 10; minute += 1) {
			lab.nowMs += 13_000
			await lab.store.post([alertDeliveryOf(1_000 + minute)])
			await quiet.drainOnce(never)
		}
		expect(sizes(calm.got)).toEqual(Array(10).fill(1))
	})

	test('behavior: a withdrawal comes after its alert, in the same digest or later', async () => {
		const hook = keeping(lab)
		await lab.store.post(numbers(1, 8).map((number) => alertDeliveryOf(number)))
		await lab.store.post([removalOf(9, alertDeliveryOf(8)), removalOf(10, alertDeliveryOf(1))])
		await runOut(lab, [hook])
		expect(hook.got.map((got) => got.inside)).toEqual([
			...numbers(1, 5).map((number) => [idOf(number)]),
			numbers(6, 10).map(idOf),
		])
	})

	test('behavior: the rest of a storm of any kind that is no alarm is held too', async () => {
		const alarms = ['unexplained', 'delegation', 'balance', 'control', 'code', 'approval', 'limit', 'request']
		const calm = allKinds.filter((kind) => !alarms.includes(kind))
		expect(calm.length).toBeGreaterThan(3)
		for (const [at, kind] of calm.entries()) {
			const hook = keeping(lab)
			const storm = numbers(10 * at + 1, 10 * at + 7).map((number) =>
				deliveryOf(number, { message: messageOf(alertData({ kind }), `alert.${kind}`, idOf(number)) }),
			)
			await lab.store.post(storm)
			await runOut(lab, [hook])
			expect(sizes(hook.got), kind).toEqual([1, 1, 1, 1, 1, 2])
		}
	})

	test('behavior: words of the system are never digested and do not wait; nor do tests', async () => {
		const hook = keeping(lab)
		await lab.store.post(numbers(1, 9).map((number) => alertDeliveryOf(number)))
		await lab.store.post([
			deliveryOf(10, { message: messageOf(systemData(), 'system.stalled', idOf(10)) }),
			deliveryOf(11, { message: messageOf(systemData(), 'test', idOf(11)) }),
		])
		await delivererOf(lab, [hook]).drainOnce(never)
		expect(hook.got.map(({ type }) => type)).toEqual(['system.stalled', 'test', ...Array(5).fill('alert.transfer')])
		expect(await lab.statuses()).toEqual(['6 held', '7 held', '8 held', '9 held'])
	})

	test('behavior: each recipient of a mail has a count of its own, and gets a digest of its own', async () => {
		const server = await startMailServer()
		const to = ['a@example.org', 'b@example.org']
		const mail = createEmailReceiver({
			type: 'email',
			name: 'mail',
			smtp: `smtp://${server.host}`,
			from: 'x@example.org',
			to,
		})
		await lab.store.post(
			numbers(1, 12).flatMap((number) => [
				alertDeliveryOf(number, { receiver: 'mail', recipient: 'a@example.org' }),
				alertDeliveryOf(100 + number, { receiver: 'mail', recipient: 'b@example.org' }),
			]),
		)
		await runOut(lab, [mail])
		await mail.close()
		const subjects = (recipient: string) =>
			server.mails.filter(({ recipients }) => recipients.includes(recipient)).map(({ subject }) => subject)
		for (const recipient of to) {
			expect(subjects(recipient)).toHaveLength(6)
			expect(subjects(recipient).at(-1)).toBe('[ethereum] 7 alerts: Treasury')
		}
		const digest = server.mails.find(
			({ subject, recipients }) => subject.includes('7 alerts') && recipients.includes(to[0] ?? ''),
		)
		for (const number of numbers(6, 12)) {
			expect(digest?.text).toContain((alertDeliveryOf(number).message.data as { txHash: string }).txHash)
		}
		expect(digest?.messageId).toMatch(/^<msg_[0-9a-f]{32}@example.org>$/)
		await server.close()
	})

	test('behavior: more alerts than a mail may hold come in several digests', async () => {
		const server = await startMailServer()
		const smtp = `smtp://${server.host}`
		const to = 'a@example.org'
		const mail = createEmailReceiver({ type: 'email', name: 'mail', smtp, from: 'x@example.org', to: [to] })
		await lab.store.post(numbers(1, 50).map((number) => alertDeliveryOf(number, { receiver: 'mail', recipient: to })))
		await runOut(lab, [mail])
		await mail.close()
		const subjects = server.mails.map(({ subject }) => subject).slice(5)
		expect(subjects).toEqual(['[ethereum] 40 alerts: Treasury', '[ethereum] 5 alerts: Treasury'])
		await server.close()
	})

	for (const [format, path, answer] of [
		['slack', '/services/T/B/S', 'ok'],
		['discord', '/api/webhooks/1/S', '{"id":"1"}'],
		['telegram', '/bot1:S?chat_id=1', '{"ok":true}'],
		['ntfy', '/topic', '{}'],
		['alertmanager', '/', ''],
	] as const satisfies readonly (readonly [FormatName, string, string])[]) {
		test(`behavior: ${format} gets as many messages as it takes to report every alert in full`, async () => {
			const server = await startHookServer()
			server.answer = () => ({ status: 200, body: answer })
			const receiver = createWebhookReceiver(
				{ type: 'webhook', name: 'hook', url: `${server.origin}${path}`, secret: null, format },
				{ version: '1', clock: lab.clock },
			)
			await lab.store.post(numbers(1, 150).map((number) => alertDeliveryOf(number, {}, { links: undefined as never })))
			await runOut(lab, [receiver])
			const said = server.hits.slice(5).map(({ body }) => String(body))
			const hashes = said.flatMap((body) => [...new Set(body.match(/0x[0-9a-f]{64}/g) ?? [])])
			const expected = numbers(6, 150).map((number) => `0x${number.toString(16).padStart(64, '0')}`)
			expect(hashes.filter((hash) => expected.includes(hash))).toEqual(expected)
			expect(said.every((body) => !body.includes('…"'))).toBe(true)
			expect(said.length).toBeLessThan(format === 'alertmanager' ? 3 : 30)
			expect(said.length).toBeGreaterThan(1)
			await receiver.close()
			await server.close()
		})
	}

	test('behavior: no message holds more than 500 kB', async () => {
		const hook = keeping(lab)
		const tags = Array(60).fill('x'.repeat(400))
		const data = { watch: { address: '0x', label: null, tags, watchlist: 'a.yaml' } }
		await lab.store.post(numbers(1, 100).map((number) => alertDeliveryOf(number, {}, data)))
		await runOut(lab, [hook])
		expect(inside(hook.got)).toEqual(numbers(1, 100).map(idOf))
		// 95 alerts of about 25 kB.
		expect(sizes(hook.got.slice(5)).every((size) => size <= 20 && size > 0)).toBe(true)
		expect(hook.got.slice(5).length).toBe(5)
	})

	test('behavior: a receiver without digests gets each message at once', async () => {
		const hook = keeping(lab, () => fine, {})
		await lab.store.post(numbers(1, 20).map((number) => alertDeliveryOf(number)))
		expect(await delivererOf(lab, [hook]).drainOnce(never)).toEqual({ delivered: 20, failed: 0, held: 0 })
	})

	test('behavior: a single alert left above the limit is sent as an alert, not as a digest of one', async () => {
		const hook = keeping(lab)
		await lab.store.post(numbers(1, 6).map((number) => alertDeliveryOf(number)))
		await runOut(lab, [hook])
		expect(hook.got.at(-1)).toMatchObject({ atMs: minuteMs, id: idOf(6), type: 'alert.transfer', inside: [idOf(6)] })
	})
})

describe('a receiver that asks for time', () => {
	test('behavior: gets nothing that becomes due before that time, from any rank', async () => {
		const hook = keeping(lab, ({ message }) =>
			message.type === 'system.recovered' && lab.nowMs < startMs + 10 * minuteMs
				? {
						result: 'retry',
						code: 'failed',
						reason: 'too many requests',
						afterMs: startMs + 10 * minuteMs - lab.nowMs,
					}
				: fine,
		)
		await lab.store.post(numbers(1, 8).map((number) => alertDeliveryOf(number)))
		// No digest holds it, and it goes out after the alerts.
		const gapEnds = messageOf(systemData({ fromBlock: 3, toBlock: 3 }), 'system.recovered', idOf(9))
		await lab.store.post([deliveryOf(9, { message: gapEnds })])
		await runOut(lab, [hook])
		expect(hook.got.map(({ atMs, type }) => [atMs, type])).toEqual([
			...Array(5).fill([0, 'alert.transfer']),
			[10 * minuteMs, 'alert.digest'],
			[10 * minuteMs, 'system.recovered'],
		])
	})
})

describe('a digest that is refused', () => {
	test('behavior: is taken apart, so that one alert takes no other with it, and the order stays', async () => {
		const poison = idOf(8)
		const hook = keeping(lab, ({ message }) =>
			insideOf(message).includes(poison) ? { result: 'dead', code: 'refused', reason: 'hook answered 422' } : fine,
		)
		await lab.store.post(numbers(1, 30).map((number) => alertDeliveryOf(number)))
		await runOut(lab, [hook])
		expect(inside(hook.got)).toEqual(
			numbers(1, 30)
				.map(idOf)
				.filter((id) => id !== poison),
		)
		expect(await lab.statuses()).toEqual(['8 dead'])
	})

	test('behavior: for a while is tried again as it is, under the same id', async () => {
		const tried: string[] = []
		const hook = keeping(lab, (delivery) => {
			if (delivery.message.type !== 'alert.digest') return fine
			tried.push(delivery.id)
			return tried.length < 4 ? retry : fine
		})
		await lab.store.post(numbers(1, 10).map((number) => alertDeliveryOf(number)))
		await runOut(lab, [hook])
		expect(tried).toHaveLength(4)
		expect(new Set(tried).size).toBe(1)
		expect(inside(hook.got)).toEqual(numbers(1, 10).map(idOf))
	})

	test('behavior: a withdrawal of the refused alert is in no digest until its alert was accepted', async () => {
		let isRefused = true
		const hook = keeping(lab, ({ message }) =>
			isRefused && insideOf(message).includes(idOf(6))
				? { result: 'parked', code: 'refused', reason: 'hook answered 422' }
				: fine,
		)
		const carrying = delivererOf(lab, [hook])
		const minutes = async (count: number) => {
			for (let minute = 0; minute < count; minute += 1) {
				await carrying.drainOnce(never)
				lab.nowMs += minuteMs
			}
		}
		await lab.store.post(numbers(1, 8).map((number) => alertDeliveryOf(number)))
		await minutes(2)
		expect(inside(hook.got).toSorted()).toEqual([1, 2, 3, 4, 5, 7, 8].map(idOf))
		await lab.store.post(numbers(10, 17).map((number) => alertDeliveryOf(number)))
		await lab.store.post([removalOf(20, alertDeliveryOf(6)), alertDeliveryOf(21)])
		await minutes(3)
		expect(inside(hook.got)).toEqual([1, 2, 3, 4, 5, 7, 8, ...numbers(10, 17), 21].map(idOf))
		isRefused = false
		await minutes(20)
		expect(inside(hook.got).slice(-2)).toEqual([6, 20].map(idOf))
		expect(await lab.store.deliveries()).toEqual([])
	})

	test('behavior: given up, each of its alerts goes to the fallback by itself', async () => {
		const hook = keeping(lab, ({ message }) => (message.type === 'alert.digest' ? retry : fine))
		const desk = { ...keeping(lab, () => fine, {}), name: 'desk' }
		await lab.store.post(numbers(1, 9).map((number) => alertDeliveryOf(number)))
		const optionsOf = () => ({ fallback: 'desk', digest: { everyMs: minuteMs, max: 5 } })
		const carrying = delivererOf(lab, [hook, desk], { optionsOf })
		for (let at: number | null = lab.nowMs; at !== null; at = await lab.store.nextDueMs()) {
			lab.nowMs = Math.max(lab.nowMs, at)
			await carrying.drainOnce(never)
			// Held ones are let go at the end of the minute.
			if (lab.nowMs === startMs) lab.nowMs += minuteMs
			if (lab.nowMs === startMs + minuteMs) await carrying.drainOnce(never)
		}
		expect(lab.nowMs).toBe(startMs + minuteMs + 72 * 3_600_000)
		const told = desk.got.map(({ type, message: { data } }) => `${type} ${'state' in data ? data.state : 'alert'}`)
		const trouble = ['system.undelivered failing', 'system.undelivered dead', 'system.recovered failing']
		expect(told).toEqual([...trouble, ...Array(4).fill('alert.transfer alert')])
		expect((await lab.store.deliveries()).map(({ status }) => status)).toEqual(Array(4).fill('dead'))
	})
})
