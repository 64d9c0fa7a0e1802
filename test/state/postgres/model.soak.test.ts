import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Store } from '../../../src/model/ports.js'
import type { Operation } from '../operations.js'
import { NOW_MS, operation } from '../operations.js'
import type { Reference } from '../reference.js'
import * as reference from '../reference.js'
import { readState } from '../samples.js'
import { openPgStore } from './pgStore.js'
import { emptied, startServer } from './server.js'

const server = await startServer()

afterAll(() => server?.stop())

interface Real {
	store: Store
}

interface Model {
	readonly now: Reference
}

type Command = fc.AsyncCommand<Model, Real>

async function open(): Promise<Store> {
	return await openPgStore(server?.url() ?? '', { clock: () => NOW_MS, leastJournalBytes: 2_000 })
}

async function compare({ now }: Model, { store }: Real): Promise<void> {
	for (const name of ['ethereum', 'base']) {
		const expected = now.networks[name]
		const announcements = new Map(expected?.announcements.map((entry) => [entry.id, entry]))
		const found = await readState(await store.network(name))
		expect(found).toEqual(
			expected
				? {
						chainId: expected.chainId,
						checkpoint: expected.checkpoint,
						settled: expected.settled,
						announcements,
						covered: new Map(Object.entries(expected.covered)),
						backfills: reference.live(expected),
						updatedAtMs: expected.updatedAtMs,
						books: new Map(),
						gaps: new Map(),
						contracts: new Map(),
					}
				: null,
		)
		if (found) expect([...found.announcements.keys()]).toEqual([...announcements.keys()])
	}
	expect(await store.deliveries()).toEqual(now.deliveries)
	expect(await store.nextDueMs()).toBe(reference.nextDueMs(now))
	const { receivers, networks } = await store.summary()
	for (const [name, expected] of Object.entries(now.networks)) {
		expect(networks.get(name)?.backfills).toEqual(reference.live(expected))
	}
	for (const [name, told] of receivers) {
		const own = now.deliveries.filter(({ receiver }) => receiver === name)
		const count = (status: string) => own.filter((each) => reference.shownStatus(each) === status).length
		expect(told).toMatchObject({
			pending: count('pending'),
			held: count('held'),
			parked: count('parked'),
			dead: count('dead'),
			delivered: now.delivered[name] ?? 0,
		})
	}
}

const one = ({ name, inModel, inReal }: Operation): Command => ({
	check: () => true,
	toString: () => name,
	async run(model, real) {
		const { refused, result } = inModel(model.now)
		const [{ status, ...rest }] = (await Promise.allSettled([inReal(real.store)])) as [PromiseSettledResult<unknown>]
		if (refused) expect(rest).toMatchObject({ reason: { reason: 'mismatch' } })
		else expect(rest).toEqual({ value: result })
		await compare(model, real)
	},
})

/** All that is only in memory is gone. */
const reopening: Command = {
	check: () => true,
	toString: () => 'reopen',
	async run(model, real) {
		await real.store.close()
		model.now.taken = []
		real.store = await open()
		await compare(model, real)
	},
}

/** Whatever is asked next comes to a dead connection first. */
const cut: Command = {
	check: () => true,
	toString: () => 'cut',
	async run() {
		await server?.cutAll()
	},
}

test.skipIf(server === null)(
	'behavior: over any operations, restarts and cut connections, it is what the plain reference is',
	async () => {
		const some = operation.map(one)
		const commands = [some, some, some, some, fc.constant(reopening), fc.constant(cut)]
		await fc.assert(
			fc.asyncProperty(fc.commands(commands, { size: '+1', maxCommands: 60 }), async (run) => {
				if (server) await emptied(server)
				const real: Real = { store: await open() }
				try {
					await fc.asyncModelRun(() => ({ model: { now: reference.emptyReference() }, real }), run)
				} finally {
					await real.store.close()
				}
			}),
			{ seed: 20_261_122, numRuns: 25 },
		)
	},
)
