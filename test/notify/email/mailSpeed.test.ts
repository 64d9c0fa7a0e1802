import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { createEmailReceiver } from '../../../src/notify/email/email.js'
import { startMailServer } from '../../support/mailServer.js'
import { soaked, testInSoak } from '../../support/soak.js'
import { useLab } from '../delivery/lab.js'
import { keptLog, mailDeliveryOf, never } from '../samples.js'

const lab = useLab()

/** Sends `count` alerts to the mailboxes in turn, through a state on disk. */
async function sendAll(count: number, mailboxes: number) {
	const server = await startMailServer()
	const to = Array.from({ length: mailboxes }, (_, at) => `box${at}@example.org`)
	const settings = {
		type: 'email',
		name: 'mail',
		smtp: `smtp://${server.host}`,
		from: 'tracewatch@example.org',
		to,
	} as const
	const log = keptLog()
	const deliverer = createDeliverer({
		store: lab.store,
		clock: lab.clock,
		log,
		receivers: [createEmailReceiver(settings)],
	})
	const stopping = new AbortController()
	const deliveries = Array.from({ length: count }, (_, at) => mailDeliveryOf(at, to[at % mailboxes] ?? ''))
	const running = deliverer.run(stopping.signal)
	onTestFinished(async () => {
		stopping.abort()
		await running
		await deliverer.close()
		await server.close()
	})
	await lab.store.post(deliveries)
	await server.until(count)
	await expect.poll(async () => (await lab.store.deliveries()).length).toBe(0)
	const idsIn = (mailbox: string) =>
		server.mails.filter(({ recipients }) => recipients[0] === mailbox).map(({ messageId }) => messageId)
	return {
		connections: server.connections(),
		log,
		/** By mailbox: the ids that came, and those that were posted, each in order. */
		lanes: to.map((mailbox) => [
			idsIn(mailbox),
			deliveries.filter(({ recipient }) => recipient === mailbox).map(({ id }) => `<${id}@example.org>`),
		]),
	}
}

const count = soaked(20, 1_000)

test.each([1, 4])(
	`default: ${count} alerts go out in order, over few connections, to mailboxes: %i`,
	async (mailboxes) => {
		const { lanes, connections, log } = await sendAll(count, mailboxes)
		for (const [came, posted] of lanes) expect(came).toEqual(posted)
		// A pooled connection carries 100 mails.
		expect(connections).toBeLessThanOrEqual(12)
		expect(log.lines.filter(({ level }) => level !== 'debug' && level !== 'info')).toEqual([])
	},
)

testInSoak(
	`behavior: ${count} mails go through one connection, without a delayed acknowledgement on each`,
	async () => {
		const server = await startMailServer()
		onTestFinished(() => server.close())
		const smtp = `smtp://${server.host}`
		const to = ['ops@example.org']
		const receiver = createEmailReceiver({ type: 'email', name: 'mail', smtp, from: 'tracewatch@example.org', to })
		onTestFinished(() => receiver.close())
		const [tookMs, echoedMs]: [number[], number[]] = [[], []]
		const echo = await openEcho()
		for (let number = 0; number < count; number += 1) {
			const startedMs = performance.now()
			expect(await receiver.deliver(mailDeliveryOf(number, 'ops@example.org'), never)).toMatchObject({
				result: 'delivered',
			})
			tookMs.push(performance.now() - startedMs)
		}
		for (let number = 0; number < count; number += 1) {
			const startedMs = performance.now()
			for (let word = 0; word < 100; word++) await echo()
			echoedMs.push(performance.now() - startedMs)
		}
		expect(new Set(server.mails.map(({ messageId }) => messageId)).size).toBe(count)
		expect(server.connections()).toBeLessThanOrEqual(20)
		// A delayed acknowledgement makes each wait for 40 ms and more; a hundred words there and back take 2 ms. The
		// quickest of each had the machine for itself.
		const [mailMs, echoMs] = [Math.min(...tookMs), Math.min(...echoedMs)]
		console.log(`a mail takes ${mailMs.toFixed(1)} ms, a hundred echoes ${echoMs.toFixed(1)} ms`)
		expect(mailMs).toBeLessThan(15 * echoMs)
	},
)

/** Sends a word to a socket of this process and waits until it comes back, without a delayed acknowledgement. */
async function openEcho(): Promise<() => Promise<unknown>> {
	const server = createServer((socket) => socket.setNoDelay().pipe(socket)).listen(0, '127.0.0.1')
	await once(server, 'listening')
	const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay()
	onTestFinished(() => {
		socket.destroy()
		server.close()
	})
	return async () => {
		socket.write('250 accepted\r\n')
		await once(socket, 'data')
	}
}
