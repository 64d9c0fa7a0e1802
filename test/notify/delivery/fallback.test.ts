import { describe, expect, test } from 'vitest'
import type { Alert, AlertData } from '../../../src/model/alert.js'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { Receiver } from '../../../src/model/ports.js'
import type { Announcement as Stated } from '../../../src/model/state.js'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { createEmailReceiver } from '../../../src/notify/email/email.js'
import { createWebhookReceiver } from '../../../src/notify/webhook/webhook.js'
import { startHookServer } from '../../support/hookServer.js'
import { startMailServer } from '../../support/mailServer.js'
import { silent } from '../../support/silent.js'
import { alertData, alertDeliveryOf, deliveryOf, idOf, keptLog, messageOf, never, removalOf } from '../samples.js'
import { ids, retry, type Scripted, scripted, useLab } from './lab.js'

const lab = useLab()
const goneReason = 'hook.example answered 410: removed (“number 7”)'
const gone: Outcome = { result: 'parked', code: 'refused', reason: goneReason }
const refused: Outcome = { result: 'dead', code: 'no-recipient', reason: 'the delivery names no recipient' }
const fine: Outcome = { result: 'delivered' }

interface Announcement {
	readonly id: string
	readonly message: Delivery['message']
}

/** A receiver that keeps the messages, too. */
function keeping(
	name: string,
	recipients: readonly string[] | null = null,
): Scripted & { readonly told: Announcement[] } {
	const told: Announcement[] = []
	const receiver = scripted(
		name,
		({ id, message }) => {
			told.push({ id, message })
			return fine
		},
		recipients,
	)
	return Object.assign(receiver, { told })
}

const words = (told: readonly Announcement[]) => told.map(({ message }) => message.type)

function deliverer(receivers: readonly Receiver[], fallbacks: Readonly<Record<string, string>>) {
	return createDeliverer({
		...{ store: lab.store, clock: lab.clock, log: keptLog(), receivers },
		optionsOf: (name) => ({ fallback: fallbacks[name] ?? null, digest: null }),
		random: () => 0.5,
	})
}

describe('the fallback of a receiver', () => {
	test('default: is reported once that it accepts nothing, with how many wait and why', async () => {
		const hook = scripted('hook', () => gone)
		const desk = keeping('desk')
		await lab.store.post([1, 2, 3].map((number) => alertDeliveryOf(number)))
		await deliverer([hook, desk], { hook: 'desk' }).drainOnce(never)
		expect(words(desk.told).toSorted()).toEqual([...Array(3).fill('alert.transfer'), 'system.undelivered'])
		expect(desk.told[0]?.message).toMatchObject({
			type: 'system.undelivered',
			data: { receiver: 'hook', recipient: null, state: 'parked', count: 3, reason: goneReason },
		})
		expect(desk.told[0]?.message.data.deliveryId).toBe(desk.told[0]?.id)
	})

	test('behavior: is sent once, restart or not, until all that was refused is delivered', async () => {
		const broken: { now: Outcome } = { now: gone }
		const hook = scripted('hook', () => broken.now)
		const desk = keeping('desk')
		const drain = async () => {
			await deliverer([hook, desk], { hook: 'desk' }).drainOnce(never)
		}
		const reports = () => desk.told.filter(({ message }) => message.type === 'system.undelivered')
		await lab.store.post([alertDeliveryOf(1)])
		await drain()
		for (let hour = 0; hour < 5; hour += 1) {
			lab.nowMs += 3_600_000
			// Neither other words nor another cause are news while it lasts.
			broken.now = { result: 'parked', code: hour < 3 ? 'refused' : 'login-refused', reason: `${hour} ${goneReason}` }
			await lab.store.post([alertDeliveryOf(10 + hour)])
			await drain()
		}
		expect(hook.got.length).toBeGreaterThan(5)
		expect(reports()).toHaveLength(1)
		broken.now = fine
		for (const _ of [1, 2, 3]) {
			lab.nowMs += 3_600_000
			await drain()
		}
		expect(await lab.statuses()).toEqual([])
		broken.now = gone
		await lab.store.post([alertDeliveryOf(20)])
		await drain()
		expect(reports()).toHaveLength(2)
		expect(reports()[0]?.id).not.toBe(reports()[1]?.id)
		const instead = desk.told.filter(({ message }) => message.data.insteadOf === 'hook')
		expect(instead).toHaveLength(7)
	})

	test('default: gets each alert that is refused for good, by itself, and one word about it', async () => {
		const hook = scripted('hook', ({ id }) => (id === idOf(2) ? fine : refused))
		const desk = keeping('desk', ['a@example.org', 'b@example.org'])
		await lab.store.post([1, 2, 3].map((number) => deliveryOf(number)))
		await lab.store.post([
			deliveryOf(4, { message: messageOf(alertData(), 'alert.removed', idOf(4)), answers: idOf(1) }),
		])
		await deliverer([hook, desk], { hook: 'desk' }).drainOnce(never)
		expect(hook.got).toEqual(ids(1, 2, 3, 4))
		const types = ['system.undelivered', 'alert.transfer', 'alert.transfer', 'alert.removed']
		expect(words(desk.told).toSorted()).toEqual([...types, ...types].toSorted())
		for (const { id, message } of desk.told) expect(message.data.deliveryId).toBe(id)
		const instead = desk.told.filter(({ message }) => message.type !== 'system.undelivered')
		for (const { message } of instead) {
			const { deliveryId: _, insteadOf, ...data } = message.data
			expect([insteadOf, data]).toEqual(['hook', alertData()])
		}
		expect(new Set(desk.got).size).toBe(8)
		expect(await lab.statuses()).toEqual(['1 dead', '3 dead', '4 dead'])
	})

	test('behavior: a withdrawal reported instead answers the alert reported instead', async () => {
		const desk: Delivery[] = []
		const receiver = scripted('desk', (delivery) => {
			desk.push(delivery)
			return fine
		})
		await lab.store.post([
			deliveryOf(1),
			deliveryOf(2, { message: messageOf(alertData(), 'alert.removed', idOf(2)), answers: idOf(1) }),
		])
		await deliverer([scripted('hook', () => refused), receiver], { hook: 'desk' }).drainOnce(never)
		const [alert, removal] = desk.filter(({ message }) => message.type !== 'system.undelivered')
		expect(removal?.answers).toBe(alert?.id)
	})

	test.each([
		['waits for another attempt', 5],
		['is dead', 90],
	])(
		'behavior: the retraction of an alert that is refused alone and %s: its fallback gets both, once each',
		async (_, minutes) => {
			const refusal: Outcome = { result: 'parked', code: 'refused', reason: '400' }
			const hook = scripted('hook', ({ id }) => (id === idOf(1) ? refusal : fine))
			const desk = keeping('desk')
			const all = deliverer([hook, desk], { hook: 'desk' })
			const alert = alertDeliveryOf(1)
			await lab.store.post([alert])
			for (let at = 0; at < 110; at += 1) {
				await lab.store.post([alertDeliveryOf(100 + at), ...(at === minutes ? [removalOf(2, alert)] : [])])
				await all.drainOnce(never)
				lab.nowMs += 60_000
			}
			expect(hook.got).toContain(idOf(2))
			expect(await lab.statuses()).toEqual(['1 dead'])
			const instead = desk.told.filter(({ message }) => message.type !== 'system.undelivered')
			expect(instead.map(({ message: { type, data } }) => [type, data.id, data.insteadOf])).toEqual(
				['alert.transfer', 'alert.removed'].map((type) => [type, alert.message.data.id, 'hook']),
			)
		},
	)

	test('behavior: an alert is retracted after its receiver took it late: its fallback gets that, too', async () => {
		const answer: { now: Outcome } = { now: gone }
		const [hook, desk] = [scripted('hook', () => answer.now), keeping('desk')]
		const all = deliverer([hook, desk], { hook: 'desk' })
		const alerts = [1, 2, 3].map((number) => alertDeliveryOf(number))
		const block = { number: 5n, hash: alertData().blockHash }
		const announcements = alerts.map(({ message: { data } }): Stated => {
			const alert: Alert = { type: 'alert.transfer', data: data as AlertData, receivers: ['hook'] }
			return { id: alert.data.id, block, txHash: alert.data.txHash, alerts: [alert], status: 'announced', revision: 0 }
		})
		const of = { network: 'ethereum', chainId: 1 }
		await lab.store.commit({ ...of, checkpoint: block, announcements, deliveries: alerts })
		await all.drainOnce(never)
		answer.now = fine
		for (let hour = 0; hour < 3; hour += 1) {
			lab.nowMs += 3_600_000
			await all.drainOnce(never)
		}
		expect(await lab.statuses()).toEqual([])
		await lab.reopen()
		// As the look saw it before: what came of the deliveries meanwhile is not lost.
		const left = announcements.slice(0, 1).map((one) => ({ ...one, status: 'retracted', revision: 1 }) as const)
		const posted = alerts.slice(0, 1).map((alert) => removalOf(9, alert))
		await lab.store.commit({ ...of, announcements: left, forgetTo: 5n, deliveries: posted })
		await deliverer([hook, desk], { hook: 'desk' }).drainOnce(never)
		expect(hook.got.at(-1)).toBe(idOf(9))
		const retracted = desk.told.filter(({ message }) => message.type === 'alert.removed')
		expect(retracted.map(({ message: { data } }) => [data.id, data.insteadOf])).toEqual([[left[0]?.id, 'hook']])
	})

	test.each([
		['refuse', gone],
		['give up', refused],
	])(
		'behavior: a receiver and its fallback %s: the fallback of that one gets the alert once, and one report',
		async (_, outcome) => {
			const [hook, desk, last] = [scripted('hook', () => outcome), scripted('desk', () => outcome), keeping('last')]
			await lab.store.post([deliveryOf(1)])
			const all = deliverer([hook, desk, last], { hook: 'desk', desk: 'last', last: 'hook' })
			for (let round = 0; round < 5; round++) {
				await all.drainOnce(never)
				lab.nowMs += 600_000
			}
			expect(last.told.map(({ message: { type, data } }) => [type, data.insteadOf]).toSorted()).toEqual([
				['alert.transfer', 'hook'],
				['system.undelivered', undefined],
			])
			const report = last.told.find(({ message }) => message.type === 'system.undelivered')
			expect(report?.message.data).toMatchObject({ receiver: 'desk', reason: outcome.reason })
		},
	)

	test.each([
		['', false],
		[', also when the alert is forgotten meanwhile', true],
	])('behavior: a retraction goes past a fallback that works again%s', async (_, isForgotten) => {
		const answer: { now: Outcome } = { now: gone }
		const [hook, desk] = ['hook', 'desk'].map((name) => scripted(name, () => answer.now)) as [Scripted, Scripted]
		const last = keeping('last')
		const all = deliverer([hook, desk, last], { hook: 'desk', desk: 'last' })
		const alert = alertDeliveryOf(1)
		const data = alert.message.data as AlertData
		const block = { number: 5n, hash: data.blockHash }
		const alerts: readonly Alert[] = [{ type: 'alert.transfer', data, receivers: ['hook'] }]
		const entry: Stated = { id: data.id, block, txHash: data.txHash, alerts, status: 'announced', revision: 0 }
		const of = { network: 'ethereum', chainId: 1 }
		await lab.store.commit({ ...of, checkpoint: block, announcements: [entry], deliveries: [alert] })
		await all.drainOnce(never)
		answer.now = fine
		lab.nowMs += 3_600_000
		await all.drainOnce(never)
		expect(await lab.statuses()).toEqual([])
		const retracted = { ...entry, status: 'retracted', revision: 1 } as const
		answer.now = isForgotten ? retry : fine
		await lab.store.commit({ ...of, announcements: [retracted], deliveries: [removalOf(9, alert)] })
		await all.drainOnce(never)
		const later = { number: 1_000n, hash: data.blockHash }
		if (isForgotten) await lab.store.commit({ ...of, checkpoint: later, forgetTo: 5n })
		answer.now = fine
		lab.nowMs += 600_000
		for (let times = 0; times < 2; times++) await all.drainOnce(never)
		const instead = last.told.filter(({ message }) => message.data.insteadOf === 'hook')
		expect(words(instead)).toEqual(['alert.transfer', 'alert.removed'])
	})

	test('behavior: two that name each other, each refusing at first: the reports of it come to an end', async () => {
		const atFirst = (name: string) => {
			const seen = new Set<string>()
			return scripted(name, ({ id }) => {
				const isFirst = !seen.has(id)
				seen.add(id)
				return isFirst ? gone : fine
			})
		}
		const [hook, desk] = [atFirst('hook'), atFirst('desk')]
		await lab.store.post([alertDeliveryOf(1)])
		const both = deliverer([hook, desk], { hook: 'desk', desk: 'hook' })
		const attempts: number[] = []
		for (let round = 0; round < 30; round++) {
			await both.drainOnce(never)
			lab.nowMs += 600_000
			attempts.push(hook.got.length + desk.got.length)
		}
		expect(await lab.statuses()).toEqual([])
		expect(new Set(attempts.slice(10)).size).toBe(1)
	})

	test('behavior: two that name each other and give up reports: once dropped, none come again', async () => {
		const isBad = ({ id, message }: Delivery) => id === idOf(1) || message.type.startsWith('system')
		const picky = (name: string) => scripted(name, (delivery) => (isBad(delivery) ? refused : fine))
		const [hook, desk] = [picky('hook'), picky('desk')]
		const both = deliverer([hook, desk], { hook: 'desk', desk: 'hook' })
		await lab.store.post([alertDeliveryOf(1)])
		const left: number[] = []
		for (let round = 0; round < 4; round++) {
			for (let times = 0; times < 4; times++) {
				await both.drainOnce(never)
				lab.nowMs += 600_000
			}
			const dead = await lab.store.deliveries('dead')
			left.push(dead.length)
			await lab.store.drop(dead.map(({ id }) => id))
		}
		expect(left[3]).toBe(0)
	})

	test('behavior: of several mailboxes along two fallbacks one goes on, so that copies do not multiply', async () => {
		const mailboxes = (name: string) => [1, 2, 3].map((n) => `${name}${n}@example.org`)
		const refusing = (name: string) => scripted(name, () => gone, mailboxes(name))
		const [hook, desk] = [refusing('hook'), refusing('desk')]
		const last = keeping('last', mailboxes('last'))
		await lab.store.post(mailboxes('hook').map((recipient, at) => alertDeliveryOf(at, { recipient })))
		const all = deliverer([hook, desk, last], { hook: 'desk', desk: 'last' })
		for (let round = 0; round < 6; round++) {
			await all.drainOnce(never)
			lab.nowMs += 600_000
		}
		// From each of three copies of the first hop.
		expect(last.told.filter(({ message }) => message.type === 'alert.transfer')).toHaveLength(9)
	})

	test('behavior: two that name each other, both refusing: one report each, and no alert goes back', async () => {
		const [hook, desk] = [scripted('hook', () => gone), scripted('desk', () => gone)]
		await lab.store.post([1, 2].map((number) => alertDeliveryOf(number)))
		const both = deliverer([hook, desk], { hook: 'desk', desk: 'hook' })
		for (let round = 0; round < 5; round++) await both.drainOnce(never)
		const posted = await lab.store.deliveries()
		const reports = posted.filter(({ message }) => message.type === 'system.undelivered')
		expect(reports.map(({ receiver }) => receiver)).toEqual(['desk', 'hook'])
		// The two alerts, and each instead.
		expect(posted.length - reports.length).toBe(4)
	})

	test.each([
		['refuse everything', gone, 4],
		['give up everything', refused, 4],
	])(
		'behavior: a circle of three that %s: each learns of one other, and no alert comes back',
		async (_, outcome, each) => {
			const names = ['hook', 'desk', 'pager']
			const circle = { hook: 'desk', desk: 'pager', pager: 'hook' }
			const receivers = names.map((name) => scripted(name, () => outcome))
			await lab.store.post(names.map((receiver, at) => deliveryOf(at + 1, { receiver })))
			const all = deliverer(receivers, circle)
			for (let round = 0; round < 10; round++) {
				lab.nowMs += 60_000
				await all.drainOnce(never)
			}
			// Its own alert, those of the two others, and the report on the one before it.
			const posted = await lab.store.deliveries()
			expect(names.map((name) => posted.filter(({ receiver }) => receiver === name).length)).toEqual([each, each, each])
		},
	)

	test('behavior: a circle of three that fail for hours: each learns once of the one before it', async () => {
		const names = ['hook', 'desk', 'pager']
		const circle: Readonly<Record<string, string>> = { hook: 'desk', desk: 'pager', pager: 'hook' }
		const all = createDeliverer({
			...{ store: lab.store, clock: lab.clock, steady: lab.clock, log: silent, random: () => 0.5 },
			receivers: names.map((name) => scripted(name, () => retry)),
			optionsOf: (name) => ({ fallback: circle[name] ?? null, digest: null }),
		})
		await lab.store.post([deliveryOf(1)])
		for (let round = 0; round < 40; round++) {
			lab.nowMs += 10 * 60_000
			await lab.store.retry(
				(await lab.store.deliveries('pending')).map(({ id }) => id),
				lab.nowMs,
			)
			await all.drainOnce(never)
		}
		const posted = await lab.store.deliveries()
		const reports = posted.filter(({ message }) => message.type === 'system.undelivered')
		expect(posted.length - reports.length).toBe(1)
		expect(reports.map(({ receiver, message }) => [receiver, (message.data as { receiver: string }).receiver])).toEqual(
			[
				['desk', 'hook'],
				['pager', 'desk'],
				['hook', 'pager'],
			],
		)
	})

	test('behavior: of two mailboxes one refuses, one is full: the report counts what waits for the first', async () => {
		const to = ['full@example.org', 'bad@example.org']
		const mail = scripted('mail', (one) => (one.recipient === 'bad@example.org' ? gone : retry), to)
		const desk = keeping('desk')
		const ofBoth = (at: number) =>
			to.map((recipient, of) => alertDeliveryOf(2 * at + of, { receiver: 'mail', recipient }))
		await lab.store.post([1, 2].flatMap(ofBoth))
		await deliverer([mail, desk], { mail: 'desk' }).drainOnce(never)
		const [report] = desk.told.filter(({ message }) => message.type === 'system.undelivered')
		expect(report?.message.data).toMatchObject({ receiver: 'mail', recipient: 'bad@example.org', count: 2 })
	})

	test('behavior: mails whose login is refused: one word to a webhook, however many recipients', async () => {
		const servers = {
			mail: await startMailServer({ login: { user: 'me', pass: 'right' }, loginInClear: true }),
			hook: await startHookServer(),
		}
		const to = ['a@example.org', 'b@example.org', 'c@example.org']
		const receivers = [
			createEmailReceiver({
				type: 'email',
				name: 'mail',
				smtp: `smtp://me:WRONGSECRET@${servers.mail.host}`,
				from: 'x@example.org',
				to,
			}),
			createWebhookReceiver(
				{ type: 'webhook', name: 'hook', url: servers.hook.origin, secret: null },
				{ version: '1', clock: lab.clock },
			),
		]
		await lab.store.post(to.flatMap((recipient, at) => [deliveryOf(at, { receiver: 'mail', recipient })]))
		const carrying = deliverer(receivers, { mail: 'hook' })
		await carrying.drainOnce(never)
		await carrying.close()
		const bodies = servers.hook.hits.map(({ body }) => JSON.parse(String(body)))
		const reports = bodies.filter((one) => one.type === 'system.undelivered')
		expect([reports.length, bodies.length]).toEqual([1, 4])
		const { type, data } = reports[0]
		expect([type, data.receiver, data.state, data.count]).toEqual(['system.undelivered', 'mail', 'parked', 3])
		expect(data.reason).toContain('the credentials were refused')
		expect(JSON.stringify(data)).not.toContain('WRONGSECRET')
		await servers.mail.close()
		await servers.hook.close()
	})
})

test.each([
	['five minutes', 2, 5 * 60_000],
	['twenty attempts', 19, 1],
])(
	'behavior: without a fallback, a receiver that fails for %s: the state says so until it accepts',
	async (_, tries, ms) => {
		const answer: { now: Outcome } = { now: retry }
		const hook = scripted('hook', () => answer.now)
		const again = async () => {
			await lab.store.retry([idOf(1)], lab.nowMs)
			await deliverer([hook], {}).drainOnce(never)
		}
		await lab.store.post([deliveryOf(1)])
		for (let tried = 1; tried < tries; tried++) await again()
		const begun = { kind: 'undelivered', receiver: 'hook', state: 'failing', receivers: [] }
		lab.nowMs += ms - 1
		await again()
		expect(lab.store.troubles().open).toMatchObject([{ ...begun, announced: false }])
		lab.nowMs += 1
		await again()
		expect(lab.store.troubles().open).toMatchObject([{ ...begun, announced: true }])
		expect((await lab.store.summary()).receivers.get('hook')).toMatchObject({
			pending: 1,
			failure: 'host answered 503',
		})
		answer.now = fine
		await again()
		await again()
		expect(lab.store.troubles().open).toEqual([])
		expect(await lab.statuses()).toEqual([])
	},
)
