/** Open troubles, in a file of their own, because they change rarely and are read only at a start. */

import { join } from 'node:path'
import type { Troubles } from '../../model/trouble.js'
import { durableFile, type Format } from './disk/durable.js'

const troubleFormat: Format<Troubles> = {
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
