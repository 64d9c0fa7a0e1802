import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below those that the kernel gives to connections and to servers that ask for any (from 32768 on): there another
 * process may have it a moment later.
 */
const [first, count] = [12_000, 20_000]

/** One where nothing listens, on loopback; no one keeps it free, but only who asks here too could take it. */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = first + Math.floor(Math.random() * count)
		if (await isFree(port)) return port
	}
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer().listen(port, '127.0.0.1')
	try {
		await once(server, 'listening')
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
		throw error
	}
	server.close()
	await once(server, 'close')
	return true
}
