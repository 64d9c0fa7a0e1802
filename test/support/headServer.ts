/** A node on loopback that is asked for new heads over WebSocket, and behaves as the test says. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { createArrivals } from './arrivals.js'

export interface HeadServer {
	/** `127.0.0.1:<port>` */
	readonly host: string
	/** What was asked for at the opening of each connection, in order. */
	readonly opened: readonly IncomingMessage[]
	/** Subscriptions asked for, over all connections. */
	readonly subscriptions: number
	/** Pings that came, over all connections. */
	readonly pings: number
	/** What a request is answered with; default: the subscription's id. */
	answer: (socket: WebSocket, request: { readonly id: unknown }) => void
	/** Instead of opening a WebSocket; default: it is opened. */
	refuse: ((socket: Duplex) => void) | null
	/** Tells every living subscription of a head. */
	head(): void
	/** Sends the same text to every connection. */
	say(text: string | Buffer): void
	/** Cuts every connection. */
	cut(): void
	/** Resolves when `done` does. */
	until(done: () => boolean): Promise<unknown>
	close(): Promise<void>
}

export const subscription = '0x9ce59a13059e417087c02d3236a0b1cc'

export async function startHeadServer({ autoPong = true, port = 0 } = {}): Promise<HeadServer> {
	const http = createServer()
	const sockets = new WebSocketServer({ noServer: true, autoPong })
	const opened: IncomingMessage[] = []
	const hanging = new Set<Duplex>()
	let subscriptions = 0
	let pings = 0
	const { changed, wait } = createArrivals(
		() => `${opened.length} connections, ${subscriptions} subscriptions, ${pings} pings`,
	)
	http.on('upgrade', (request, socket, head) => {
		opened.push(request)
		socket.on('error', () => {})
		hanging.add(socket)
		socket.once('close', () => hanging.delete(socket))
		if (server.refuse === null) sockets.handleUpgrade(request, socket, head, greet)
		else server.refuse(socket)
		changed()
	})
	function greet(socket: WebSocket): void {
		socket.on('error', () => {})
		socket.on('ping', () => {
			pings += 1
			changed()
		})
		socket.on('message', (data) => {
			subscriptions += 1
			server.answer(socket, JSON.parse(String(data)))
			changed()
		})
	}
	http.listen(port, '127.0.0.1')
	await once(http, 'listening')

	const server: HeadServer = {
		host: `127.0.0.1:${(http.address() as AddressInfo).port}`,
		opened,
		get subscriptions() {
			return subscriptions
		},
		get pings() {
			return pings
		},
		answer: (socket, { id }) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: subscription })),
		refuse: null,
		head: () => server.say(notification({ subscription, result: { number: '0x10' } })),
		say(text) {
			for (const socket of sockets.clients) socket.send(text)
		},
		cut() {
			for (const socket of sockets.clients) socket.terminate()
		},
		until: (done) => wait(() => done() || undefined, done),
		async close() {
			server.cut()
			for (const socket of hanging) socket.destroy()
			await new Promise((resolve) => http.close(resolve))
		},
	}
	return server
}

export function notification(params: object): string {
	return JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
}
