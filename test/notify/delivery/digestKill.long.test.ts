import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { Receiver, Store } from '../../../src/model/ports.js'
import { alertDeliveryOf, idOf, never, removalOf } from '../samples.js'
import { delivererOf, fine, inside, keeping, minuteMs, numbers, runOut, sizes } from './keeping.js'
import { useLab } from './lab.js'

const lab = useLab()

describe('a kill in a storm', () => {
	/** As the process would leave it: whatever was asked of the store is done or not, and memory is gone. */
	const killed = async (store: Store, receivers: readonly Receiver[]) => {
		const controller = new AbortController()
		void delivererOf(lab, receivers, { store, sleep: () => new Promise(() => undefined) }).run(controller.signal)
		return controller
	}
	const settled = async (isSo: () => boolean | Promise<boolean>) => {
		while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 1))
	}

	test('behavior: after the rest was held: sent when its minute is over; newer alerts queue behind it', async () => {
		const hook = keeping(lab)
		await lab.store.post(numbers(1, 20).map((number) => alertDeliveryOf(number)))
		await killed(lab.store, [hook])
		await settled(async () => (await lab.statuses()).filter((one) => one.endsWith(' held')).length === 15)
		await lab.reopen()
		lab.nowMs += minuteMs / 2
		await lab.store.post([alertDeliveryOf(21)])
		await delivererOf(lab, [hook]).drainOnce(never)
		expect(sizes(hook.got)).toEqual([1, 1, 1, 1, 1])
		await runOut(lab, [hook])
		expect(sizes(hook.got)).toEqual([1, 1, 1, 1, 1, 16])
		expect(hook.got.at(-1)?.atMs).toBe(minuteMs)
		expect(inside(hook.got)).toEqual(numbers(1, 21).map(idOf))
	})

	test('behavior: between send and record: the same digest under the same id, whatever came meanwhile', async () => {
		const tried: string[] = []
		const hook = keeping(lab, ({ id, message }) => {
			if (message.type === 'alert.digest') tried.push(id)
			return fine
		})
		await lab.store.post(numbers(1, 20).map((number) => alertDeliveryOf(number)))
		await delivererOf(lab, [hook]).drainOnce(never)
		lab.nowMs += minuteMs
		const sending: Store = { ...lab.store, resolve: () => new Promise(() => undefined) }
		await killed(sending, [hook])
		await settled(() => tried.length === 1)
		await lab.reopen()
		await lab.store.post([alertDeliveryOf(21)])
		await delivererOf(lab, [hook]).drainOnce(never)
		expect(tried).toEqual([tried[0], tried[0]])
		expect(await lab.store.deliveries()).toEqual([])
		expect(inside(hook.got)).toEqual([...numbers(1, 20), ...numbers(6, 21)].map(idOf))
		const [first, again] = hook.got.filter(({ type }) => type === 'alert.digest')
		expect(again?.message).toEqual(first?.message)
	})

	test.each([
		['without a rule', null, [...Array(8).fill(1)]],
		['with a shorter one', { everyMs: 1_000, max: 5 }, [1, 1, 1, 1, 1, 3]],
	])('behavior: after a restart %s, what waits is sent at once', async (_, digest, expected) => {
		const hook = keeping(lab, () => fine, digest === null ? {} : undefined)
		await lab.store.post(numbers(1, 8).map((number) => alertDeliveryOf(number)))
		await delivererOf(lab, [{ ...hook, takesDigest: () => true }]).drainOnce(never)
		await lab.reopen()
		await delivererOf(lab, [hook], { optionsOf: () => ({ fallback: null, digest }) }).drainOnce(never)
		expect(sizes(hook.got)).toEqual(expected)
		expect(inside(hook.got)).toEqual(numbers(1, 8).map(idOf))
	})

	test('behavior: before the hold is written, they are held by the next run', async () => {
		const hook = keeping(lab)
		await lab.store.post(numbers(1, 8).map((number) => alertDeliveryOf(number)))
		const stuck: Store = {
			...lab.store,
			resolve: (resolutions) =>
				resolutions.some(({ result }) => result === 'wait')
					? new Promise(() => undefined)
					: lab.store.resolve(resolutions),
		}
		await killed(stuck, [hook])
		await settled(() => hook.got.length === 5)
		await lab.reopen()
		await runOut(lab, [hook])
		expect(new Set(inside(hook.got))).toEqual(new Set(numbers(1, 8).map(idOf)))
		for (const number of [6, 7, 8]) {
			expect(inside(hook.got).filter((id) => id === idOf(number))).toHaveLength(1)
		}
	})

	test('behavior: random posts, faults and kills: every alert arrives, and a retraction after its alert', async () => {
		const event = fc.oneof(
			{ weight: 6, arbitrary: fc.integer({ min: 1, max: 12 }).map((count) => ({ post: count })) },
			{ weight: 2, arbitrary: fc.constant({ remove: true }) },
			{ weight: 4, arbitrary: fc.integer({ min: 1, max: 50_000 }).map((ms) => ({ waitMs: ms })) },
			{ weight: 2, arbitrary: fc.constantFrom<Outcome['result']>('delivered', 'retry', 'parked', 'dead') },
			{ weight: 1, arbitrary: fc.constant({ kill: true }) },
		)
		await fc.assert(
			fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 40 }), async (events) => {
				for (const { id } of await lab.store.deliveries()) await lab.store.drop([id])
				lab.nowMs += 100 * minuteMs
				let mood: Outcome['result'] = 'delivered'
				const hook = keeping(lab, ({ message }) => {
					// Only digests are refused: an alert refused for good is not lost by us.
					if (mood === 'dead')
						return message.type === 'alert.digest' ? { result: 'dead', code: 'refused', reason: 'no' } : fine
					return mood === 'delivered' ? fine : { result: mood, code: 'refused', reason: 'no' }
				})
				let carrying = delivererOf(lab, [hook])
				let count = 0
				const posted: Delivery[] = []
				const live: Delivery[] = []
				for (const each of events) {
					if (typeof each === 'string') mood = each
					else if ('post' in each) {
						const news = Array.from({ length: each.post }, () => alertDeliveryOf(++count, { createdAtMs: lab.nowMs }))
						posted.push(...news)
						live.push(...news)
						await lab.store.post(news)
					} else if ('remove' in each) {
						const alert = live.shift()
						if (alert === undefined) continue
						const removal = removalOf(++count, alert, { createdAtMs: lab.nowMs })
						posted.push(removal)
						await lab.store.post([removal])
					} else if ('waitMs' in each) lab.nowMs += each.waitMs
					else {
						await lab.reopen()
						carrying = delivererOf(lab, [hook])
					}
					await carrying.drainOnce(never)
				}
				mood = 'delivered'
				for (let round = 0; round < 200 && (await lab.store.deliveries()).length > 0; round += 1) {
					lab.nowMs += 20 * minuteMs
					await carrying.drainOnce(never)
				}
				expect(await lab.store.deliveries()).toEqual([])
				const arrived = inside(hook.got)
				expect(arrived.toSorted()).toEqual(posted.map(({ id }) => id).toSorted())
				for (const { id, answers } of posted) {
					if (answers !== null) expect(arrived.indexOf(answers)).toBeLessThan(arrived.indexOf(id))
				}
			}),
			{ seed: 20_261_120, numRuns: 15 },
		)
	})
})
