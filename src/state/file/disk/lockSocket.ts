/**
 * A socket in the state folder that shows whether its process is alive: the kernel refuses connections from the moment
 * the process dies for any reason, and accepts them while it is suspended.
 */

import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { listenIn, throughShortPath } from '../../../base/net/socketPath.js'
import { codeOf } from '../../../base/systemError.js'

/** Listens in the folder under this name. Does not keep the process alive. Throws the system's error. */
export async function listenAlive(folder: string, name: string): Promise<Server> {
	const server = createServer((socket) => socket.destroy())
	await listenIn(server, folder, name)
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
