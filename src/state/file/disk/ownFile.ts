/** Reads files of the state that only this program should have written. */

import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StateError } from '../../../errors.js'

/**
 * Refuses links, pipes and devices without waiting for them, and files of other users than this one, root and the
 * folder's owner. Throws the system's error, and StateError `disk`.
 */
export async function readOwnFile(path: string): Promise<Buffer> {
	const file = await openOwnFile(path)
	try {
		return await file.readFile()
	} finally {
		await file.close()
	}
}

/** The same checks; the caller closes the file. */
export async function openOwnFile(path: string): Promise<FileHandle> {
	// Non-blocking, because opening a pipe would wait for a writer.
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
