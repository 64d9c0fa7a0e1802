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
	/**
	 * Accepts answers that break the rules of HTTP in their heads, such as bare line feeds. Where even then only the
	 * status line can be read (junk among the headers, an early end), the error of `send` is a `BrokenHead`. Only for
	 * servers of which no more than the status is believed. Default: false.
	 */
	readonly lenient?: boolean
}

/** An error of `send`, where the status line of the answer could be read, but not the rest of its head. */
export interface BrokenHead extends Error {
	readonly answered?: { readonly status: number; readonly body: string }
}

interface HttpRequest {
	readonly method: 'GET' | 'POST'
	/** Includes the query. */
	readonly path: string
	readonly headers?: Readonly<Record<string, string>>
	readonly body?: string | Uint8Array
}

/** Maximum of interim responses (100 Continue, 103 Early Hints) to one request. */
const mostInterims = 16

/** How long the rest of a head may take after its status line. */
const headTimeLimitMs = 5_000

export function createConnections(
	origin: string,
	{ connections, connectTimeoutMs, idleMs = 30_000, lookup, lenient = false }: ConnectionsOptions,
) {
	const { protocol, hostname, port } = new URL(origin)
	const { Agent, request } = protocol === 'https:' ? https : http
	const established = protocol === 'https:' ? 'secureConnect' : 'connect'
	const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections, timeout: idleMs })
	const underWay = new Set<http.ClientRequest>()
	let isClosed = false
	// URLs put brackets around IPv6 addresses; sockets take them without.
	const target = {
		...{ agent, protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, insecureHTTPParser: lenient },
		...(lookup && { lookup }),
	}

	return {
		/**
		 * Resolves when the headers have arrived; the caller must read or destroy the body. Redirects are not followed.
		 * Throws the error of the socket, TLS or the parser, ETIMEDOUT when no connection is made within
		 * `connectTimeoutMs`, and an AbortError when the signal is aborted.
		 */
		send: ({ method, path, headers, body }: HttpRequest, signal: AbortSignal) =>
			new Promise<http.IncomingMessage>((resolve, reject) => {
				if (isClosed) return reject(new Error('the connections are closed'))
				const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
				const sent = request({ ...target, method, path, headers: { ...headers, ...length }, signal })
				underWay.add(sent)
				const head = lenient ? readHead(sent) : null
				sent.once('error', (error) => reject(Object.assign(error, head?.answered()))).on('error', ignore)
				sent.once('close', () => {
					underWay.delete(sent)
					// A response that switches protocols (101) emits no other event than this one.
					const error = new Error('closed without an answer')
					reject(Object.assign(error, { code: 'ECONNRESET' }, head?.answered()))
				})
				limitInterims(sent)
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
		/** Also aborts requests that are under way or waiting. */
		close() {
			isClosed = true
			for (const sent of underWay) sent.destroy()
			agent.destroy()
		},
	}
}

/** Ends a request whose server sends interim responses without end, which would keep the process busy. */
export function limitInterims(sent: http.ClientRequest): void {
	let interims = 0
	sent.on('information', () => {
		if (++interims > mostInterims) sent.destroy(Object.assign(new Error('no end of them'), { code: 'HPE_INTERIM' }))
	})
}

const mostOfHead = 16_384

/**
 * Interim responses before an answer. No line can match in two ways: otherwise the time would double with each
 * response, and a server could stop this process.
 */
const interimHeads = /^(?:HTTP\/\d\.\d 1\d\d[^\n]*\n(?:(?!\r?\n)[^\n]*\n)*\r?\n)+/

/** Keeps the first bytes of an answer, for its status line. */
function readHead(sent: http.ClientRequest): { answered(): Pick<BrokenHead, 'answered'> } {
	let text = ''
	const answered = () => {
		const [, code, rest = ''] =
			/^HTTP\/\d(?:\.\d)? +([2-9]\d\d)(?!\d)([\s\S]*)$/.exec(text.replace(interimHeads, '')) ?? []
		if (code === undefined || !/[ \r\n]/.test(rest)) return {}
		const body = rest
			.split(/\r?\n\r?\n/)
			.slice(1)
			.join('\n\n')
		return { answered: { status: Number(code), body } }
	}
	sent.once('socket', (socket) => {
		let timer: NodeJS.Timeout | undefined
		const late = () => sent.destroy(Object.assign(new Error('no end of the head'), { code: 'HPE_HEAD' }))
		const read = (chunk: Buffer) => {
			if (text.length < mostOfHead) text += chunk.toString('latin1').slice(0, mostOfHead)
			timer ??= setTimeout(late, headTimeLimitMs)
		}
		const stop = () => {
			clearTimeout(timer)
			socket.removeListener('data', read)
		}
		// Before the parser, which ends the request at the first fault.
		socket.prependListener('data', read)
		sent.once('response', stop).once('close', stop)
	})
	return { answered }
}

function ignore(): void {}
