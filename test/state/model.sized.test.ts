import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Store } from '../../src/model/ports.js'
import { openFileStore } from '../../src/state/file/store.js'
import { sized } from '../support/longRun.js'
import { makeFolder, removeFolder } from './file/folder.js'
import type { Operation } from './operations.js'
import { NOW_MS, operation } from './operations.js'
import type { Reference } from './reference.js'
import * as reference from './reference.js'

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

async function compare({ now }: Model, { store }: Real): Promise<void> {
	for (const name of ['ethereum', 'base']) {
		const expected = now.networks[name]
		expect(await store.network(name)).toEqual(
			expected
				? {
						chainId: expected.chainId,
						checkpoint: expected.checkpoint,
						settled: expected.settled,
						announcements: new Map(expected.announcements.map((entry) => [entry.id, entry])),
						covered: new Map(Object.entries(expected.covered)),
						backfills: reference.live(expected),
						updatedAtMs: expected.updatedAtMs,
						books: new Map(),
						gaps: new Map(),
					}
				: null,
		)
	}
	expect(await store.deliveries()).toEqual(now.deliveries)
	expect(await store.nextDueMs()).toBe(reference.nextDueMs(now))
	const { receivers } = await store.summary()
	for (const [name, announcements] of receivers) {
		const own = now.deliveries.filter(({ receiver }) => receiver === name)
		const count = (status: string) => own.filter((each) => each.status === status).length
		expect(announcements).toMatchObject({
			pending: count('pending'),
			held: count('held'),
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

/**
 * A folder in the place of a file that the write needs makes it fail, for root too: before its rename, or at the very
 * start.
 */
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
		{ seed: 20_261_121, numRuns: sized(20, 80) },
	)
})
