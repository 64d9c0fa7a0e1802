/**
 * A socket in the state folder that shows whether its process is alive: the kernel refuses connections from the moment
 * the process dies for any reason, and accepts them while it is suspended.
 */

import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { throughShortPath } from '../../../base/net/socketPath.js'
import { codeOf } from '../../../base/systemError.js'

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
