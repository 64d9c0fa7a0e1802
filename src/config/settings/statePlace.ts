/** Where the state is kept: a folder, or a PostgreSQL database that several instances share. */
import { resolve } from 'node:path'
import type { StatePlace } from '../../model/state.js'
import { readDuration } from '../duration.js'
import { shown } from '../source.js'
import { readLine, readPostgresUrl } from '../values.js'

/** A folder, or the URL of a database. Throws RangeError, which never repeats a URL. */
export function readState(text: string): string {
	return isDatabase(text) ? readPostgresUrl(text) : readLine(text)
}

/** Whether it is meant for a database; also when the URL is wrong. */
export function isDatabase(state: string): boolean {
	return /^[a-z][a-z0-9+.-]*:\/\//i.test(state)
}

/** `folder` is what paths are relative to. */
export function statePlaceOf(state: string, folder: string): StatePlace {
	return isDatabase(state) ? { kind: 'postgres', url: state } : { kind: 'folder', dir: resolve(folder, state) }
}

/** Without user, password and query; the path of a folder as seen from `cwd`, or whole. */
export function statePlaceInWords(place: StatePlace, cwd?: string): string {
	if (place.kind === 'folder') return cwd === undefined ? place.dir : shown(place.dir, cwd)
	const { host, pathname, searchParams } = new URL(place.url)
	return `the database ${pathname.slice(1)} at ${host || searchParams.get('host')}`
}

/** Shorter, and a pause of the machine costs the lease; longer, and nobody watches meanwhile. In milliseconds. */
export function readLease(text: string): number {
	const ms = readDuration(text)
	if (ms >= 3_000 && ms <= 600_000) return ms
	throw new RangeError('must be at least 3s and at most 10m')
}
