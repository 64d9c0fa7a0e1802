/**
 * One HTTP POST to a node, within limits of time and size; no redirect is followed. Nothing in its errors holds the
 * URL.
 */

import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type ConnectionsOptions, createConnections } from '../../base/connections.js'
import { DeadlinePassed, withDeadline } from '../../base/deadline.js'
import { systemWords } from '../../base/systemError.js'
import { type Body, type BodyLimits, createBodyReader, progressBytes } from './body.js'
import type { EndpointUrl } from './endpointUrl.js'
import { JsonFault } from './jsonFault.js'
import type { Shape } from './shapes.js'

export interface HttpAnswer {
	readonly status: number
	/** The whole body, decoded; for an error status the beginning of its text. */
	readonly body: Body
	readonly retryAfter: string | null
}

/** Why there is no answer: `cause` would hold addresses and headers, so only its code is kept. */
export class HttpFailure extends Error {
	override readonly name = 'HttpFailure'
	readonly kind: 'timeout' | 'network' | 'too-large' | 'malformed'

	constructor(kind: HttpFailure['kind'], message: string) {
		super(message)
		this.kind = kind
	}
}

export interface HttpOptions extends Pick<ConnectionsOptions, 'connections' | 'connectTimeoutMs'> {
	/**
	 * For the whole request, from connecting to the last byte; a large answer has more as long as it comes fast enough.
	 */
	readonly timeoutMs: number
	/** Of the decoded body. */
	readonly maxBodyBytes: number
	/** A larger one is read as it comes, and only what counts of it is kept. Default 4 MiB. */
	readonly parsedBytes?: number | undefined
	/** Again and again while a large answer comes. */
	readonly onProgress?: () => void
}

export interface Http {
	/**
	 * `shape`: what counts of an answer too large to be kept. Throws HttpFailure, or the signal's reason when it is
	 * aborted.
	 */
	post(body: string, shape: Shape, signal: AbortSignal): Promise<HttpAnswer>
	close(): void
}

/** Time for each 16 MiB of a large answer, where it would not be done in time: 4 MiB a second. */
const progressMs = 4_000
const marksEach = (16 * 1024 * 1024) / progressBytes
/** An error's text is short; a page that explains an outage need not be read to its end. */
const errorBodyBytes = 64 * 1024

export function createHttp(url: EndpointUrl, options: HttpOptions): Http {
	const connections = createConnections(url.origin, options)
	const headers = {
		'content-type': 'application/json',
		accept: 'application/json',
		'accept-encoding': 'gzip',
		...(url.authorization === null ? {} : { authorization: url.authorization }),
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
				return await withDeadline(options.timeoutMs, ask, signal)
			} catch (error) {
				signal.throwIfAborted()
				if (error instanceof HttpFailure) throw error
				if (error instanceof JsonFault) throw faultIn(error)
				if (error instanceof DeadlinePassed) {
					throw new HttpFailure('timeout', `there was no whole answer within ${options.timeoutMs / 1000} s`)
				}
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
	// Counted after decoding: 200 KB on the wire may be 200 MB here.
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
		// To stop reading before the end is an error to the streams, and theirs may come first.
		if (!enough) throw fault ?? error
	} finally {
		response.destroy()
	}
	const body = reader.end()
	if (body === null) {
		throw new HttpFailure('too-large', `the answer is larger than ${limit} bytes, which \`max_answer\` allows`)
	}
	return body
}

function faultIn({ kind, message }: JsonFault): HttpFailure {
	return new HttpFailure(
		kind,
		kind === 'malformed' ? `the answer is not the JSON that it should be: ${message}` : message,
	)
}

/** What a socket's or a stream's error says, without what it holds. */
export function failureOf(error: unknown): HttpFailure {
	const raw = (error as { readonly code?: unknown } | null)?.code
	const code = typeof raw === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(raw) ? raw : 'unknown'
	if (code.startsWith('Z_')) return new HttpFailure('malformed', `the gzip of the answer is broken (${code})`)
	// What came was not HTTP.
	if (code.startsWith('HPE_')) return new HttpFailure('malformed', `the answer is not HTTP (${code})`)
	return new HttpFailure('network', `${systemWords(code) ?? 'the connection failed'} (${code})`)
}
