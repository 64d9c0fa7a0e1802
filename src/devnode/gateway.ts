/** The HTTP server of the embedded node: `POST /<key>/evm`, JSON-RPC 2.0, in front of Anvil. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { codes, idOf, RpcFault, readCall, writeFault, writeRequest } from './jsonrpc.js'
import { isPassedOn, reply } from './methods.js'
import type { Upstream } from './upstream.js'

export interface GatewayOptions {
	readonly key: string
	readonly node: Upstream
	/** Maximum size of a request body. Default: 32 MiB. */
	readonly bodyLimitBytes?: number
}

/** A refusal with an HTTP status; the body contains `fault`. */
class HttpRefusal extends Error {
	override readonly name = 'HttpRefusal'
	readonly status: number
	readonly fault: RpcFault

	constructor(status: number, fault: RpcFault) {
		super(fault.message)
		this.status = status
		this.fault = fault
	}
}

export function createGateway({ key, node, bodyLimitBytes = 32 * 1024 * 1024 }: GatewayOptions): Server {
	return createServer(async (request, response) => {
		// A client that disconnects cancels its request.
		const gone = new AbortController()
		response.once('close', () => gone.abort())
		try {
			admit(request, key)
			await answer(await readBody(request, bodyLimitBytes), response, node, gone.signal)
		} catch (error) {
			if (response.headersSent || gone.signal.aborted) response.destroy()
			else refuse(response, error)
		}
	})
}

function admit({ url = '', method, headers }: IncomingMessage, key: string) {
	const given = /^\/([^/?]*)\/evm(?:\?.*)?$/.exec(url)?.[1]
	if (given === undefined) {
		throw new HttpRefusal(404, new RpcFault(codes.invalidRequest, 'Not found: the path is /<ENDPOINT_KEY>/evm'))
	}
	if (!sameKey(given, key)) {
		throw new HttpRefusal(401, new RpcFault(codes.unauthorized, 'Unauthorized: the endpoint key is wrong'))
	}
	if (method !== 'POST') {
		throw new HttpRefusal(405, new RpcFault(codes.invalidRequest, 'Method not allowed: send requests by POST'))
	}
	if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
		const words = 'Invalid request: send it with "Content-Type: application/json"'
		throw new HttpRefusal(415, new RpcFault(codes.invalidRequest, words))
	}
}

/** Compares in constant time, also for different lengths. */
function sameKey(given: string, key: string): boolean {
	const digest = (text: string) => createHash('sha256').update(text).digest()
	return timingSafeEqual(digest(given), digest(key))
}

async function readBody(request: IncomingMessage, limitBytes: number): Promise<string> {
	const chunks: Buffer[] = []
	let bytes = 0
	for await (const chunk of request) {
		bytes += chunk.length
		if (bytes > limitBytes) {
			const words = `Invalid request: the body is larger than ${limitBytes} bytes`
			throw new HttpRefusal(413, new RpcFault(codes.invalidRequest, words))
		}
		chunks.push(chunk)
	}
	return Buffer.concat(chunks).toString('utf8')
}

async function answer(body: string, response: ServerResponse, node: Upstream, signal: AbortSignal) {
	const parsed = parse(body)
	if (!Array.isArray(parsed)) {
		const call = readCallOr(parsed)
		if (call instanceof RpcFault) return send(response, writeFault(idOf(parsed), call))
		if (isPassedOn(call)) return pass(body, response, node, signal)
		const decided = await reply(call, node, signal)
		if ('forward' in decided) return pass(writeRequest(decided.forward), response, node, signal)
		return send(response, call.id === undefined ? '' : decided.answer)
	}
	if (parsed.length === 0) throw new RpcFault(codes.invalidRequest, 'Invalid request: the batch is empty')
	const calls = parsed.map(readCallOr)
	if (calls.every((call) => !(call instanceof RpcFault) && isPassedOn(call))) return pass(body, response, node, signal)

	const answers: string[] = []
	for (const [at, call] of calls.entries()) {
		if (call instanceof RpcFault) {
			answers.push(writeFault(idOf(parsed[at]), call))
			continue
		}
		const decided = await reply(call, node, signal)
		const text = 'forward' in decided ? await node.text(decided.forward, signal) : decided.answer
		if (call.id !== undefined) answers.push(text)
	}
	send(response, answers.length === 0 ? '' : `[${answers.join(',')}]`)
}

function parse(body: string): unknown {
	try {
		return JSON.parse(body)
	} catch {
		throw new RpcFault(codes.parse, 'Parse error: the body is not JSON')
	}
}

function readCallOr(value: unknown) {
	try {
		return readCall(value)
	} catch (error) {
		if (error instanceof RpcFault) return error
		throw error
	}
}

/** Streams Anvil's answer without buffering or parsing it, since it may have hundreds of megabytes. */
async function pass(body: string, response: ServerResponse, node: Upstream, signal: AbortSignal) {
	const answered = await node.post(body, signal)
	response.writeHead(answered.statusCode ?? 502, { 'content-type': 'application/json' })
	await pipeline(answered, response)
}

/** An empty text: the request had only notifications, which get no response. */
function send(response: ServerResponse, text: string) {
	if (text === '') response.writeHead(204).end()
	else response.writeHead(200, { 'content-type': 'application/json' }).end(text)
}

function refuse(response: ServerResponse, error: unknown) {
	const [status, fault] =
		error instanceof HttpRefusal
			? [error.status, error.fault]
			: error instanceof RpcFault
				? [error.code === codes.internal ? 502 : 200, error]
				: [500, new RpcFault(codes.internal, 'Internal error of the embedded node')]
	const headers: Record<string, string> = { 'content-type': 'application/json' }
	if (status === 405) headers.allow = 'POST'
	// The rest of a refused body is not read.
	if (error instanceof HttpRefusal) headers.connection = 'close'
	response.writeHead(status, headers).end(writeFault(null, fault))
}
