/**
 * A whole state as one JSON document in the form of `state.json`: to move it between a folder and a database, and as a
 * backup that depends on neither.
 */

import { readFile } from 'node:fs/promises'
import { StateError } from '../errors.js'
import type { Clock } from '../model/glossary.js'
import type { StatePlace } from '../model/state.js'
import type { Whole } from './document.js'
import { durableFile, examine, pieces } from './file/disk/durable.js'
import { lockState } from './file/disk/lock.js'
import { writeSnapshot } from './file/ledger.js'
import { readBeside } from './file/peek.js'
import { mustBeOurFormat, readFolder } from './file/records/read.js'
import { type Snapshot, snapshotFormat } from './file/records/snapshot.js'
import { readTroubles, writeTroubles } from './file/troubleFile.js'
import { readPostgres, writePostgres } from './postgres/peekDatabase.js'

/**
 * Reads a state while another process may have it open. Null when nothing was ever stored there. Throws StateError
 * `damaged`, `format` or `disk`.
 */
export async function readPlace(place: StatePlace, clock: Clock): Promise<Whole | null> {
	if (place.kind === 'postgres') return await readPostgres(place.url, clock)
	const found = await readBeside(place.dir)
	if (found === null) return null
	// A damaged file is ignored here: the daemon replaces it and logs that.
	const troubles = await readTroubles(place.dir).catch(() => null)
	return { ...found.whole, ...(troubles && { troubles }) }
}

/**
 * Writes a state to an empty place, and creates the place if necessary. Throws StateError `mismatch` when there is a
 * state already, `locked` when a daemon has the folder, `disk`.
 */
export async function fillPlace(place: StatePlace, whole: Whole, clock: Clock): Promise<void> {
	if (place.kind === 'postgres') return await writePostgres(place.url, whole, clock)
	await mustBeOurFormat(place.dir)
	const unlock = await lockState(place.dir)
	try {
		const found = await readFolder(place.dir)
		if (found !== null && !isEmpty(found.whole)) {
			throw new StateError(
				'mismatch',
				`the folder ${place.dir} holds a state already, and nothing was changed: name an empty one`,
			)
		}
		const { troubles, ...rest } = whole
		if (troubles !== undefined) await writeTroubles(place.dir, troubles)
		await writeSnapshot(place.dir, found?.id ?? null, rest)
	} finally {
		await unlock()
	}
}

function isEmpty({ state: { networks, deliveries, totals }, coverage }: Whole): boolean {
	return networks.size + deliveries.size + totals.size + coverage.size === 0
}

const documentOf = (whole: Whole): Snapshot => ({ id: '', before: null, whole })

export function textOf(whole: Whole): string {
	return Buffer.concat([...pieces(documentOf(whole), snapshotFormat)]).toString()
}

/** Durable when it resolves; readable only by this user. Throws StateError `disk`. */
export async function writeDocument(path: string, whole: Whole): Promise<void> {
	await durableFile(path, snapshotFormat).write(documentOf(whole))
}

/** Throws StateError `damaged`, `format` or `disk`. */
export async function readDocument(path: string): Promise<Whole> {
	// Without the checks for state files: the user may name any file, also a link or a pipe.
	const found = await examine(path, snapshotFormat, readFile)
	if ('value' in found && found.value !== null) return found.value.whole
	const words = 'value' in found ? 'it is not there' : found.damage
	throw new StateError('damaged', `${path} cannot be imported: ${words}. Nothing was changed.`, {
		cause: 'cause' in found ? found.cause : undefined,
	})
}
