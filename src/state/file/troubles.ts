/** What receivers were told is wrong, in a file of its own: it is written once in a month, and read at a start. */

import { join } from 'node:path'
import type { Troubles } from '../../model/trouble.js'
import { durableFile, type Format } from './durable.js'

export const troubleFormat: Format<Troubles> = {
	version: 1,
	migrations: {},
	*encode({ open, timesAccepted }) {
		yield JSON.stringify({ open, timesAccepted })
	},
	decode: (data) => data as Troubles,
}

const fileIn = (folder: string) => durableFile(join(folder, 'troubles.json'), troubleFormat)

/** Null where there were none yet. Throws StateError. */
export async function readTroubles(folder: string): Promise<Troubles | null> {
	return await fileIn(folder).read()
}

/** Durable when it resolves. Throws StateError `disk`. */
export async function writeTroubles(folder: string, troubles: Troubles): Promise<void> {
	await fileIn(folder).write(troubles)
}
