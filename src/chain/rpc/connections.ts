/**
 * POSTs to one origin over a few connections that are kept. Node's own client and not undici's: that one (7, the last
 * for Node 20) throws where nobody can catch it when a node closes the connection while the reading of its answer is
 * held back, https://github.com/nodejs/undici/issues/5360, and so every node could end this program.
 */

import http from 'node:http'
import https from 'node:https'
import type { EndpointUrl } from './endpointUrl.js'

export interface ConnectionsOptions {
	/** Most at a time; further requests wait. */
	readonly connections: number
	readonly connectTimeoutMs: number
}

export interface Connections {
	/**
	 * Resolves when the headers are there; the body is to be read or destroyed. No redirect is followed. Throws what the
	 * socket, TLS or the parser says, ETIMEDOUT when there is no connection in time, and the signal's reason.
	 */
	post(body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<http.IncomingMessage>
	/** Also ends what is under way, and what waits. */
	close(): void
}

/** For so long one that nobody uses is kept; less when the node says so. */
const idleMs = 30_000

export function createConnections(
	url: EndpointUrl,
	{ connections, connectTimeoutMs }: ConnectionsOptions,
): Connections {
	const { protocol, hostname, port } = new URL(url.origin)
	const { Agent, request } = protocol === 'https:' ? https : http
	const established = protocol === 'https:' ? 'secureConnect' : 'connect'
	const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections, timeout: idleMs })
	const underWay = new Set<http.ClientRequest>()
	let isClosed = false
	// An IPv6 address stands in brackets in URLs only.
	const target = { agent, protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, path: url.path, method: 'POST' }

	return {
		post: (body, headers, signal) =>
			new Promise((resolve, reject) => {
				if (isClosed) return reject(new Error('the connections are closed'))
				const length = { 'content-length': String(Buffer.byteLength(body)) }
				const sent = request({ ...target, headers: { ...headers, ...length }, signal })
				underWay.add(sent)
				sent.once('error', reject).on('error', ignore)
				sent.once('close', () => {
					underWay.delete(sent)
					// Of an answer that asks for another protocol (101) nothing else is heard.
					reject(Object.assign(new Error('closed without an answer'), { code: 'ECONNRESET' }))
				})
				sent.once('response', (response) => {
					// It may fail before anybody reads it; who reads it hears of it all the same.
					resolve(response.on('error', ignore))
				})
				sent.once('socket', (socket) => {
					if (!socket.connecting) return
					const late = () => socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }))
					const timer = setTimeout(late, connectTimeoutMs)
					const stop = () => clearTimeout(timer)
					socket.once(established, stop).once('close', stop)
				})
				sent.end(body)
			}),
		close() {
			isClosed = true
			for (const sent of underWay) sent.destroy()
			agent.destroy()
		},
	}
}

function ignore(): void {}
