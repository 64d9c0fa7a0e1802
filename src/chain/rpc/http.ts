/** One HTTP POST to a node, within limits of time and size, without redirects. Errors never contain the URL. */

import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type ConnectionsOptions, createConnections } from '../../base/net/connections.js'
import { systemWords } from '../../base/systemError.js'
import { withDeadline } from '../../base/waits/deadline.js'
import { JsonFault } from '../stream/jsonFault.js'
import type { Shape } from '../stream/shapes.js'
import { type Body, type BodyLimits, createBodyReader, progressBytes } from './body.js'
import type { EndpointUrl } from './endpointUrl.js'

export interface HttpAnswer {
	readonly status: number
	/** The whole body, decoded; for an error status the beginning of its text. */
	readonly body: Body
	readonly retryAfter: string | null
}

/** Why there is no answer. Of the cause only the code is kept: it would contain addresses and headers. */
export class HttpFailure extends Error {
	override readonly name = 'HttpFailure'
	readonly kind: 'timeout' | 'network' | 'too-large' | 'malformed'

	constructor(kind: HttpFailure['kind'], message: string) {
		super(message)
		this.kind = kind
	}
}

export interface HttpOptions extends Pick<ConnectionsOptions, 'connections' | 'connectTimeoutMs'> {
	/** For the whole request, to the last byte. A large answer gets more time while it comes fast enough. */
	readonly timeoutMs: number
	/** Limit for the decoded body. */
	readonly maxBodyBytes: number
	/** Larger bodies are parsed while they arrive, and only the named parts are kept. Default: 4 MiB. */
	readonly parsedBytes?: number | undefined
	/** Called repeatedly while a large answer arrives. */
	readonly onProgress?: () => void
}

export interface Http {
	/** `shape`: the parts to keep of a large answer. Throws HttpFailure, or the signal's reason when it is aborted. */
	post(body: string, shape: Shape, signal: AbortSignal): Promise<HttpAnswer>
	close(): void
}

/** Extra time for each 16 MiB of a large answer that would miss the deadline: at least 4 MiB a second. */
const progressMs = 4_000
const marksEach = (16 * 1024 * 1024) / progressBytes
/** An error's text is short; an outage page need not be read to its end. */
const errorBodyBytes = 64 * 1024

export function createHttp(url: EndpointUrl, options: HttpOptions): Http {
	const connections = createConnections(url.origin, options)
	const headers = {
		'content-type': 'application/json',
		accept: 'application/json',
		'accept-encoding': 'gzip',
		...(url.authorization === null ? {} : { authorization: url.authorization }),
	}

	function tooLate(): never {
		throw new HttpFailure('timeout', `there was no whole answer within ${options.timeoutMs / 1000} s`)
	}

	return {
		async post(body, shape, signal) {
			const ask = async (bounded: AbortSignal, atLeast: (ms: number) => void): Promise<HttpAnswer> => {
				const response = await connections.send({ method: 'POST', path: url.path, headers, body }, bounded)
				let marks = 0
				const onProgress = () => {
					if (++marks % marksEach === 0) atLeast(progressMs)
					options.onProgress?.()
				}
				const { maxBodyBytes: maxBytes, parsedBytes } = options
				const read = await readBody(response, { maxBytes, parsedBytes, shape, onProgress })
				return { status: response.statusCode ?? 0, body: read, retryAfter: response.headers['retry-after'] ?? null }
			}
			try {
				return await withDeadline(options.timeoutMs, ask, tooLate, signal)
			} catch (error) {
				signal.throwIfAborted()
				if (error instanceof HttpFailure) throw error
				if (error instanceof JsonFault) throw faultIn(error)
				throw failureOf(error)
			}
		},
		close: connections.close,
	}
}

async function readBody(
	response: IncomingMessage,
	{ maxBytes, ...reading }: Omit<BodyLimits, 'cuts' | 'shape'> & { shape: Shape },
): Promise<Body> {
	const failed = (response.statusCode ?? 0) >= 300
	const limit = failed ? Math.min(errorBodyBytes, maxBytes) : maxBytes
	const encoding = response.headers['content-encoding']?.toLowerCase() ?? 'identity'
	const reader = createBodyReader({ ...reading, maxBytes: limit, cuts: failed, shape: failed ? null : reading.shape })
	let enough = false
	let fault: JsonFault | null = null
	// Counted after decoding: 200 KB of gzip may be 200 MB here.
	const collect = async (source: AsyncIterable<Buffer>) => {
		try {
			for await (const chunk of source) {
				enough = !(await reader.write(chunk))
				if (enough) return
			}
		} catch (error) {
			if (error instanceof JsonFault) fault = error
			throw error
		}
	}
	try {
		if (encoding === 'identity' || encoding === '') await pipeline(response, collect)
		else if (encoding === 'gzip' || encoding === 'x-gzip') await pipeline(response, createGunzip(), collect)
		else throw new HttpFailure('malformed', 'the answer is encoded in a way that was not asked for')
	} catch (error) {
		// Stopping early makes the streams fail, and their error may come first.
		if (!enough) throw fault ?? error
	} finally {
		response.destroy()
	}
	const body = reader.end()
	if (body === null) {
		throw new HttpFailure('too-large', `the answer is larger than ${limit} bytes`)
	}
	return body
}

function faultIn({ kind, message }: JsonFault): HttpFailure {
	return new HttpFailure(
		kind,
		kind === 'malformed' ? `the answer is not the JSON that it should be: ${message}` : message,
	)
}

/** The failure of a socket or a stream, without the error's contents. */
export function failureOf(error: unknown): HttpFailure {
	const raw = (error as { readonly code?: unknown } | null)?.code
	const code = typeof raw === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(raw) ? raw : 'unknown'
	if (code.startsWith('Z_')) return new HttpFailure('malformed', `the gzip of the answer is broken (${code})`)
	// The answer was not HTTP.
	if (code.startsWith('HPE_')) return new HttpFailure('malformed', `the answer is not HTTP (${code})`)
	return new HttpFailure('network', `${systemWords(code) ?? 'the connection failed'} (${code})`)
}
