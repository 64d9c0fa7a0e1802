/** A webhook receiver on loopback: remembers each request as it came, and answers as it is told to. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createArrivals, enough } from './arrivals.js'

export interface Hit {
	readonly method: string
	/** Path and query. */
	readonly url: string
	readonly headers: IncomingHttpHeaders
	/** As it came over the wire. */
	readonly body: Buffer
	/** Of the standard format: `webhook-id`; else empty. */
	readonly id: string
	readonly atMs: number
	/** How many came before. */
	readonly index: number
}

/** A status, an answer, or whatever one likes to do with the connection. */
export type HookAnswer =
	| number
	| { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer }
	| ((response: ServerResponse, request: IncomingMessage) => void)

export interface HookServer {
	/** `http://127.0.0.1:<port>` */
	readonly origin: string
	readonly hits: readonly Hit[]
	/** What is answered from now on; default 204. */
	answer: (hit: Hit) => HookAnswer
	/** Whether a request is read at all; one that is not has its connection cut. Default: every one. */
	admit: () => boolean
	/** Resolves when so many requests have come, or when `done` says so. */
	until(done: number | ((hits: readonly Hit[]) => boolean)): Promise<readonly Hit[]>
	/** Cuts every connection. */
	close(): Promise<void>
}

export async function startHookServer(port = 0): Promise<HookServer> {
	const hits: Hit[] = []
	const arrivals = createArrivals(() =>
		hits.map(({ method, url, body }) => `${method} ${url} ${body.toString('utf8', 0, 500)}`).join('\n'),
	)
	const http = createServer((request, response) => {
		if (!hook.admit()) return void request.socket.resetAndDestroy()
		const chunks: Buffer[] = []
		request.on('error', () => undefined)
		response.on('error', () => undefined)
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		request.on('end', () => {
			const id = request.headers['webhook-id']
			const hit: Hit = {
				method: request.method ?? '',
				url: request.url ?? '',
				headers: request.headers,
				body: Buffer.concat(chunks),
				id: typeof id === 'string' ? id : '',
				atMs: Date.now(),
				index: hits.length,
			}
			hits.push(hit)
			reply(hook.answer(hit), request, response)
			arrivals.changed()
		})
	})
	// A sender that stood still finds its connection as it left it.
	http.keepAliveTimeout = 0
	http.listen(port, '127.0.0.1')
	await once(http, 'listening')

	const hook: HookServer = {
		origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
		hits,
		answer: () => 204,
		admit: () => true,
		until: (done) => arrivals.wait(enough(hits, done), done),
		async close() {
			const closed = new Promise<void>((resolve) => http.close(() => resolve()))
			http.closeAllConnections()
			await closed
		},
	}
	return hook
}

function reply(answer: HookAnswer, request: IncomingMessage, response: ServerResponse): void {
	if (typeof answer === 'function') {
		answer(response, request)
		return
	}
	const { status, headers = {}, body = '' } = typeof answer === 'number' ? { status: answer } : answer
	response.writeHead(status, headers).end(body)
}

/** Cuts the connection with a reset before any answer. */
export function resetConnection(_response: ServerResponse, request: IncomingMessage): void {
	request.socket.resetAndDestroy()
}

/** Never answers. */
export function hang(): void {}

/** Answers `status`, then one byte of the body every `everyMs`, for as long as someone reads. */
export function drip(status: number, everyMs: number) {
	return (response: ServerResponse): void => {
		response.writeHead(status)
		const timer = setInterval(() => response.write('.'), everyMs)
		response.on('close', () => clearInterval(timer))
	}
}
