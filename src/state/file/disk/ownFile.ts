/** Files of the state: only this program should have written them, and the owner of their folder reads them. */

import { constants, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../../../base/systemError.js'
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

/** A file that root creates, in a command with sudo, gets the owner of its folder: the daemon must read it. */
export async function giveToOwner(file: FileHandle, folder: string): Promise<void> {
	if (process.geteuid?.() !== 0) return
	const { uid, gid } = await stat(folder)
	await file.chown(uid, gid)
}

/** Makes a folder durably if it is missing. It belongs to the owner of its parent folder, who alone may use it. */
export async function makeFolder(path: string): Promise<void> {
	if (existsSync(path)) return
	// Not `recursive`: it may report ENOENT for EROFS, and below /proc it never ends.
	if (!existsSync(dirname(path))) await makeFolder(dirname(path))
	try {
		await mkdir(path, { mode: 0o700 })
	} catch (error) {
		// Another process was faster, or it is a link to nothing, which its use reports.
		if (codeOf(error) === 'EEXIST') return
		throw error
	}
	const folder = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
	await giveToOwner(folder, dirname(path)).finally(() => folder.close())
	await syncFolder(dirname(path))
}

/** Without this, a new file name may not survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, 'r')
	try {
		await handle.sync()
	} finally {
		await handle.close()
	}
}
