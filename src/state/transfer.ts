/**
 * A whole state as one JSON document, with the frame and the checksum of a state file: to move between a folder and a
 * database, and to keep a copy that does not depend on either.
 */

import { readFile } from 'node:fs/promises'
import { StateError } from '../errors.js'
import type { Clock } from '../model/glossary.js'
import type { StatePlace } from '../model/state.js'
import type { CoverageDoc, StateDoc, Whole } from './document.js'
import { emptyCoverage, emptyState } from './document.js'
import { stateFormat } from './file/codec.js'
import { coverageWriter } from './file/coverageFile.js'
import { coverageFormat } from './file/coverageFormat.js'
import { durableFile, examine, type Format, migrated, pieces } from './file/durable.js'
import { lockState } from './file/lock.js'
import { readState, statePath } from './file/read.js'
import { readWholeState } from './file/stateFile.js'
import { readTroubles, troubleFormat, writeTroubles } from './file/troubles.js'
import { readPostgres, writePostgres } from './postgres/peek.js'

interface Part {
	readonly v: number
	readonly data: unknown
}

/**
 * Each part in the version of its own file, so that a document can be read by every later program that reads such
 * files.
 */
const wholeFormat: Format<Whole> = {
	// An earlier program would read the parts of a version that it does not know.
	version: 2,
	migrations: { 1: (data) => data },
	*encode({ state, coverage, troubles }) {
		yield `{"state":{"v":${stateFormat.version},"data":`
		yield* stateFormat.encode(state)
		yield `},"coverage":{"v":${coverageFormat.version},"data":`
		yield* coverageFormat.encode({ id: '', coverage })
		if (troubles !== undefined) {
			yield `},"troubles":{"v":${troubleFormat.version},"data":`
			yield* troubleFormat.encode(troubles)
		}
		yield '}}'
	},
	async decode(data) {
		const { state, coverage, troubles } = data as Record<'state' | 'coverage', Part> & { readonly troubles?: Part }
		const known = troubles && (await troubleFormat.decode(migrated(troubles.data, troubles.v, troubleFormat)))
		return {
			state: await stateFormat.decode(migrated(state.data, state.v, stateFormat)),
			coverage: (await coverageFormat.decode(migrated(coverage.data, coverage.v, coverageFormat))).coverage,
			...(known && { troubles: known }),
		}
	},
}

/**
 * Reads a state beside whoever has it open. Null when nothing was ever stored there. Throws StateError `damaged`,
 * `newer` or `disk`.
 */
export async function readPlace(place: StatePlace, clock: Clock): Promise<Whole | null> {
	if (place.kind === 'postgres') return await readPostgres(place.url, clock)
	let { state, coverage, damage } = await readWholeState(place.dir)
	// The files of two steps, one of which a daemon made meanwhile, look like damage; they do not a second time.
	if (damage !== null) ({ state, coverage, damage } = await readWholeState(place.dir))
	if (damage !== null) throw new StateError('damaged', `${damage}. Start the daemon once: it opens these books anew.`)
	if (state === null) return null
	// One that is damaged is begun anew by the daemon, which says so.
	const troubles = await readTroubles(place.dir).catch(() => null)
	return { state, coverage: coverage?.coverage ?? emptyCoverage, ...(troubles && { troubles }) }
}

/**
 * Puts a state where there is none, making the place if it is not there. Throws StateError `mismatch` when there is one
 * already, `locked` when a daemon has the folder, `disk`.
 */
export async function fillPlace(place: StatePlace, whole: Whole, clock: Clock): Promise<void> {
	if (place.kind === 'postgres') return await writePostgres(place.url, whole, clock)
	const unlock = await lockState(place.dir)
	try {
		const { state, coverage } = await readState(place.dir)
		if (!isEmpty(state ?? emptyState, coverage?.coverage ?? emptyCoverage)) {
			throw new StateError(
				'mismatch',
				`the folder ${place.dir} holds a state already, and nothing was changed: name an empty one`,
			)
		}
		if (whole.troubles !== undefined) await writeTroubles(place.dir, whole.troubles)
		await coverageWriter(place.dir, null).write(whole.coverage)
		await durableFile(statePath(place.dir), stateFormat).write(whole.state)
	} finally {
		await unlock()
	}
}

function isEmpty({ networks, deliveries, totals }: StateDoc, coverage: CoverageDoc): boolean {
	return networks.size + deliveries.size + totals.size + coverage.size === 0
}

/** The document, in one line. */
export function textOf(whole: Whole): string {
	return Buffer.concat([...pieces(whole, wholeFormat)]).toString()
}

/** Durable when it resolves; readable by this user only. Throws StateError `disk`. */
export async function writeDocument(path: string, whole: Whole): Promise<void> {
	await durableFile(path, wholeFormat).write(whole)
}

/** Throws StateError `damaged`, `newer` or `disk`. */
export async function readDocument(path: string): Promise<Whole> {
	// Any file that the user names, also through a link or a pipe.
	const found = await examine(path, wholeFormat, readFile)
	if ('value' in found && found.value !== null) return found.value
	const words = 'value' in found ? 'it is not there' : found.damage
	throw new StateError('damaged', `${path} cannot be brought in: ${words}. Nothing was changed.`, {
		cause: 'cause' in found ? found.cause : undefined,
	})
}
