import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Store } from '../../../src/model/ports.js'
import type { Operation } from '../operations.js'
import { NOW_MS, operation } from '../operations.js'
import { emptyReference, expectStored, type Reference } from '../reference.js'
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

const one = ({ name, inModel, inReal }: Operation): Command => ({
	check: () => true,
	toString: () => name,
	async run(model, real) {
		const { refused, result } = inModel(model.now)
		const [{ status, ...rest }] = (await Promise.allSettled([inReal(real.store)])) as [PromiseSettledResult<unknown>]
		if (refused) expect(rest).toMatchObject({ reason: { reason: 'mismatch' } })
		else expect(rest).toEqual({ value: result })
		await expectStored(model.now, real.store)
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
		await expectStored(model.now, real.store)
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
					await fc.asyncModelRun(() => ({ model: { now: emptyReference() }, real }), run)
				} finally {
					await real.store.close()
				}
			}),
			{ seed: 20_261_122, numRuns: 25 },
		)
	},
)
