/**
 * Keeps a server answering however many connect to it and say nothing: beyond `most` connections the one that has been
 * silent for longest makes room for the newcomer, instead of the newcomer being turned away.
 */

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export function makeRoom(server: Server, most: number): void {
	/** In the order of their last request, or of their coming where there was none. */
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
