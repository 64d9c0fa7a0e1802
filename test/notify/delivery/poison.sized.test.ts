/** One message that draws 500 for ever from a receiver that takes all others, over real HTTP. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { digestOf } from '../../../src/core/outbox/digest.js'
import type { Delivery } from '../../../src/model/delivery.js'
import { createDeliverer, type Deliverer } from '../../../src/notify/delivery/deliverer.js'
import { createWebhookReceiver } from '../../../src/notify/webhook/webhook.js'
import { type HookAnswer, type HookServer, startHookServer } from '../../support/hookServer.js'
import { inFull } from '../../support/longRun.js'
import {
	alertDeliveryOf,
	deliveryOf,
	idOf,
	keptLog,
	type LogLine,
	messageOf,
	never,
	removalOf,
	startMs,
	systemData,
} from '../samples.js'
import { ids, scripted, useLab } from './lab.js'

const lab = useLab()
const minute = 60_000
const hour = 60 * minute

let hook: HookServer
let lines: LogLine[]
let deliverer: Deliverer
let poisonous: Set<string>
beforeEach(async () => {
	hook = await startHookServer()
	poisonous = new Set()
	hook.answer = ({ id, body }): HookAnswer =>
		poisonous.has(id) || [...poisonous].some((each) => body.includes(each)) ? 500 : 204
	lines = []
	deliverer = start()
})
afterEach(async () => {
	await deliverer.close()
	await hook.close()
})

function start(): Deliverer {
	const settings = { type: 'webhook', name: 'hook', url: hook.origin, secret: null } as const
	const receivers = [
		createWebhookReceiver(settings, { version: '1.2.3', clock: lab.clock }),
		scripted('mail', undefined, ['a@example.org']),
	]
	const optionsOf = () => ({ digest: null, fallback: 'mail' })
	return createDeliverer({
		store: lab.store,
		clock: lab.clock,
		log: keptLog(lines),
		receivers,
		optionsOf,
		random: () => 0.5,
	})
}

/** All that falls due until then. */
async function passUntil(untilMs: number): Promise<void> {
	for (;;) {
		const nextMs = await lab.store.nextDueMs()
		if (nextMs === null || nextMs > untilMs) break
		lab.nowMs = Math.max(lab.nowMs, nextMs)
		await deliverer.drainOnce(never)
	}
	lab.nowMs = untilMs
}

const taken = () => hook.hits.map(({ id }) => id).filter((id) => !poisonous.has(id))
const tries = (number: number) => hook.hits.filter(({ id }) => id === idOf(number)).length
const post = (...deliveries: readonly Delivery[]) => lab.store.post(deliveries)
const numbered = (...numbers: readonly number[]) => numbers.map((number) => alertDeliveryOf(number))

describe('a message at which the receiver fails', () => {
	test('default: holds up the others for minutes, is then retried alone, and given up after 72 hours', async () => {
		poisonous.add(idOf(1))
		await post(...numbered(1, 2, 3))
		await passUntil(startMs + 30_000)
		expect(taken()).toEqual([])
		await passUntil(startMs + 5 * minute)
		expect(taken()).toEqual(ids(2, 3))
		expect(lines.map(({ level, message }) => `${level} ${message}`)).toContain(
			'warn a receiver refuses one message and accepts others: that one is retried separately, out of order',
		)
		expect((await lab.store.summary()).receivers.get('hook')).toMatchObject({
			pending: 1,
			quarantined: 1,
			delivered: 2,
		})
		// What comes later waits for nothing, neither now nor after a kill.
		await post(...numbered(4))
		await passUntil(lab.nowMs)
		expect(taken()).toEqual(ids(2, 3, 4))
		await lab.reopen()
		await deliverer.close()
		deliverer = start()
		await post(...numbered(5))
		await passUntil(lab.nowMs)
		expect(taken()).toEqual(ids(2, 3, 4, 5))
		const before = tries(1)
		await passUntil(startMs + 72 * hour)
		expect(tries(1) - before).toBeGreaterThan(72)
		await passUntil(startMs + 72 * hour + 1)
		expect((await lab.store.deliveries()).map(({ id, status, lastErrorCode }) => [id, status, lastErrorCode])).toEqual([
			[idOf(1), 'dead', 'expired'],
		])
		expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1)
	})

	test('default: is taken at last when the receiver has learnt it, and that is in the log', async () => {
		poisonous.add(idOf(1))
		await post(...numbered(1, 2))
		await passUntil(startMs + 10 * minute)
		poisonous.clear()
		await passUntil(startMs + 2 * hour)
		expect(await lab.statuses()).toEqual([])
		expect(lines.map(({ message }) => message)).toContain('the receiver accepted a message that was retried separately')
	})

	test('behavior: holds up no one where it is always answered with Retry-After, which is heeded', async () => {
		hook.answer = ({ id }) => (poisonous.has(id) ? { status: 503, headers: { 'retry-after': '1200' } } : 204)
		poisonous.add(idOf(1))
		poisonous.add(idOf(2))
		await post(...numbered(1, 2, 3, 4))
		await passUntil(startMs + 80 * minute)
		expect(taken()).toEqual([])
		await passUntil(startMs + 3 * hour)
		expect(taken()).toEqual(ids(3, 4))
		expect((await lab.store.summary()).receivers.get('hook')).toMatchObject({
			pending: 2,
			quarantined: 2,
			delivered: 2,
		})
		const asides = await lab.store.quarantined({ receiver: 'hook', recipient: null })
		for (const { nextAttemptAtMs } of asides) expect(nextAttemptAtMs).toBeGreaterThan(lab.nowMs)
		const before = hook.hits.length
		await post(...numbered(5))
		await passUntil(lab.nowMs)
		expect(hook.hits.slice(before).map(({ id }) => id)).toEqual(ids(5))
		// Each is asked for three times an hour, and no more.
		await passUntil(lab.nowMs + 2 * hour)
		expect(hook.hits.length - before).toBeLessThanOrEqual(1 + 2 * 7)
	})

	test('behavior: its retraction and its return wait for it, and nothing else does', async () => {
		poisonous.add(idOf(1))
		const [alert] = numbered(1)
		if (alert === undefined) throw new Error('no alert')
		const back = { ...alertDeliveryOf(1), id: idOf(3), message: { ...alert.message } }
		await post(alert, removalOf(2, alert), back, ...numbered(4))
		await passUntil(startMs + 20 * minute)
		expect(taken()).toEqual(ids(4))
		await lab.reopen()
		await deliverer.close()
		deliverer = start()
		await passUntil(lab.nowMs + 3 * hour)
		expect(taken()).toEqual(ids(4))
		poisonous.clear()
		await passUntil(lab.nowMs + 3 * hour)
		expect(await lab.statuses()).toEqual([])
		expect(hook.hits.map(({ id }) => id).slice(-3)).toEqual(ids(1, 2, 3))
	})
})

describe('a receiver that fails at all', () => {
	test('default: none is set aside, none counts an attempt that said nothing of it, and order holds', async () => {
		hook.answer = () => 503
		await post(...numbered(1, 2, 3, 4))
		await passUntil(startMs + 12 * hour)
		const [first, ...others] = await lab.store.deliveries()
		expect(first?.lastErrorCode).toBe('server-failed')
		expect(others).toEqual(numbered(2, 3, 4))
		// Each time the first is due, and then three more from the sixth on.
		expect(tries(2)).toBe(tries(1) - 5)
		const before = hook.hits.length
		hook.answer = () => 204
		await passUntil(startMs + 14 * hour)
		expect(hook.hits.slice(before).map(({ id }) => id)).toEqual(ids(1, 2, 3, 4))
	})

	test('behavior: one that comes back between two attempts gets what failed a second later', async () => {
		let isBack = false
		hook.answer = ({ id }) => {
			if (id === idOf(3)) isBack = true
			return isBack ? 204 : 500
		}
		await post(...numbered(1, 2, 3))
		await passUntil(startMs + 5 * minute)
		expect(await lab.statuses()).toEqual([])
		const at = (number: number) => hook.hits.findLast(({ id }) => id === idOf(number))?.index ?? -1
		expect([at(3), at(1), at(2)]).toEqual([hook.hits.length - 3, hook.hits.length - 2, hook.hits.length - 1])
	})

	test('behavior: who asks to be left alone is asked for one more each time, and no attempt is counted', async () => {
		hook.answer = () => ({ status: 429, headers: { 'retry-after': '60' } })
		await post(...numbered(...Array.from({ length: 40 }, (_, at) => at + 1)))
		await passUntil(startMs + 6 * hour)
		const rounds = tries(1) - 5
		expect(rounds).toBeGreaterThan(6)
		// One behind it in the first round, two in the second, and so on; twelve at most.
		expect(hook.hits.length - tries(1)).toBe(
			Array.from({ length: rounds }, (_, at) => Math.min(12, at + 1)).reduce((sum, each) => sum + each, 0),
		)
		expect((await lab.store.deliveries()).slice(1)).toEqual(numbered(...Array.from({ length: 39 }, (_, at) => at + 2)))
		const before = hook.hits.length
		hook.answer = () => 204
		await passUntil(startMs + 8 * hour)
		expect(hook.hits.slice(before).map(({ id }) => id)).toEqual(ids(...Array.from({ length: 40 }, (_, at) => at + 1)))
	})
})

inFull(() => {
	test('behavior: more than one in a row, and one after another: a stranger can make as many as he likes', async () => {
		for (let number = 1; number <= 12; number += 1) poisonous.add(idOf(number))
		await post(...numbered(...Array.from({ length: 13 }, (_, at) => at + 1)))
		await passUntil(startMs + 10 * minute)
		expect(taken()).toEqual(ids(13))
		for (let number = 20; number < 40; number += 1) {
			if (number % 2 === 0) poisonous.add(idOf(number))
			await post(...numbered(number))
		}
		// Where one is set aside already, others are sent of seconds later.
		await passUntil(lab.nowMs + 2 * minute)
		expect(taken()).toEqual(ids(13, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39))
		expect((await lab.store.summary()).receivers.get('hook')).toMatchObject({ pending: 22, quarantined: 22 })
	})

	test('behavior: the end of a stall does not overtake its beginning', async () => {
		poisonous.add(idOf(1))
		const stall = (number: number, type: 'system.stalled' | 'system.recovered') =>
			deliveryOf(number, {
				message: messageOf(systemData({ id: `1:${type.replace('.', '_')}:ethereum:7` }), type, idOf(number)),
			})
		await post(stall(1, 'system.stalled'), stall(2, 'system.recovered'), ...numbered(3))
		await passUntil(startMs + 20 * minute)
		expect(taken()).toEqual(ids(3))
		poisonous.clear()
		await passUntil(lab.nowMs + 3 * hour)
		expect(hook.hits.slice(-2).map(({ id }) => id)).toEqual(ids(1, 2))
	})

	test('behavior: of a digest only that alert is held up', async () => {
		const members = numbered(1, 2, 3)
		const digest = digestOf(members, startMs, (text) => Buffer.from(text).toString('hex'))
		const txHash = `0x${'2'.padStart(64, '0')}`
		poisonous.add(txHash)
		await post(digest, ...numbered(4))
		await passUntil(startMs + 30 * minute)
		expect(new Set(hook.hits.filter(({ body }) => !body.includes(txHash)).map(({ id }) => id))).toEqual(
			new Set(ids(1, 3, 4)),
		)
		expect((await lab.store.deliveries()).map(({ id }) => id)).toEqual(ids(2))
	})

	test('behavior: a mail server is shown at most 13 mails while it refuses all', async () => {
		const mail = scripted('mail', () => ({ result: 'retry', code: 'later', reason: 'greylisted' }), ['a@example.org'])
		const own = { store: lab.store, clock: lab.clock, log: keptLog(), receivers: [mail], random: () => 0.5 }
		await deliverer.close()
		deliverer = createDeliverer(own)
		await post(
			...Array.from({ length: 40 }, (_, at) => ({
				...alertDeliveryOf(at + 1),
				receiver: 'mail',
				recipient: 'a@example.org',
			})),
		)
		// The first, and at most 12 behind it, once it has failed five times.
		const shown = async (untilMs: number) => {
			await passUntil(untilMs)
			return new Set(mail.got)
		}
		expect(await shown(startMs + 30_000)).toEqual(new Set(ids(1)))
		const few = new Set(ids(...Array.from({ length: 13 }, (_, at) => at + 1)))
		expect(await shown(startMs + 5 * minute)).toEqual(few)
		expect(await shown(startMs + 12 * hour)).toEqual(few)
	})

	test('behavior: a receiver that has to be fixed in between parks none that was not first', async () => {
		hook.answer = ({ id }) => (id === idOf(1) ? 500 : 401)
		await post(...numbered(1, 2, 3))
		await passUntil(startMs + 2 * hour)
		expect(await lab.statuses()).toEqual(['1 pending', '2 pending', '3 pending'])
	})
})
