/** Every operation of a store, with random arguments of few values, so that they meet each other often. */

import fc from 'fast-check'
import type { Delivery, Resolution } from '../../src/model/delivery.js'
import type { Store } from '../../src/model/ports.js'
import type { Commit, Enrolment } from '../../src/model/state.js'
import type { Backfill, Coverage } from '../../src/model/watch.js'
import { codePoint } from '../support/codePoint.js'
import type { Reference, Step } from './reference.js'
import * as reference from './reference.js'
import { addressOf, announcementOf, blockOf, coverageOf, deliveryOf } from './samples.js'

/** Around this all times lie. */
export const NOW_MS = 1_000
const network = fc.constantFrom('ethereum', 'base')
const chainId = fc.oneof({ weight: 20, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(2) })
const block = fc.integer({ min: 0, max: 30 }).map(blockOf)
const id = fc.integer({ min: 0, max: 14 }).map((number) => `d${number}`)
const ids = fc.array(id, { maxLength: 3 })
const time = fc.integer({ min: NOW_MS - 3, max: NOW_MS + 3 })

const delivery: fc.Arbitrary<Delivery> = fc
	.record({
		id,
		receiver: fc.constantFrom('hook', 'mail'),
		recipient: fc.constantFrom(null, 'a@x', 'b@x'),
		nextAttemptAtMs: time,
	})
	.map(({ id, ...rest }) => deliveryOf(id, rest))
const deliveries = fc.array(delivery, { maxLength: 4 })

// Few values, so that the same backfill is asked for again and again with one thing changed.
const span = fc.record({ from: fc.constantFrom(3n, 5n), to: fc.constantFrom(10n, 20n) })
const address = fc.integer({ min: 0, max: 2 }).map(addressOf)
const backfillId = fc.constantFrom('b0', 'b1')
const backfill: fc.Arbitrary<Backfill> = fc.record({
	id: backfillId,
	span,
	addresses: fc.subarray([addressOf(0), addressOf(1)], { minLength: 1 }),
})
const coverage: fc.Arbitrary<Coverage> = fc
	.record({
		from: fc.integer({ min: 0, max: 9 }),
		leftAt: fc.option(fc.bigInt(0n, 9n)),
		missed: fc.array(span, { maxLength: 2 }),
	})
	.map(({ from, ...rest }) => coverageOf(from, rest))
const enrolment: fc.Arbitrary<Enrolment> = fc.record({
	covered: fc.array(fc.tuple(address, coverage), { maxLength: 3 }).map((pairs) => new Map(pairs)),
	backfills: fc.option(fc.uniqueArray(backfill, { selector: ({ id }) => id, maxLength: 3 })),
})

const step: fc.Arbitrary<Commit> = fc.record(
	{
		network,
		chainId,
		checkpoint: block,
		settled: block,
		forgetTo: fc.bigInt(0n, 30n),
		announcements: fc.array(
			fc
				.tuple(fc.constantFrom('t0', 't1', 't2', 't3'), fc.integer({ min: 0, max: 30 }), fc.nat(3))
				.map((args) => announcementOf(...args)),
			{ maxLength: 3 },
		),
		backfill: fc.record({ id: backfillId, scannedTo: fc.constantFrom(2n, 7n, 9n, 20n) }),
		deliveries,
	},
	{ requiredKeys: ['network', 'chainId'] },
)

const resolution: fc.Arbitrary<Resolution> = fc.oneof(
	id.map((id) => ({ id, result: 'delivered' as const })),
	fc.record({
		id,
		result: fc.constantFrom('retry' as const, 'dead' as const),
		code: fc.constantFrom('failed' as const, 'refused' as const),
		error: fc.string({ unit: codePoint, maxLength: 9 }),
		nextAttemptAtMs: time,
	}),
	fc.record({
		id,
		result: fc.constant('wait' as const),
		as: fc.constantFrom('digest' as const, 'alone' as const),
		untilMs: time,
	}),
)

/** One call of the store, and the same for the reference. */
export interface Operation {
	readonly name: string
	readonly inModel: (at: Reference) => Step
	readonly inReal: (store: Store) => Promise<unknown>
}

const plain = (name: string, inModel: Operation['inModel'], inReal: Operation['inReal']): Operation => ({
	name,
	inModel,
	inReal,
})

export const operation: fc.Arbitrary<Operation> = fc.oneof(
	{
		weight: 4,
		arbitrary: step.map((s) =>
			plain(
				'commit',
				(at) => reference.commit(at, s, NOW_MS),
				async (store) => void (await store.commit(s)),
			),
		),
	},
	fc.tuple(network, enrolment).map(([name, e]) =>
		plain(
			'enrol',
			(at) => reference.enrol(at, name, e),
			async (store) => void (await store.enrol(name, e)),
		),
	),
	deliveries.map((d) =>
		plain(
			'post',
			(at) => reference.post(at, d),
			(store) => store.post(d),
		),
	),
	fc.tuple(fc.array(resolution, { maxLength: 4 }), fc.oneof(fc.constant([]), deliveries)).map(([r, d]) =>
		plain(
			'resolve',
			(at) => reference.resolve(at, r, d),
			(store) => store.resolve(r, d),
		),
	),
	ids.map((i) =>
		plain(
			'retry',
			(at) => reference.retry(at, i, NOW_MS),
			(store) => store.retry(i, NOW_MS),
		),
	),
	ids.map((i) =>
		plain(
			'drop',
			(at) => reference.drop(at, i),
			(store) => store.drop(i),
		),
	),
	ids.map((i) =>
		plain(
			'release',
			(at) => reference.release(at, i),
			(store) => store.release(i),
		),
	),
	fc.tuple(time, fc.integer({ min: 1, max: 4 })).map(([nowMs, perQueue]) =>
		plain(
			'claim',
			(at) => reference.claim(at, nowMs, perQueue),
			async (store) =>
				(await store.claim({ nowMs, perQueue })).map((queue) => String(queue.map(({ id }) => id))).sort(),
		),
	),
)
