/**
 * Both files of a state folder, read together: one alone tells whether the other is missing or was never there. Books
 * that stand by themselves are read by whoever needs them.
 */

import { join } from 'node:path'
import type { StateDoc } from '../document.js'
import type { BooksAt } from './bookFile.js'
import { stateFileFormat } from './codec.js'
import { coveragePath, type FoundCoverage, readCoverageFiles } from './coverageFile.js'
import { coverageFormat } from './coverageFormat.js'
import { damagedError, previousOf } from './damage.js'
import { exists } from './diskErrors.js'
import { durableFile, isWhole } from './durable.js'

export interface FoundState {
	/** Null: nothing was ever stored here. */
	readonly state: StateDoc | null
	/** Where its books stand, which are not in it then; null: they are. */
	readonly booksAt: BooksAt | null
	/** Null: nothing was ever stored here. */
	readonly coverage: FoundCoverage | null
}

export function statePath(folder: string): string {
	return join(folder, 'state.json')
}

/** Throws StateError `damaged` (also when a file is missing that must have been there), `newer` or `disk`. */
export async function readState(folder: string): Promise<FoundState> {
	const [atState, atCoverage] = [statePath(folder), coveragePath(folder)]
	const found = await durableFile(atState, stateFileFormat).read()
	const state = found?.doc ?? null
	if (state === null && ((await exists(previousOf(atState))) || (await exists(atCoverage)))) {
		throw await damagedError(atState, 'it is missing, though there was one', isWhole(stateFileFormat))
	}
	const coverage = await readCoverageFiles(folder)
	if (coverage === null && ((await exists(previousOf(atCoverage))) || (state !== null && state.networks.size > 0))) {
		throw await damagedError(atCoverage, 'it is missing, though there was one', isWhole(coverageFormat))
	}
	return { state, booksAt: found?.booksAt ?? null, coverage }
}
