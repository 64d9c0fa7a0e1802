/**
 * A socket in the state folder that shows whether its process is alive: the kernel refuses connections from the moment
 * the process dies for any reason, and accepts them while it is suspended.
 */

import { mkdtemp, rm, symlink } from 'node:fs/promises'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../../../base/systemError.js'

/** The system refuses or cuts longer paths. */
const longestPathBytes = 100

/**
 * Listens in the folder under this name, for this user only. Does not keep the process alive. Throws the system's
 * error.
 */
export async function listenIn(folder: string, name: string): Promise<Server> {
	const server = createServer((socket) => socket.destroy())
	await throughShortPath(folder, name, async (path) => {
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject)
			// `listen` creates the socket with the umask of this moment.
			const umask = process.umask(0o177)
			try {
				server.listen(path, () => resolve())
			} finally {
				process.umask(umask)
			}
		})
	})
	return server.unref()
}

/** Whether the process behind a socket of the folder is alive. Reads nothing from it. */
export async function isAliveIn(folder: string, name: string): Promise<boolean> {
	return await throughShortPath(
		folder,
		name,
		(path) =>
			new Promise((resolve) => {
				const socket = connect(path)
				const end = (isAlive: boolean) => {
					socket.destroy()
					resolve(isAlive)
				}
				socket.once('connect', () => end(true))
				// EAGAIN: too many connections wait for a process that is suspended.
				socket.once('error', (error) => end(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')))
			}),
	)
}

/** A socket at a long path is reached through a short link, in a folder that only this user can write to. */
async function throughShortPath<T>(folder: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
	const path = join(folder, name)
	if (Buffer.byteLength(path) <= longestPathBytes) return await use(path)
	const way = await mkdtemp(join(tmpdir(), 'tw-'))
	try {
		await symlink(folder, join(way, 's'))
		return await use(join(way, 's', name))
	} finally {
		await rm(way, { recursive: true, force: true })
	}
}
