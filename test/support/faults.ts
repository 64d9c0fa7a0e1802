/** What can go wrong with an answer to a JSON-RPC request over HTTP, one function a fault. */

import { gzipSync } from 'node:zlib'
import { type Ask, type Fault, sendJson } from './faultyNode.js'

/** A JSON-RPC error, for each call of a batch alike. */
export function rpcError(code: number, message: string, data?: unknown, status = 200): Fault {
	return (ask, response) => {
		const answers = ask.calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code, message, data } }))
		sendJson(response, ask.batch ? answers : answers[0], status)
	}
}

/** A bare HTTP status with a text, a page or an object. */
export function status(code: number, body: string | object = '', headers: object = {}): Fault {
	return (_ask, response) => {
		if (typeof body === 'object') sendJson(response, body, code, headers)
		else response.writeHead(code, { 'content-type': 'text/plain', ...headers }).end(body)
	}
}

export const html: Fault = (_ask, response) => {
	response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Welcome</title><p>Hello')
}

/** HTTP is in order, the JSON inside is not whole. */
export const cutJson: Fault = (_ask, response, good) => {
	response.writeHead(200).end(JSON.stringify(good).slice(0, -8))
}

/** The connection ends before the announced length. */
export const cutBody: Fault = (_ask, response, good) => {
	const whole = JSON.stringify(good)
	response.writeHead(200, { 'content-length': whole.length })
	response.write(whole.slice(0, 10), () => response.socket?.destroy())
}

/** A body of any JSON value. */
export function body(value: unknown): Fault {
	return (_ask, response) => sendJson(response, value)
}

export const both: Fault = (ask, response) => {
	const { id } = first(ask)
	sendJson(response, { jsonrpc: '2.0', id, result: [{ cut: 'short' }], error: { code: -32000, message: 'crashed' } })
}

export const wrongId: Fault = (ask, response) => {
	sendJson(response, { jsonrpc: '2.0', id: Number(first(ask).id) + 1, result: '0x1' })
}

/** Sends us to the same address again and again. */
export const redirectLoop: Fault = (ask, response) => {
	response.writeHead(302, { location: ask.path }).end()
}

/** Small on the wire, `bytes` large when decoded. */
export function gzipBomb(bytes: number): Fault {
	const bomb = gzipSync(Buffer.alloc(bytes, '['))
	return (_ask, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
}

export const gzipped: Fault = (_ask, response, good) => {
	response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(good)))
}

export const brokenGzip: Fault = (_ask, response, good) => {
	response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(good)).subarray(0, -12))
}

/** A byte every 20 ms, so that no timer between bytes ever trips. */
export const drip: Fault = (_ask, response) => {
	response.writeHead(200)
	const timer = setInterval(() => response.write(' '), 20)
	response.on('close', () => clearInterval(timer))
}

/** An error page that does not end: what has come tells enough. */
export const endlessError: Fault = (_ask, response) => {
	response.writeHead(500).write(Buffer.alloc(200 * 1024, 'x'))
}

/** Compressed in a way that no one asked for. */
export function encoded(encoding: string): Fault {
	return (_ask, response) => response.writeHead(200, { 'content-encoding': encoding }).end(Buffer.alloc(500_000))
}

export const hang: Fault = () => {}

export const reset: Fault = (_ask, response) => {
	response.socket?.resetAndDestroy()
}

export function oversize(bytes: number): Fault {
	return (_ask, response) => response.writeHead(200).end(Buffer.alloc(bytes, '['))
}

/** A batch of more than `limit` calls is answered by one error object; smaller ones and single calls are in order. */
export function noBatchAbove(limit: number, code: number, message: string): Fault {
	return (ask, response, good) => {
		const refused = ask.batch && ask.calls.length > limit
		sendJson(response, refused ? { jsonrpc: '2.0', id: null, error: { code, message } } : good)
	}
}

/** Says in an error everything it knows of the request: path, query, login. */
export function echo(code: number): Fault {
	return (ask, response) => {
		const login = Buffer.from(ask.headers.authorization?.slice(6) ?? '', 'base64').toString('utf8')
		const said = `cannot POST http://${login}@${ask.headers.host}${ask.path} (${ask.headers.authorization})`
		if (code === 200) rpcError(-32000, said)(ask, response, null)
		else response.writeHead(code, { location: ask.path }).end(said)
	}
}

function first(ask: Ask) {
	const call = ask.calls[0]
	if (call === undefined) throw new Error('a request without a call')
	return call
}
