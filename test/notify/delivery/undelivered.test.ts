// What a fallback was sent of a receiver is ended, whoever runs by then: an incident stands open there until it is.
import { describe, expect, test } from 'vitest'
import { StateError } from '../../../src/errors.js'
import type { Message, UndeliveredData } from '../../../src/model/alert.js'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { Store } from '../../../src/model/ports.js'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { alertDeliveryOf, deliveryOf, idOf, keptLog, never } from '../samples.js'
import { scripted, useLab } from './lab.js'

const lab = useLab()
const gone: Outcome = { result: 'parked', code: 'refused', reason: 'hook.example answered 410: removed' }
/** The only answer that gives a message up at once. */
const refused: Outcome = { result: 'dead', code: 'no-recipient', reason: 'the delivery names no recipient' }
const fine: Outcome = { result: 'delivered' }
const failing: Outcome = { result: 'retry', code: 'failed', reason: 'hook.example: it did not work' }
const hour = 3_600_000

/** A receiver with a fallback that keeps what it is told, for one run after the other. */
function site(recipients: readonly string[] | null = null) {
	const at: { answer: (delivery: Delivery) => Outcome; isKilled: boolean } = { answer: () => gone, isKilled: false }
	const told: { id: string; message: Message }[] = []
	const hook = scripted('hook', (delivery) => at.answer(delivery), recipients)
	const desk = scripted('desk', ({ id, message }) => {
		if (at.isKilled) return { result: 'retry', code: 'failed', reason: 'the process is dead' }
		told.push({ id, message })
		return fine
	})
	const delivererOn = (store: Store) =>
		createDeliverer({
			...{ store, clock: lab.clock, log: keptLog(), receivers: [hook, desk], random: () => 0.5 },
			optionsOf: (name) => ({ fallback: name === 'hook' ? 'desk' : null, digest: null }),
			// A write that fails here fails for good: to try it again would take two real seconds.
			drainDeadlineMs: 0,
		})
	return {
		at,
		told,
		said: () => told.flatMap(({ message }) => (message.type.startsWith('system.') ? [message.type] : [])),
		delivererOn,
		/** A run of its own, each an hour after the one before: what it posts goes out with the next. */
		async run(store: Store = lab.store) {
			lab.nowMs += hour
			await delivererOn(store).drainOnce(never)
		},
	}
}

describe('the report to a fallback that a receiver fails', () => {
	test('default: is ended once nothing is left of what was refused, over restarts', async () => {
		const { at, run, said, told } = site()
		await lab.store.post([1, 2, 3].map((number) => alertDeliveryOf(number)))
		await run()
		await run()
		expect(said()).toEqual(['system.undelivered'])
		at.answer = ({ id }) => (id === idOf(1) ? gone : fine)
		await run()
		await run()
		expect(said()).toEqual(['system.undelivered'])
		at.answer = () => fine
		await run()
		await run()
		await run()
		expect(said()).toEqual(['system.undelivered', 'system.recovered'])
		const [begun, ended] = told.flatMap(({ message: { type, data } }) =>
			type.startsWith('system.') ? [data as UndeliveredData] : [],
		)
		expect(ended).toMatchObject({
			ends: 'undelivered',
			reason: 'All that it refused was delivered, or discarded by hand. There is nothing left to do.',
			receiver: 'hook',
			recipient: null,
			count: 0,
			since: begun?.since,
		})
		at.answer = () => gone
		await lab.store.post([alertDeliveryOf(9)])
		await run()
		expect(said()).toEqual(['system.undelivered', 'system.recovered', 'system.undelivered'])
	})

	test('behavior: is ended when what was refused is discarded by hand, or tried again and taken', async () => {
		const { at, run, said } = site()
		at.answer = () => refused
		await lab.store.post([1, 2].map((number) => deliveryOf(number)))
		await run()
		await run()
		const words = () => said().filter((type) => type.startsWith('system.'))
		expect(words()).toEqual(['system.undelivered'])
		expect(await lab.store.drop([idOf(1)])).toBe(1)
		await lab.store.retry([idOf(2)], lab.nowMs + 2 * hour)
		await run()
		// No one knows yet what comes of the second.
		expect((await lab.store.summary()).receivers.get('hook')).toMatchObject({ pending: 1, dead: 0 })
		expect(words()).toEqual(['system.undelivered'])
		at.answer = () => fine
		await run()
		await run()
		expect(words()).toEqual(['system.undelivered', 'system.recovered'])
	})

	test('error: every attempt fails for hours: the fallback is notified once, and once that it is over', async () => {
		const { at, run, said } = site()
		at.answer = () => failing
		await lab.store.post([alertDeliveryOf(1)])
		for (let runs = 0; runs < 4; runs += 1) await run()
		expect(said()).toEqual(['system.undelivered'])
		at.answer = () => fine
		for (let runs = 0; runs < 2; runs += 1) await run()
		expect(said()).toEqual(['system.undelivered', 'system.recovered'])
	})

	test.each([
		['refuses', gone],
		['fails', failing],
	])('behavior: lasts while one mailbox of several %s, whatever the others take', async (_, outcome) => {
		const { at, run, said } = site(['a@example.org', 'b@example.org'])
		at.answer = ({ recipient }) => (recipient === 'a@example.org' ? outcome : fine)
		await lab.store.post([deliveryOf(1, { recipient: 'a@example.org' })])
		for (const number of [2, 3, 4]) {
			await lab.store.post([deliveryOf(number, { recipient: 'b@example.org' })])
			await run()
		}
		expect(said()).toEqual(['system.undelivered'])
		await lab.store.drop([idOf(1)])
		await run()
		await run()
		expect(said()).toEqual(['system.undelivered', 'system.recovered'])
	})

	test('error: a receiver fails, then refuses: that it accepts messages again is said only once it does', async () => {
		const { at, run, said } = site()
		at.answer = () => failing
		await lab.store.post([alertDeliveryOf(1)])
		for (let runs = 0; runs < 3; runs += 1) await run()
		expect(said()).toEqual(['system.undelivered'])
		at.answer = () => gone
		for (let runs = 0; runs < 3; runs += 1) await run()
		expect(said()).toEqual(['system.undelivered', 'system.undelivered'])
		at.answer = () => fine
		for (let runs = 0; runs < 3; runs += 1) await run()
		expect(said().slice(2)).toEqual(['system.recovered', 'system.recovered'])
	})

	test('behavior: a mailbox is taken out while it fails: its trouble ends, and none begins', async () => {
		const before = site(['a@example.org', 'b@example.org'])
		before.at.answer = () => failing
		await lab.store.post([deliveryOf(1, { recipient: 'b@example.org' })])
		for (let runs = 0; runs < 3; runs += 1) await before.run()
		const after = site(['a@example.org'])
		for (let runs = 0; runs < 4; runs += 1) await after.run()
		expect(after.told.map(({ message: { type, data } }) => [type, (data as UndeliveredData).reason])).toEqual([
			['system.recovered', expect.stringMatching(/ was taken out, or nothing waits /)],
		])
		expect(await lab.store.deliveries('pending')).toHaveLength(1)
		expect(lab.store.troubles().open).toEqual([])
	})

	test('error: a trouble begins and ends while neither can be written: both are reported once that works', async () => {
		const { at, said, delivererOn } = site()
		let isFull = true
		const changeTroubles: Store['changeTroubles'] = async (next, post) => {
			if (isFull) throw new StateError('disk', 'no space left')
			await lab.store.changeTroubles(next, post)
		}
		const deliverer = delivererOn({ ...lab.store, changeTroubles })
		await lab.store.post([alertDeliveryOf(1)])
		for (const answer of [gone, fine, fine]) {
			at.answer = () => answer
			lab.nowMs += hour
			await deliverer.drainOnce(never)
		}
		expect(said()).toEqual([])
		isFull = false
		// The daemon looks at its networks every second.
		await deliverer.troubles.reconcile('stalled', [], () => [])
		await deliverer.drainOnce(never)
		expect(said()).toEqual(['system.undelivered', 'system.recovered'])
		expect(lab.store.troubles().open).toEqual([])
	})

	test.each([
		['refused', gone],
		['given up', refused],
	])('error: a message is %s, and a kill at any write: each is sent under one id', async (_, outcome) => {
		for (let writes = 0; writes < 8; writes += 1) {
			const { at, run, told } = site()
			let left = writes
			const write = async <T>(act: () => Promise<T>): Promise<T> => {
				at.isKilled ||= left-- <= 0
				if (at.isKilled) throw new StateError('disk', 'killed')
				return await act()
			}
			const store: Store = {
				...lab.store,
				post: (all) => write(() => lab.store.post(all)),
				resolve: (all, post) => write(() => lab.store.resolve(all, post)),
				changeTroubles: (next, post) => write(() => lab.store.changeTroubles(next, post)),
			}
			at.answer = () => outcome
			await lab.store.post([deliveryOf(writes)])
			await run(store).catch(() => undefined)
			at.isKilled = false
			await lab.reopen()
			await run()
			await run()
			at.answer = () => fine
			await lab.store.retry([idOf(writes)], lab.nowMs)
			for (let runs = 0; runs < 4; runs += 1) await run()
			const kept = new Map(told.map(({ id, message }) => [id, message.type]))
			expect([...kept.values()], `${writes} writes`).toEqual([
				'system.undelivered',
				'alert.transfer',
				'system.recovered',
			])
			expect(await lab.store.deliveries()).toEqual([])
		}
	})
})
