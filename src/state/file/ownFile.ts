/** A file of the state, read as one that nobody but this program should have written. */

import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StateError } from '../../errors.js'

/**
 * Refuses links, pipes and devices (never waiting for one), and files of other users than this one, root and the owner
 * of the folder. Throws what the system says, and StateError `disk`.
 */
export async function readOwnFile(path: string): Promise<Buffer> {
	const file = await openOwnFile(path)
	try {
		return await file.readFile()
	} finally {
		await file.close()
	}
}

/** The same, to be read by whoever closes it. */
export async function openOwnFile(path: string): Promise<FileHandle> {
	// Not blocking: a pipe would hold up the opening until somebody writes to it.
	const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
	try {
		const found = await file.stat()
		if (!found.isFile() && !found.isDirectory())
			throw new StateError('disk', `cannot read ${path}: it is no plain file`)
		const owners = [0, process.geteuid?.(), (await stat(dirname(path))).uid]
		if (!owners.includes(found.uid))
			throw new StateError(
				'disk',
				`cannot read ${path}: it belongs to another user (${found.uid}), who may have made it up`,
			)
		return file
	} catch (error) {
		await file.close()
		throw error
	}
}
