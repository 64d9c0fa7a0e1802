import { appendFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { Store } from '../../src/model/ports.js'
import { openFileStore } from '../support/fileStore.js'
import { sized } from '../support/longRun.js'
import { soaked } from '../support/soak.js'
import { makeFolder, newestSegment, removeFolder } from './file/folder.js'
import type { Operation } from './operations.js'
import { NOW_MS, operation } from './operations.js'
import { emptyReference, expectStored, type Reference } from './reference.js'

interface Real {
	readonly folder: string
	store: Store
	/** A file that cannot be written now. */
	broken: string | null
}

/** The reference is replaced whole, so that a step that failed leaves nothing in it. */
interface Model {
	now: Reference
}

type Command = fc.AsyncCommand<Model, Real>

/** Several operations asked for in one breath share a write. */
function together(operations: readonly Operation[]): Command {
	return {
		check: () => true,
		toString: () => operations.map(({ name }) => name).join(' + '),
		async run(model, real) {
			const before = structuredClone(model.now)
			const steps = operations.map(({ inModel }) => inModel(model.now))
			const failing = real.broken === 'journal' && steps.some(({ writes }) => writes)
			if (failing) model.now = before
			const results = await Promise.allSettled(operations.map(({ inReal }) => inReal(real.store)))
			for (const [index, { status, ...rest }] of results.entries()) {
				if (steps[index]?.refused) expect(rest).toMatchObject({ reason: { reason: 'mismatch' } })
				else if (failing) {
					expect(rest).toMatchObject({ reason: { reason: 'disk', message: expect.stringContaining(real.folder) } })
				} else expect(rest).toEqual({ value: steps[index]?.result })
			}
			await expectStored(model.now, real.store)
		},
	}
}

/** With a new snapshot again and again. */
const open = (folder: string) => openFileStore(folder, { clock: () => NOW_MS, leastJournalBytes: 2_000 })

/** A program that ends without a word: only what is on disk goes on. */
const crash: Command = {
	check: () => true,
	toString: () => 'crash',
	async run(model, real) {
		// Its end writes nothing; a snapshot that is under way must not meet the next program.
		await real.store.close()
		await mend(real)
		model.now.taken = []
		real.store = await open(real.folder)
		await expectStored(model.now, real.store)
	},
}

/**
 * A folder in the place of a file that a write needs makes it fail, for root too. In that of the journal no change is
 * taken; in that of a snapshot's temporary or previous file the journal goes on.
 */
const breakage = (spoilt: string): Command => ({
	check: () => true,
	toString: () => `break ${spoilt}`,
	async run(_, real) {
		await mend(real)
		// Changes nothing, and comes after a snapshot that is under way.
		await real.store.drop([])
		const path = spoilt === 'journal' ? newestSegment(real.folder) : join(real.folder, spoilt)
		if (spoilt === 'journal') await rename(path, `${path}.away`)
		await rm(path, { force: true })
		await vi.waitFor(async () => {
			// A snapshot may have begun meanwhile: its temporary file goes by itself, the previous file does not.
			if (spoilt === 'state.json.prev') await rm(path, { force: true })
			await mkdir(path)
		})
		real.broken = spoilt
	},
})

/** The start of a write that a kill cut short. */
const tear: Command = {
	check: () => true,
	toString: () => 'tear',
	async run(_, real) {
		await mend(real)
		await real.store.drop([])
		await appendFile(newestSegment(real.folder), '{"n":1,"chan')
	},
}

const mending: Command = {
	check: () => true,
	toString: () => 'mend',
	run: (_, real) => mend(real),
}

async function mend(real: Real): Promise<void> {
	if (real.broken === null) return
	const path = real.broken === 'journal' ? newestSegment(real.folder) : join(real.folder, real.broken)
	await rm(path, { recursive: true, force: true })
	if (real.broken === 'journal') await rename(`${path}.away`, path)
	real.broken = null
}

test('behavior: over any operations, crashes and failed writes, it is what the plain reference is', async () => {
	const commands = [
		operation.map((each) => together([each])),
		operation.map((each) => together([each])),
		operation.map((each) => together([each])),
		fc
			.array(
				operation.filter(({ name }) => name !== 'claim' && name !== 'release'),
				{ minLength: 2, maxLength: 6 },
			)
			.map(together),
		fc.constant(crash),
		fc.constantFrom(...['journal', 'state.json.tmp', 'state.json.prev'].map(breakage)),
		fc.constant(tear),
		fc.constant(mending),
	]
	await fc.assert(
		fc.asyncProperty(fc.commands(commands, { size: '+1', maxCommands: 60 }), async (run) => {
			const folder = await makeFolder()
			const opened: Real[] = []
			try {
				const setup = async () => {
					const real: Real = { folder, store: await open(folder), broken: null }
					opened.push(real)
					return { model: { now: emptyReference() }, real }
				}
				await fc.asyncModelRun(setup, run)
			} finally {
				for (const { store } of opened) await store.close()
				await removeFolder(folder)
			}
		}),
		{ seed: 20_261_121, numRuns: sized(8, soaked(40, 80)) },
	)
})
