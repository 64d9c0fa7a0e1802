import { describe, expect, test } from 'vitest'
import type { Receiver, Store } from '../../../src/model/ports.js'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { createEmailReceiver } from '../../../src/notify/email/email.js'
import { createWebhookReceiver } from '../../../src/notify/webhook/webhook.js'
import { openFileStore } from '../../support/fileStore.js'
import { startHookServer } from '../../support/hookServer.js'
import { startMailServer } from '../../support/mailServer.js'
import { alertDeliveryOf, deliveryOf, idOf, keptLog, mailDeliveryOf, never, startMs } from '../samples.js'
import { ids, scripted, useLab } from './lab.js'

const lab = useLab()

describe('run', () => {
	/** Runs beside the test, from the time at which the deliveries were made; the result stops it. */
	function start(receivers: readonly Receiver[], rest: Partial<Parameters<typeof createDeliverer>[0]> = {}) {
		const aheadMs = Date.now() - startMs
		const controller = new AbortController()
		const log = keptLog()
		const deliverer = createDeliverer({
			store: lab.store,
			clock: () => Date.now() - aheadMs,
			log,
			receivers,
			random: () => 0,
			graceMs: 60_000,
			...rest,
		})
		const ended = deliverer.run(controller.signal)
		const stop = async () => {
			controller.abort()
			await ended
		}
		return { deliverer, log, stop }
	}

	/** Waits until the store says so; it is asked after each change of a delivery. */
	async function until(done: () => boolean | Promise<boolean>): Promise<void> {
		while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 10))
	}
	const empty = async () => (await lab.store.deliveries()).length === 0

	test('default: a delivery that is posted while the deliverer sleeps is sent at once', async () => {
		const hook = scripted('hook')
		const { stop } = start([hook])
		for (const number of [1, 2, 3]) {
			await lab.store.post([deliveryOf(number)])
			await until(empty)
		}
		await stop()
		expect(hook.got).toEqual(ids(1, 2, 3))
	})

	test('behavior: a backlog without end: a message beside the queue that is due is sent all the same', async () => {
		const backlog = 150
		const tenFrom = (first: number) => Array.from({ length: 10 }, (_, at) => alertDeliveryOf(first + at))
		const hook = scripted('hook', async (_, index) => {
			if (index % 10 === 0) await lab.store.post(tenFrom(1_000 + index))
			return { result: 'delivered' }
		})
		await lab.store.post([
			alertDeliveryOf(1, { attempts: 6 }),
			...Array.from({ length: backlog }, (_, at) => alertDeliveryOf(9 + at)),
		])
		const { stop } = start([hook])
		await until(() => hook.got.length > backlog)
		await stop()
		expect(hook.got).toContain(idOf(1))
	})

	test('behavior: a dead receiver holds back no other, and gets everything in order when it comes back', async () => {
		const server = { mail: await startMailServer(), hook: await startHookServer() }
		let failures = 0
		// Dead until every mail has arrived, and once more.
		server.hook.answer = () =>
			failures++ < 2 ? (response) => void server.mail.until(20).then(() => response.socket?.destroy()) : 200
		const { log, stop } = start([
			createWebhookReceiver(
				{ type: 'webhook', name: 'hook', url: server.hook.origin, secret: null },
				{ version: '1', clock: Date.now },
			),
			createEmailReceiver({
				type: 'email',
				name: 'mail',
				smtp: `smtp://${server.mail.host}`,
				from: 'a@example.org',
				to: ['b@example.org'],
			}),
		])
		const numbers = Array.from({ length: 20 }, (_, number) => number)
		await lab.store.post(
			numbers.flatMap((number) => [deliveryOf(number), mailDeliveryOf(100 + number, 'b@example.org')]),
		)
		await server.mail.until(20)
		await server.hook.until(2)
		expect(server.hook.hits.slice(0, 2).map(({ id }) => id)).toEqual(ids(0, 0))
		await until(empty)
		await stop()
		expect(server.mail.mails.map(({ messageId }) => messageId)).toEqual(
			numbers.map((number) => `<${idOf(100 + number)}@example.org>`),
		)
		expect(server.hook.hits.filter(({ id }, index, hits) => hits[index - 1]?.id !== id).map(({ id }) => id)).toEqual(
			numbers.map(idOf),
		)
		expect(log.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message)).toEqual([
			'the receiver fails; its deliveries wait and are retried',
			'the receiver accepts messages again',
		])
		await server.mail.close()
		await server.hook.close()
	})

	test('behavior: while the disk is full nothing is sent twice; all is written down when space returns', async () => {
		let full = true
		let refused = 0
		const store2: Store = {
			...lab.store,
			resolve: async (resolutions) => {
				if (full) {
					refused += 1
					throw new Error('no space left')
				}
				await lab.store.resolve(resolutions)
			},
		}
		const hook = scripted('hook')
		const { log, stop } = start([hook], { store: store2 })
		await lab.store.post([1, 2, 3].map((number) => deliveryOf(number)))
		await until(() => hook.got.length === 1)
		await lab.store.post([deliveryOf(4)])
		await until(() => log.lines.some(({ message }) => message.includes('cannot be recorded')))
		// Told once, and tried again.
		await until(() => refused >= 2)
		expect(hook.got).toEqual(ids(1))
		full = false
		await until(empty)
		await stop()
		expect(hook.got).toEqual(ids(1, 2, 3, 4))
		expect(log.lines.filter(({ message }) => message.includes('cannot be recorded'))).toHaveLength(1)
	})

	test('behavior: a stop lets what is under way end, and gives back the rest', async () => {
		const gate = makeGate()
		const hook = scripted('hook', async () => {
			await gate.promise
			return { result: 'delivered' }
		})
		const { stop } = start([hook])
		await lab.store.post([deliveryOf(1), deliveryOf(2)])
		await until(() => hook.got.length === 1)
		const stopped = stop()
		gate.resolve()
		await stopped
		expect(hook.got).toEqual(ids(1))
		expect(await lab.statuses()).toEqual(['2 pending'])
		expect(await lab.store.claim({ nowMs: Date.now(), perQueue: 9 })).toMatchObject([[{ id: idOf(2) }]])
	})

	test('behavior: a stop does not wait for a receiver that hangs; no one has judged that attempt', async () => {
		const hook = scripted(
			'hook',
			(_, __, signal) =>
				new Promise((resolve) =>
					signal.addEventListener('abort', () => resolve({ result: 'retry', code: 'failed', reason: 'stopped' })),
				),
		)
		const { stop } = start([hook], { graceMs: 300 })
		await lab.store.post([deliveryOf(1)])
		await until(() => hook.got.length === 1)
		await stop()
		expect((await lab.store.claim({ nowMs: Date.now(), perQueue: 9 }))[0]?.[0]).toMatchObject({
			id: idOf(1),
			attempts: 0,
			lastError: null,
		})
	})

	test('behavior: killed before the record, the next start sends it again under the same id', async () => {
		const hook = scripted('hook')
		const neverWritten: Store = { ...lab.store, resolve: () => new Promise(() => undefined) }
		void createDeliverer({ store: neverWritten, clock: Date.now, log: keptLog(), receivers: [hook] }).run(never)
		await lab.store.post([deliveryOf(1)])
		await until(() => hook.got.length === 1)
		const reopened = await openFileStore(lab.folder, { clock: lab.clock })
		await createDeliverer({ store: reopened, clock: Date.now, log: keptLog(), receivers: [hook] }).drainOnce(never)
		await reopened.close()
		expect(hook.got).toEqual(ids(1, 1))
	})

	test('behavior: two queues of a receiver at once, no more', async () => {
		let working = 0
		let most = 0
		const to = Array.from({ length: 8 }, (_, number) => `${number}@example.org`)
		const mail = scripted(
			'mail',
			async () => {
				working += 1
				most = Math.max(most, working)
				await new Promise((resolve) => setImmediate(resolve))
				working -= 1
				return { result: 'delivered' }
			},
			to,
		)
		const { stop } = start([mail])
		await lab.store.post(
			to.flatMap((recipient, queue) => [0, 1, 2].map((turn) => mailDeliveryOf(queue * 10 + turn, recipient))),
		)
		await until(empty)
		await stop()
		expect(mail.got).toHaveLength(24)
		expect(most).toBe(2)
	})
})

function makeGate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
	const open: (() => void)[] = []
	const promise = new Promise<void>((resolve) => open.push(resolve))
	return { promise, resolve: () => open[0]?.() }
}
