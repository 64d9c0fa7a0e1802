/**
 * HTTP requests to one origin over a few connections that are kept. Node's own client and not undici's: that one (7,
 * the last for Node 20) throws where nobody can catch it when the other side closes the connection while the reading of
 * its answer is held back, https://github.com/nodejs/undici/issues/5360, and so everybody who is asked could end this
 * program. It also takes 18 MB, and 70 ms of each start.
 */

import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'

export interface ConnectionsOptions {
	/** Most at a time; further requests wait. */
	readonly connections: number
	readonly connectTimeoutMs: number
	/** For so long one that nobody uses is kept; less when the other side says so. Default 30 s. */
	readonly idleMs?: number
	/** Finds the addresses of a name. Default: the system's. */
	readonly lookup?: LookupFunction
}

export interface Connections {
	/**
	 * Resolves when the headers are there; the body is to be read or destroyed. No redirect is followed. Throws what the
	 * socket, TLS or the parser says, ETIMEDOUT when there is no connection in time, and when the signal is aborted.
	 */
	send(request: HttpRequest, signal: AbortSignal): Promise<http.IncomingMessage>
	/** Also ends what is under way, and what waits. */
	close(): void
}

export interface HttpRequest {
	readonly method: 'GET' | 'POST'
	/** With the query. */
	readonly path: string
	readonly headers?: Readonly<Record<string, string>>
	readonly body?: string | Uint8Array
}

/** Answers before the answer (100 Continue, 103 Early Hints): without end they would keep the whole process at work. */
const mostInterims = 16

export function createConnections(
	origin: string,
	{ connections, connectTimeoutMs, idleMs = 30_000, lookup }: ConnectionsOptions,
): Connections {
	const { protocol, hostname, port } = new URL(origin)
	const { Agent, request } = protocol === 'https:' ? https : http
	const established = protocol === 'https:' ? 'secureConnect' : 'connect'
	const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections, timeout: idleMs })
	const underWay = new Set<http.ClientRequest>()
	let isClosed = false
	// An IPv6 address stands in brackets in URLs only.
	const target = { agent, protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, ...(lookup && { lookup }) }

	return {
		send: ({ method, path, headers, body }, signal) =>
			new Promise((resolve, reject) => {
				if (isClosed) return reject(new Error('the connections are closed'))
				const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
				const sent = request({ ...target, method, path, headers: { ...headers, ...length }, signal })
				underWay.add(sent)
				sent.once('error', reject).on('error', ignore)
				sent.once('close', () => {
					underWay.delete(sent)
					// Of an answer that asks for another protocol (101) nothing else is heard.
					reject(Object.assign(new Error('closed without an answer'), { code: 'ECONNRESET' }))
				})
				let interims = 0
				sent.on('information', () => {
					if (++interims > mostInterims)
						sent.destroy(Object.assign(new Error('no end of them'), { code: 'HPE_INTERIM' }))
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
