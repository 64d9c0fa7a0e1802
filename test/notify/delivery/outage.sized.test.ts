// A receiver that fails for five minutes is told to its fallback once, over restarts and kills, on both stores.
import { afterAll, describe, expect, test } from 'vitest'
import { StateError } from '../../../src/errors.js'
import type { Message, UndeliveredData } from '../../../src/model/alert.js'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { Store } from '../../../src/model/ports.js'
import type { StatePlace } from '../../../src/model/state.js'
import { createDeliverer } from '../../../src/notify/delivery/deliverer.js'
import { openStore } from '../../../src/state/open.js'
import { emptied, startServer } from '../../state/postgres/server.js'
import { temporaryFolder } from '../../support/folder.js'
import { sized, testInFull, testOnce } from '../../support/longRun.js'
import { silent } from '../../support/silent.js'
import { deliveryOf, never, startMs } from '../samples.js'
import { scripted } from './lab.js'

const server = await startServer()
afterAll(() => server?.stop())

const minute = 60_000
const refused: Outcome = { result: 'retry', code: 'failed', reason: 'hook.example: the connection was refused' }
const fine: Outcome = { result: 'delivered' }

/** A receiver `hook` with the fallback `desk`; each round is a process of its own that does what is due. */
async function site(place: StatePlace, recipients: readonly string[] | null = null) {
	const at = { nowMs: startMs, answer: (_: Delivery): Outcome => refused }
	const told: { id: string; message: Message }[] = []
	const hook = scripted('hook', (delivery) => at.answer(delivery), recipients)
	const desk = scripted('desk', ({ id, message }) => {
		told.push({ id, message })
		return fine
	})
	const clock = () => at.nowMs
	type Kill = (act: () => Promise<unknown>) => Promise<unknown>
	const during = async <T>(act: (store: Store) => Promise<T>): Promise<T> => {
		const store = await openStore(place, { clock, log: silent })
		try {
			return await act(store)
		} finally {
			await store.close()
		}
	}
	return {
		at,
		told,
		hook,
		said: () => told.map(({ message }) => `${message.type} ${(message.data as UndeliveredData).state}`),
		post: (...all: readonly Delivery[]) => during((store) => store.post(all)),
		drop: () => during(async (store) => store.drop((await store.deliveries()).map(({ id }) => id))),
		summary: () => during(async (store) => (await store.summary()).receivers.get('hook')),
		async round(afterMs: number, kill: Kill = (act) => act()) {
			at.nowMs += afterMs
			await during(async (store) => {
				// A database keeps times by its own clock, which the test does not move.
				const pending = await store.deliveries('pending')
				await store.retry(
					pending.map(({ id }) => id),
					at.nowMs,
				)
				const watched: Store = {
					...store,
					post: (all) => kill(() => store.post(all)) as Promise<void>,
					changeTroubles: (next, all) => kill(() => store.changeTroubles(next, all)) as Promise<void>,
				}
				await createDeliverer({
					...{ store: watched, clock, log: silent, receivers: [hook, desk], random: () => 0.9 },
					optionsOf: (name) => ({ fallback: name === 'hook' ? 'desk' : null, digest: null }),
				}).drainOnce(never)
			}).catch((error: unknown) => {
				if (!(error instanceof StateError)) throw error
			})
		},
	}
}

const places: readonly (readonly [string, () => Promise<StatePlace>])[] = [
	['a folder', async () => ({ kind: 'folder', dir: temporaryFolder() })],
	[
		'PostgreSQL',
		async () => {
			if (server === null) throw new Error('no server')
			await emptied(server)
			await server.sql('truncate tracewatch.kept').catch(() => undefined)
			return { kind: 'postgres', url: server.url() }
		},
	],
]

for (const [name, placeOf] of places) {
	describe.skipIf(name === 'PostgreSQL' && server === null)(`an outage, with the state in ${name}`, () => {
		testOnce('default: a receiver down for five minutes is reported once, until it is back', async () => {
			const { at, told, said, post, round } = await site(await placeOf())
			await post(...[1, 2, 3].map((number) => deliveryOf(number)))
			for (const _ of [1, 2, 3, 4]) await round(minute)
			expect(said()).toEqual([])
			for (const _ of [5, 6, 7, 8, 9, 10, 11, 12]) await round(10 * minute)
			expect(said()).toEqual(['system.undelivered failing'])
			expect(told[0]?.message.data).toMatchObject({
				...{ receiver: 'hook', recipient: null, count: 3, reason: refused.reason },
				since: new Date(startMs + minute).toISOString(),
			})
			at.answer = () => fine
			for (const _ of [1, 2, 3]) await round(60 * minute)
			expect(said()).toEqual(['system.undelivered failing', 'system.recovered failing'])
			expect(told[1]?.message.data).toMatchObject({ receiver: 'hook', ends: 'undelivered', count: 0 })
			// A second outage is news.
			at.answer = () => refused
			await post(deliveryOf(9))
			for (const _ of [1, 2, 3]) await round(10 * minute)
			expect(said().slice(2)).toEqual(['system.undelivered failing'])
		})

		// The same on PostgreSQL is the long run's.
		const testOfFolderFirst = name === 'a folder' ? testOnce : testInFull
		testOfFolderFirst('behavior: an outage of less than five minutes is reported to no one', async () => {
			const { at, said, post, round } = await site(await placeOf())
			await post(deliveryOf(1))
			for (const _ of [1, 2]) await round(2 * minute)
			at.answer = () => fine
			for (const _ of [1, 2, 3]) await round(2 * minute)
			expect(said()).toEqual([])
		})

		testOfFolderFirst('behavior: a failing mailbox among others is reported, until nothing waits for it', async () => {
			const { at, told, said, post, drop, round } = await site(await placeOf(), ['a@example.org', 'b@example.org'])
			at.answer = ({ recipient }) => (recipient === 'a@example.org' ? refused : fine)
			await post(deliveryOf(1, { recipient: 'a@example.org' }))
			for (const number of [2, 3, 4, 5]) {
				await post(deliveryOf(number, { recipient: 'b@example.org' }))
				await round(10 * minute)
			}
			expect(said()).toEqual(['system.undelivered failing'])
			expect(told[0]?.message.data).toMatchObject({ recipient: 'a@example.org', count: 1 })
			await drop()
			for (const _ of [1, 2]) await round(minute)
			expect(said()).toEqual(['system.undelivered failing', 'system.recovered failing'])
		})

		test('error: killed at any write, it is reported once and ended once', async () => {
			// A database takes a second for each.
			for (const writes of sized(name === 'a folder' ? [1, 3] : [1], name === 'a folder' ? [0, 2] : [0, 2, 3])) {
				const { at, told, post, round } = await site(await placeOf())
				await post(deliveryOf(1))
				let left = writes
				const kill = async (act: () => Promise<unknown>) => {
					if (left-- <= 0) throw new StateError('disk', 'killed')
					return await act()
				}
				for (const _ of [1, 2, 3]) await round(10 * minute, kill)
				for (const _ of [4, 5, 6]) await round(60 * minute)
				at.answer = () => fine
				left = writes
				for (const _ of [1, 2]) await round(60 * minute, kill)
				for (const _ of [3, 4]) await round(60 * minute)
				expect(
					told.map(({ message }) => message.type),
					`${writes} writes`,
				).toEqual(['system.undelivered', 'system.recovered'])
			}
		})

		testInFull('default: the summary counts failed attempts from the first failure on', async () => {
			const { at, post, round, summary } = await site(await placeOf())
			await post(deliveryOf(1), deliveryOf(2))
			expect((await summary())?.failedAttempts).toBeUndefined()
			await round(minute)
			expect(await summary()).toMatchObject({ pending: 2, failedAttempts: 1 })
			await round(minute)
			expect(await summary()).toMatchObject({ pending: 2, failedAttempts: 2 })
			at.answer = () => fine
			await round(minute)
			expect((await summary())?.failedAttempts).toBeUndefined()
		})
	})
}
