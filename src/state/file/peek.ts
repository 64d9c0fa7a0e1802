/** Reads a state folder while another process may hold it: takes no lock, and writes nothing. */

import { StateError } from '../../errors.js'
import { type FoundFolder, readFolder } from './readFolder.js'

/** A snapshot that is read between the writes of its two files looks damaged, so a damaged one is read again. */
export async function readBeside(folder: string): Promise<FoundFolder | null> {
	try {
		return await readFolder(folder)
	} catch (error) {
		if (!(error instanceof StateError) || error.reason !== 'damaged') throw error
		return await readFolder(folder)
	}
}
