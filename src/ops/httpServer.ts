import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLocal } from '../base/net/loopback.js'
import { fitOutput } from '../base/text/outgoing.js'
import { PlainError } from '../errors.js'
import type { Log, Page } from '../model/ports.js'
import type { Health } from '../model/trouble.js'
import { makeRoom } from './connectionLimit.js'
import { createHostRule } from './hostRule.js'
import { createLogin } from './login.js'
import type { Scrubber } from './scrub.js'

export interface HttpOptions {
	readonly host: string
	/** 0: any free port. */
	readonly port: number
	readonly version: string
	readonly metrics: { readonly text: () => Promise<string>; readonly contentType: string }
	readonly health: () => Health | Promise<Health>
	readonly scrubber: Pick<Scrubber, 'clean'>
	readonly log: Log
	/** Returns the page at a path; null: there is none. `/` then says how the health is. */
	readonly pages: (path: string, params: URLSearchParams) => Promise<Page | null>
	/** Password for the pages, with any user name. Null (default): pages are served on loopback only. */
	readonly password?: string | null
}

export type HttpServer = Awaited<ReturnType<typeof startHttp>>

/**
 * Serves `/metrics`, `/healthz` (200, or 503 with the reason) and the pages. Read-only. Throws PlainError when it
 * cannot listen.
 */
export async function startHttp(options: HttpOptions) {
	const { host, port, log, scrubber, password = null } = options
	const login = createLogin(password)
	const isOurs = createHostRule(host)
	// By default Node checks the time limits only every 30 s.
	const limits = {
		requestTimeout: 10_000,
		headersTimeout: 5_000,
		connectionsCheckingInterval: 1_000,
		maxHeaderSize: 8_192,
	}
	const answering = new WeakSet<Socket>()
	/** One answer begins in each turn of the event loop, so that a flood of requests does not hold up the polls. */
	let turn: Promise<unknown> = Promise.resolve()
	const server = createServer(limits, (request, response) => {
		const { socket } = request
		// A client that sends its next requests without waiting could have thousands of pages made at once.
		if (answering.has(socket)) return void socket.destroy()
		answering.add(socket)
		response.once('close', () => answering.delete(socket))
		turn = turn.then(() => nextTurn())
		// The connection may have been closed meanwhile.
		turn.then(() => (socket.writable ? respond(request, response) : undefined))
	})
	async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const page = await admit(request)
			.then((refused) => refused ?? answer(request, options))
			.catch((error: unknown): Page => {
				log.error({ err: error, path: request.url }, 'a page could not be rendered')
				return { status: 500, type: text, body: 'this page could not be made; the log says why\n' }
			})
		send(response, request, { ...page, body: fitOutput(scrubber.clean(page.body)) })
	}
	/** Returns the refusal; null: the client may see the page. */
	async function admit(request: IncomingMessage): Promise<Page | null> {
		// A proxy in front may have checked the other one (RFC 9112, 3.2).
		if ((request.headersDistinct.host?.length ?? 0) > 1) return twoHosts
		const isHere = isOurs(request.headers.host)
		const isFree = password === null || isForMachines(request.url)
		// With a password a foreign host name is no danger: a page that uses DNS rebinding does not know the password.
		if (password === null && !isHere) return notOurs
		if (request.method !== 'GET' && request.method !== 'HEAD') return onlyGet
		// When no password is needed, credentials are not checked: the answer would show whether they are right.
		if (isFree && isHere) return null
		if (await login(request)) return null
		return isFree ? { ...notOurs, body: 'ask by address, by a name of this machine, or with the password\n' } : unknown
	}

	makeRoom(server, connectionsAtOnce)
	await new Promise<void>((resolve, reject) => {
		server.once('error', (error) => reject(inWords(error, host, port)))
		server.listen(port, host, resolve)
	})
	return {
		/** The port in use; the chosen one when 0 was requested. */
		port: (server.address() as AddressInfo).port,
		close: () =>
			new Promise<void>((resolve) => {
				server.close(() => resolve())
				server.closeAllConnections()
			}),
	}
}

const connectionsAtOnce = 100
const text = 'text/plain; charset=utf-8'
const json = 'application/json; charset=utf-8'
const twoHosts = { status: 400, type: text, body: 'more than one `Host`\n' }
const onlyGet = { status: 405, type: text, body: 'only GET\n' }
const unknown = { status: 401, type: text, body: 'the password is `http_password` of tracewatch.yaml\n' }
const notOurs = { status: 421, type: text, body: 'ask by address, or by a name of this machine\n' }

async function answer(request: IncomingMessage, options: HttpOptions): Promise<Page> {
	const { metrics, health, version, pages, password = null, host } = options
	const path = (request.url ?? '').replace(/\?.*$/s, '')
	if (path === '/metrics') return { status: 200, type: metrics.contentType, body: await metrics.text() }
	if (path === '/healthz') {
		const { ok, status = ok ? 'ok' : 'stalled', failing: _, failures: __, ...facts } = await health()
		const body = `${JSON.stringify({ status, ...facts })}\n`
		return { status: ok ? 200 : 503, type: json, body }
	}
	const params = new URLSearchParams(/\?(.*)$/s.exec(request.url ?? '')?.[1] ?? '')
	const areShown = password !== null || isLocal(host)
	const page = areShown ? await pages(path, params) : null
	if (page !== null) return page
	const more = areShown ? '' : 'pages are shown on loopback, or with `http_password`\n'
	if (path !== '/') {
		const paths = areShown
			? '/, /alerts, /watches, /watch, /deliveries, /metrics and /healthz'
			: '/metrics, /healthz and /'
		return { status: 404, type: text, body: `there are ${paths}\n${more}` }
	}
	const { reason } = await health()
	if (params.get('format') !== 'json')
		return { status: 200, type: text, body: `tracewatch ${version}: ${reason ?? 'watching normally'}\n${more}` }
	return { status: 200, type: json, body: `${JSON.stringify({ version, ...(await health()) })}\n` }
}

/** The pages load styles and pictures from this server only, and no script. */
const guards = {
	'content-security-policy':
		"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	'referrer-policy': 'no-referrer',
	'x-frame-options': 'DENY',
	'cross-origin-resource-policy': 'same-origin',
	'cross-origin-opener-policy': 'same-origin',
}

/** Paths that need no password. */
function isForMachines(url = ''): boolean {
	return /^\/(metrics|healthz)(\?|$)/.test(url)
}

function send(response: ServerResponse, request: IncomingMessage, { status, type, body }: Page): void {
	response.writeHead(status, {
		'content-type': type,
		'content-length': Buffer.byteLength(body),
		'cache-control': 'no-store',
		'x-content-type-options': 'nosniff',
		...guards,
		...(status === 400 ? { connection: 'close' } : {}),
		...(status === 405 ? { allow: 'GET, HEAD' } : {}),
		...(status === 401 ? { 'www-authenticate': 'Basic realm="tracewatch", charset="UTF-8"' } : {}),
	})
	response.end(request.method === 'HEAD' ? undefined : body)
}

function inWords(error: NodeJS.ErrnoException, host: string, port: number): PlainError {
	const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
	const words: Readonly<Record<string, string>> = {
		EADDRINUSE: `${place} is in use by another program: choose another port at \`http:\`, or stop that program`,
		EACCES: `${place} may only be used by root: choose a port above 1023 at \`http:\``,
		EADDRNOTAVAIL: `${host} is no address of this machine: \`http:\` wants one, such as 127.0.0.1`,
		ENOTFOUND: `the name ${host} is not known: \`http:\` wants an address of this machine, such as 127.0.0.1`,
	}
	return new PlainError(words[error.code ?? ''] ?? `cannot listen on ${place}: ${error.message}`, { cause: error })
}
