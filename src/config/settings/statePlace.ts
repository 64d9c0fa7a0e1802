/** Where the state is stored: in a folder, or in a PostgreSQL database that several instances share. */
import { resolve } from 'node:path'
import type { StatePlace } from '../../model/state.js'
import { readLine, readPostgresUrl } from '../values.js'
import { shown } from '../yaml/sourceFile.js'

/** Checks a folder or the URL of a database and returns it. Throws RangeError, whose message never repeats a URL. */
export function readState(text: string): string {
	return isDatabase(text) ? readPostgresUrl(text) : readLine(text)
}

/** Whether the text is meant as the URL of a database; true also when the URL is wrong. */
export function isDatabase(state: string): boolean {
	return /^[a-z][a-z0-9+.-]*:\/\//i.test(state)
}

/** A relative path is resolved against `folder`. */
export function statePlaceOf(state: string, folder: string): StatePlace {
	return isDatabase(state) ? { kind: 'postgres', url: state } : { kind: 'folder', dir: resolve(folder, state) }
}

/** The database without user, password and query; or the path of the folder, relative to `cwd` if given. */
export function statePlaceInWords(place: StatePlace, cwd?: string): string {
	if (place.kind === 'folder') return cwd === undefined ? place.dir : shown(place.dir, cwd)
	const { host, pathname, searchParams } = new URL(place.url)
	return `the database ${pathname.slice(1)} at ${host || searchParams.get('host')}`
}
