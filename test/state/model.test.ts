import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Backfill, Commit, Cover, Delivery, Enrolment, Resolution, Store } from '../../src/model.js'
import { openFileStore } from '../../src/state/file.js'
import { makeFolder, removeFolder } from './folder.js'
import type { Reference, Step } from './reference.js'
import * as reference from './reference.js'
import { addressOf, blockOf, coverOf, deliveryOf, toldOf } from './samples.js'

interface Real {
	readonly folder: string
	store: Store
	broken: readonly string[]
}

/** The reference is replaced whole, so that a step that failed leaves nothing in it. */
interface Model {
	now: Reference
}

type Command = fc.AsyncCommand<Model, Real>

const NOW_MS = 1_000
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
const cover: fc.Arbitrary<Cover> = fc
	.record({
		from: fc.integer({ min: 0, max: 9 }),
		leftAt: fc.option(fc.bigInt(0n, 9n)),
		owed: fc.array(span, { maxLength: 2 }),
	})
	.map(({ from, ...rest }) => coverOf(from, rest))
const enrolment: fc.Arbitrary<Enrolment> = fc.record({
	covers: fc.array(fc.tuple(address, cover), { maxLength: 3 }).map((pairs) => new Map(pairs)),
	backfills: fc.option(fc.uniqueArray(backfill, { selector: ({ id }) => id, maxLength: 3 })),
})

const step: fc.Arbitrary<Commit> = fc.record(
	{
		network,
		chainId,
		checkpoint: block,
		settled: block,
		told: fc.array(
			fc
				.tuple(fc.constantFrom('t0', 't1', 't2', 't3'), fc.integer({ min: 0, max: 30 }), fc.nat(3))
				.map((args) => toldOf(...args)),
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
		result: fc.constantFrom('retry' as const, 'parked' as const, 'dead' as const),
		error: fc.string({ unit: 'binary', maxLength: 9 }),
		nextAttemptAtMs: time,
	}),
)

interface Operation {
	readonly name: string
	readonly file: 'state.json' | 'coverage.json'
	readonly inModel: (at: Reference) => Step
	readonly inReal: (store: Store) => Promise<unknown>
}

const plain = (name: string, inModel: Operation['inModel'], inReal: Operation['inReal']): Operation => ({
	name,
	file: name === 'enrol' ? 'coverage.json' : 'state.json',
	inModel,
	inReal,
})

const operation: fc.Arbitrary<Operation> = fc.oneof(
	{
		weight: 4,
		arbitrary: step.map((s) =>
			plain(
				'commit',
				(at) => reference.commit(at, s),
				(store) => store.commit(s),
			),
		),
	},
	fc.tuple(network, enrolment).map(([name, e]) =>
		plain(
			'enrol',
			(at) => reference.enrol(at, name, e),
			(store) => store.enrol(name, e),
		),
	),
	deliveries.map((d) =>
		plain(
			'post',
			(at) => reference.post(at, d),
			(store) => store.post(d),
		),
	),
	fc.array(resolution, { maxLength: 4 }).map((r) =>
		plain(
			'resolve',
			(at) => reference.resolve(at, r),
			(store) => store.resolve(r),
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
	fc.tuple(time, fc.integer({ min: 1, max: 4 })).map(([nowMs, perLane]) =>
		plain(
			'claim',
			(at) => reference.claim(at, nowMs, perLane),
			async (store) => (await store.claim({ nowMs, perLane })).map((lane) => String(lane.map(({ id }) => id))).sort(),
		),
	),
)

async function compare({ now }: Model, { store }: Real): Promise<void> {
	for (const name of ['ethereum', 'base']) {
		const expected = now.networks[name]
		expect(await store.network(name)).toEqual(
			expected
				? {
						chainId: expected.chainId,
						checkpoint: expected.checkpoint,
						settled: expected.settled,
						told: new Map(expected.told.map((entry) => [entry.id, entry])),
						covers: new Map(Object.entries(expected.covers)),
						backfills: reference.live(expected),
					}
				: null,
		)
	}
	expect(await store.deliveries()).toEqual(now.deliveries)
	expect(await store.nextDueMs()).toBe(reference.nextDueMs(now))
	const { receivers } = await store.summary()
	for (const [name, told] of receivers) {
		const own = now.deliveries.filter(({ receiver }) => receiver === name)
		const count = (status: string) => own.filter((each) => each.status === status).length
		expect(told).toMatchObject({
			pending: count('pending'),
			parked: count('parked'),
			dead: count('dead'),
			delivered: now.delivered[name] ?? 0,
		})
	}
}

/** Several operations asked for in one breath; those of one file share its write. */
function together(operations: readonly Operation[]): Command {
	return {
		check: () => true,
		toString: () => operations.map(({ name }) => name).join(' + '),
		async run(model, real) {
			const before = structuredClone(model.now)
			const steps = operations.map(({ inModel }) => inModel(model.now))
			const fails = (file: string) =>
				real.broken.includes(file) && operations.some((each, index) => each.file === file && steps[index]?.writes)
			const failing = operations.some(({ file }) => fails(file))
			if (failing) model.now = before
			const results = await Promise.allSettled(operations.map(({ inReal }) => inReal(real.store)))
			for (const [index, { status, ...rest }] of results.entries()) {
				if (steps[index]?.refused) expect(rest).toMatchObject({ reason: { reason: 'mismatch' } })
				else if (failing) {
					expect(rest).toMatchObject({ reason: { reason: 'disk', message: expect.stringContaining(real.folder) } })
				} else expect(rest).toEqual({ value: steps[index]?.result })
			}
			await compare(model, real)
		},
	}
}

const open = (folder: string) => openFileStore(folder, { clock: () => NOW_MS })

/** A program that ends without a word: only what is on disk goes on. */
const crash: Command = {
	check: () => true,
	toString: () => 'crash',
	async run(model, real) {
		await mend(real)
		model.now.taken = []
		real.store = await open(real.folder)
		await compare(model, real)
	},
}

/** A folder in the place of a file that the write needs makes it fail, for root too: before its rename, or at the very start. */
const breakage = (spoilt: string, broken: readonly string[]): Command => ({
	check: () => true,
	toString: () => `break ${spoilt}`,
	async run(_, real) {
		await mend(real)
		await rm(join(real.folder, spoilt), { force: true })
		await mkdir(join(real.folder, spoilt))
		real.broken = broken
	},
})

const mending: Command = {
	check: () => true,
	toString: () => 'mend',
	run: (_, real) => mend(real),
}

async function mend(real: Real): Promise<void> {
	for (const file of real.broken) {
		for (const end of ['tmp', 'prev']) await rm(join(real.folder, `${file}.${end}`), { recursive: true, force: true })
	}
	real.broken = []
}

test('behavior: over any operations, crashes and failed writes, it is what the plain reference is', async () => {
	const commands = [
		operation.map((each) => together([each])),
		operation.map((each) => together([each])),
		operation.map((each) => together([each])),
		fc
			.array(
				operation.filter(({ name }) => name !== 'claim' && name !== 'release' && name !== 'enrol'),
				{ minLength: 2, maxLength: 6 },
			)
			.map(together),
		fc.constant(crash),
		fc.constantFrom(
			breakage('state.json.tmp', ['state.json']),
			breakage('state.json.prev', ['state.json']),
			breakage('coverage.json.tmp', ['coverage.json']),
		),
		fc.constant(mending),
	]
	await fc.assert(
		fc.asyncProperty(fc.commands(commands, { size: '+1', maxCommands: 60 }), async (run) => {
			const folder = await makeFolder()
			try {
				const setup = async () => {
					const real: Real = { folder, store: await open(folder), broken: [] }
					return { model: { now: reference.emptyReference() }, real }
				}
				await fc.asyncModelRun(setup, run)
			} finally {
				await removeFolder(folder)
			}
		}),
		{ seed: 20_261_121, numRuns: 80 },
	)
})
