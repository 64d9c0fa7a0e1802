/**
 * Keeps the server reachable when many clients connect and send nothing: beyond `most` connections, the one that has
 * been idle for longest is closed and the new one is accepted.
 */

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export function makeRoom(server: Server, most: number): void {
	/** Ordered by their last request, or by the time of the connection before the first request. */
	const open = new Set<Socket>()
	server.on('connection', (socket: Socket) => {
		open.add(socket)
		socket.once('close', () => open.delete(socket))
		if (open.size <= most) return
		const [longest] = open
		longest?.destroy()
		if (longest !== undefined) open.delete(longest)
	})
	server.on('request', ({ socket }) => {
		if (open.delete(socket)) open.add(socket)
	})
}
