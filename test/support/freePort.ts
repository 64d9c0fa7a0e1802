import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** One where nothing listens, on loopback; nobody keeps it free. */
export async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1')
	await once(server, 'listening')
	const port = portOf(server)
	server.close()
	await once(server, 'close')
	return port
}

function portOf(server: Server): number {
	const address = server.address()
	if (address === null || typeof address === 'string') throw new Error('listens on no port')
	return address.port
}
