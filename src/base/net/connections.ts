/**
 * The room holds what clients of HTTP servers share. This file: HTTP requests to one origin over a pool of keep-alive
 * connections. Uses Node's own client instead of undici: undici 7, the last version for Node 20, throws an uncatchable
 * error when the server closes the connection while reading of its answer is paused
 * (https://github.com/nodejs/undici/issues/5360), so any server could crash this program. undici also takes 18 MB, and
 * 70 ms of each start.
 */

import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'

export interface ConnectionsOptions {
	/** Maximum of concurrent connections; further requests wait. */
	readonly connections: number
	readonly connectTimeoutMs: number
	/** How long an idle connection is kept, unless the server names a shorter time. Default 30 s. */
	readonly idleMs?: number
	/** Resolves host names. Default: the system's resolver. */
	readonly lookup?: LookupFunction
}

export interface Connections {
	/**
	 * Resolves when the headers have arrived; the caller must read or destroy the body. Redirects are not followed.
	 * Throws the error of the socket, TLS or the parser, ETIMEDOUT when no connection is made within `connectTimeoutMs`,
	 * and an AbortError when the signal is aborted.
	 */
	send(request: HttpRequest, signal: AbortSignal): Promise<http.IncomingMessage>
	/** Also aborts requests that are under way or waiting. */
	close(): void
}

export interface HttpRequest {
	readonly method: 'GET' | 'POST'
	/** Includes the query. */
	readonly path: string
	readonly headers?: Readonly<Record<string, string>>
	readonly body?: string | Uint8Array
}

/**
 * Maximum of interim responses (100 Continue, 103 Early Hints) to one request. A server that sends them endlessly would
 * keep the process busy.
 */
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
	// URLs put brackets around IPv6 addresses; sockets take them without.
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
					// A response that switches protocols (101) emits no other event than this one.
					reject(Object.assign(new Error('closed without an answer'), { code: 'ECONNRESET' }))
				})
				let interims = 0
				sent.on('information', () => {
					if (++interims > mostInterims)
						sent.destroy(Object.assign(new Error('no end of them'), { code: 'HPE_INTERIM' }))
				})
				sent.once('response', (response) => {
					// The response may fail before the caller reads it. The reader still gets the error.
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
