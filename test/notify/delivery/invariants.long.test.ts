// What delivery promises, over real HTTP and SMTP, with a state on disk. The clock moves by hand.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.js'
import type { Store } from '../../../src/model/ports.js'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { createEmailReceiver } from '../../../src/notify/email/email.js'
import { createWebhookReceiver } from '../../../src/notify/webhook/webhook.js'
import { type HookAnswer, resetConnection, startHookServer } from '../../support/hookServer.js'
import { startMailServer } from '../../support/mailServer.js'
import { alertDeliveryOf, idOf, keptLog, never, removalOf, startMs } from '../samples.js'
import { ids, useLab } from './lab.js'

const lab = useLab()
const second = 1_000
const minute = 60 * second
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const minutesIn = () => (lab.nowMs - startMs) / minute

/** A webhook receiver that answers 204 but where `answer` says otherwise; what it accepted, in order. */
async function site(answer: (id: string) => HookAnswer | null) {
	const hook = await startHookServer()
	onTestFinished(() => hook.close())
	const accepted: string[] = []
	hook.answer = ({ id }) => {
		const other = answer(id)
		if (other === null) accepted.push(id)
		return other ?? 204
	}
	const settings = { type: 'webhook', name: 'hook', url: hook.origin, secret: null } as const
	const receiver = createWebhookReceiver(settings, { version: '1', clock: lab.clock })
	return { accepted, ...driven(receiver) }
}

function driven(receiver: Parameters<typeof createDeliverer>[0]['receivers'][number]) {
	const open = () =>
		createDeliverer({ store: lab.store, clock: lab.clock, log: keptLog(), receivers: [receiver], random: () => 0.5 })
	let deliverer = open()
	onTestFinished(() => deliverer.close())
	return {
		/** Sends what is due, every so often, until then. */
		async pass(untilMs: number, stepMs = minute, each: () => Promise<void> = async () => undefined) {
			while (lab.nowMs < untilMs) {
				lab.nowMs += stepMs
				await each()
				await deliverer.drainOnce(never)
			}
		},
		async restart() {
			await lab.reopen()
			deliverer = open()
		},
	}
}

const post = (...deliveries: readonly Delivery[]) => lab.store.post(deliveries)
const numbered = (...all: readonly number[]) => all.map((number) => alertDeliveryOf(number))
const dead = async () => (await lab.store.deliveries('dead')).map(({ id }) => id)

describe('a queue', () => {
	test('default: a receiver that fails four times: everything arrives in order of rank, then of posting', async () => {
		let failures = 0
		const { accepted, pass } = await site(() => (failures++ < 4 ? 503 : null))
		await post(...numbered(1, 2, 3), alertDeliveryOf(9, {}, { direction: 'out' }), ...numbered(4))
		await pass(startMs + 20 * minute, 20 * second)
		expect(accepted).toEqual(ids(9, 1, 2, 3, 4))
	})

	test.each([
		['fails', 500],
		['is refused', 400],
	])(
		'behavior: an alert that %s for hours: its retraction waits for it, over a restart, others do not',
		async (_, status) => {
			let isOver = false
			const { accepted, pass, restart } = await site((id) => (id === idOf(1) && !isOver ? status : null))
			const [alert, ...others] = numbered(1, 3, 4)
			if (alert === undefined) throw new Error('no alert')
			await post(alert, removalOf(2, alert), ...others)
			await pass(startMs + 20 * minute)
			expect(accepted).toEqual(ids(3, 4))
			await restart()
			await pass(startMs + 50 * minute)
			expect(accepted).toEqual(ids(3, 4))
			isOver = true
			await post(...numbered(5))
			await pass(startMs + 180 * minute)
			expect(accepted.filter((id) => id === idOf(1) || id === idOf(2))).toEqual(ids(1, 2))
			expect(await lab.store.deliveries()).toEqual([])
		},
	)

	test.each([
		[400, 12],
		[500, 1],
	])('behavior: an answer of %d for ever to some messages, %d of them: the others go on', async (status, bad) => {
		const isBad = (id: string) => Number(`0x${id.slice(-8)}`) <= bad
		const { accepted, pass } = await site((id) => (isBad(id) ? status : null))
		await post(...numbered(...numbers(1, bad)))
		let next = 1_000
		const posted: string[] = []
		await pass(startMs + (90 + bad) * minute, minute, async () => {
			posted.push(idOf(next))
			await post(...numbered(next++))
		})
		// What was posted in the last minutes may be on its way.
		expect(posted.slice(0, -10).filter((id) => !accepted.includes(id))).toEqual([])
		expect((await dead()).every(isBad)).toBe(true)
		if (status === 400) expect((await dead()).toSorted()).toEqual(ids(...numbers(1, bad)).toSorted())
	})
})

describe('a mail server whose quota is full', () => {
	test.each([
		[12, 60],
		[5, 0.8],
	])(
		'behavior: %d mails are refused for %d minutes: none is dead, all go out with the next probe',
		async (count, minutes) => {
			const mail = await startMailServer()
			onTestFinished(() => mail.close())
			const isFull = () => minutesIn() < minutes
			mail.answer = (phase) => (phase === 'data' && isFull() ? '550 5.4.5 Daily user sending limit exceeded' : null)
			const to = 'a@example.org'
			const receiver = createEmailReceiver({
				...{ type: 'email', name: 'mail', smtp: `smtp://${mail.host}`, from: 'x@example.org', to: [to] },
			})
			const { pass } = driven(receiver)
			const deliveries = numbered(...numbers(1, count)).map((one) => ({ ...one, receiver: 'mail', recipient: to }))
			await post(...deliveries)
			await pass(startMs + (minutes + (minutes < 1 ? 2 : 16)) * minute, 6 * second * (minutes < 1 ? 1 : 10))
			expect(await lab.store.deliveries()).toEqual([])
			const arrived = mail.mails.filter(({ acknowledged }) => acknowledged).map(({ messageId }) => messageId)
			expect(arrived.toSorted()).toEqual(deliveries.map(({ id }) => `<${id}@example.org>`).toSorted())
		},
	)
})

test('behavior: after ten hours in which every connection was cut, the queue drains within five minutes', async () => {
	const { accepted, pass } = await site(() => (minutesIn() < 600 ? resetConnection : null))
	let next = 1
	const posted: string[] = []
	await pass(startMs + 598 * minute, 2 * minute, async () => {
		if (next > 60) return
		posted.push(idOf(next))
		await post(...numbered(next++))
	})
	expect(accepted).toEqual([])
	expect(await dead()).toEqual([])
	await pass(startMs + 605 * minute, 5 * second)
	expect(accepted.toSorted()).toEqual(posted.toSorted())
})

test('behavior: a full disk: of each queue at most one message comes again after a kill', async () => {
	const queues = 5
	const to = numbers(1, queues).map((number) => `${number}@example.org`)
	const mail = await startMailServer()
	onTestFinished(() => mail.close())
	const receiver = () =>
		createEmailReceiver({ type: 'email', name: 'mail', smtp: `smtp://${mail.host}`, from: 'x@example.org', to })
	const all = numbers(0, 10 * queues - 1).map((number) => ({
		...alertDeliveryOf(number),
		...{ receiver: 'mail', recipient: to[number % queues] ?? '' },
	}))
	await post(...all)
	const full: Store = { ...lab.store, resolve: () => Promise.reject(new Error('no space left')) }
	const stopping = new AbortController()
	const options = { clock: lab.clock, log: keptLog() }
	const running = createDeliverer({ ...options, store: full, receivers: [receiver()], graceMs: 100 }).run(
		stopping.signal,
	)
	// Two queues of a receiver work at once.
	await mail.until(Math.min(queues, 2))
	stopping.abort()
	await running
	await lab.reopen()
	const deliverer = createDeliverer({ ...options, store: lab.store, receivers: [receiver()] })
	await deliverer.drainOnce(never)
	await deliverer.close()
	expect(await lab.store.deliveries()).toEqual([])
	const arrived = mail.mails.map(({ messageId }) => messageId)
	expect(new Set(arrived)).toEqual(new Set(all.map(({ id }) => `<${id}@example.org>`)))
	expect(arrived.length - all.length).toBeLessThanOrEqual(queues)
})
