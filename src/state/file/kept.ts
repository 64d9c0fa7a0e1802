/** What else is kept in a state folder: the watchlists that were last right, as whoever keeps them has them in JSON. */

import { join } from 'node:path'
import { durableFile, type Format } from './durable.js'

const keptFormat: Format<{ readonly pieces: Iterable<string>; readonly value: unknown }> = {
	version: 1,
	migrations: {},
	encode: ({ pieces }) => pieces,
	decode: (value) => ({ pieces: [], value }),
}

const keptFile = (folder: string) => durableFile(join(folder, 'watchlists.json'), keptFormat)

/** Durable when it resolves. Throws StateError `disk`. */
export async function writeKept(folder: string, pieces: Iterable<string>): Promise<void> {
	await keptFile(folder).write({ pieces, value: null })
}

/** Null where none was ever kept. Throws StateError `damaged`, `newer` or `disk`. */
export async function readKept(folder: string): Promise<unknown> {
	return (await keptFile(folder).read())?.value ?? null
}
