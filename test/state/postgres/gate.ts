/** A way to the database on which answers can be held back or lost. */

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export interface Gate {
	/** The same database by this way. */
	url(url: string): string
	/** The answer to the next statement that holds this text waits; resolves to what lets it through. */
	holdBack(text: string): { readonly arrived: Promise<void>; open(): void }
	/** The next statement that holds this text is carried out, and its connection is cut instead of the answer. */
	lose(text: string): void
	close(): Promise<void>
}

export async function openGate(port: number): Promise<Gate> {
	const sockets = new Set<Socket>()
	let waiting: { readonly text: string; readonly arrived: () => void; readonly opened: Promise<void> } | null = null
	let losing: string | null = null
	const server = createServer((client) => {
		const database = connect(port, '127.0.0.1')
		let blocked: Promise<void> | null = null
		let lost = false
		for (const socket of [client, database]) {
			sockets.add(socket)
			socket.on('error', () => socket.destroy())
			socket.on('close', () => {
				client.destroy()
				database.destroy()
			})
		}
		client.on('data', (bytes) => {
			const text = bytes.toString('latin1')
			if (waiting !== null && text.includes(waiting.text)) {
				blocked = waiting.opened
				waiting.arrived()
				waiting = null
			}
			if (losing !== null && text.includes(losing)) {
				lost = true
				losing = null
			}
			database.write(bytes)
		})
		database.on('data', (bytes) => {
			if (lost) client.destroy()
			else if (blocked === null) client.write(bytes)
			else void blocked.then(() => client.write(bytes))
		})
	})
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	const own = (server.address() as AddressInfo).port
	return {
		url: (url) => url.replace(`:${port}/`, `:${own}/`),
		holdBack(text) {
			let open = () => {}
			const opened = new Promise<void>((resolve) => {
				open = resolve
			})
			const arrived = new Promise<void>((resolve) => {
				waiting = { text, arrived: resolve, opened }
			})
			return { arrived, open: () => open() }
		},
		lose(text) {
			losing = text
		},
		async close() {
			for (const socket of sockets) socket.destroy()
			await new Promise((resolve) => server.close(resolve))
		},
	}
}
