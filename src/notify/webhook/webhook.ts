/**
 * The room is a receiver that gets one HTTP POST per message. Redirects are not followed; time and size of the response
 * are limited.
 */

import type { IncomingMessage } from 'node:http'
import { basicLogin } from '../../base/net/basicLogin.js'
import { type BrokenHead, createConnections } from '../../base/net/connections.js'
import { allowedLookup, forbiddenError, isForbidden } from '../../base/net/forbidden.js'
import { retryAfterMs } from '../../base/net/retryAfter.js'
import { hiderOf } from '../../base/secrets/hide.js'
import { urlSecrets } from '../../base/secrets/urlSecrets.js'
import { withDeadline } from '../../base/waits/deadline.js'
import type { Outcome } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Receiver } from '../../model/ports.js'
import { judgeStatus, LONGEST_WAIT_MS, outcomeOf } from '../delivery/policy.js'
import { notReached, quote } from '../text/connectionFailure.js'
import type { FormatName } from './formats/byName.js'
import { formats } from './formats/byName.js'

export interface WebhookSettings {
	readonly type: 'webhook'
	readonly name: string
	readonly url: string
	/** `whsec_…` (several separated by spaces), or the service's key; null: unsigned. */
	readonly secret: string | null
	readonly format?: FormatName
	/** Added to each request, for tokens. */
	readonly headers?: Readonly<Record<string, string>>
}

export interface WebhookOptions {
	readonly version: string
	readonly clock: Clock
	/** For a whole attempt; default 30 s. */
	readonly timeLimitMs?: number
}

interface Answer {
	readonly status: number
	readonly body: string
	/** Whether the body was read to its end. */
	readonly whole: boolean
	readonly retryAfter: string | null
}

const connectTimeoutMs = 10_000
/** Most servers keep an idle connection for at least 5 s. */
const idleMs = 4_000
/** Limit for the rest of the response after its status. */
const bodyTimeLimitMs = 5_000
const bodyLimitBytes = 64 * 1024

export function createWebhookReceiver(settings: WebhookSettings, options: WebhookOptions): Receiver {
	const { version, clock, timeLimitMs = 30_000 } = options
	const format = formats[settings.format ?? 'standard']
	const url = new URL(settings.url)
	// The other parts of the URL are never printed.
	const { host } = url
	const hideSecrets = hiderOf(secretsOf(url, settings))
	const fixed = fixedHeaders(url, settings, version)
	// Link-local addresses are refused in every spelling: URL parsing normalises literals, and lookups are filtered.
	const lookup = allowedLookup
	const connections = createConnections(url.origin, { connections: 2, connectTimeoutMs, idleMs, lookup, lenient: true })

	return {
		name: settings.name,
		recipients: null,
		...(format.takesDigest === undefined ? {} : { takesDigest: format.takesDigest }),
		async deliver(delivery, signal) {
			const post = format.request(delivery, { url, secret: settings.secret }, clock())
			const attempt = async (limited: AbortSignal) => {
				if (isForbidden(url.hostname)) throw forbiddenError()
				const path = post.url.pathname + post.url.search
				const headers = { ...fixed, 'content-type': 'application/json', ...post.headers }
				const answer = await connections.send({ method: 'POST', path, headers, body: post.body }, limited)
				const { text: body, whole } = await readBody(answer, limited)
				const retryAfter = answer.headers['retry-after'] ?? null
				return judge({ status: answer.statusCode ?? 0, body, whole, retryAfter })
			}
			const late = (): Outcome => {
				return { result: 'retry', code: 'failed', reason: `${host} did not answer within ${timeLimitMs / 1_000} s` }
			}
			try {
				return await withDeadline(timeLimitMs, attempt, late, signal)
			} catch (error) {
				if (signal.aborted) return { result: 'retry', code: 'failed', reason: 'stopped before the answer came' }
				const { answered } = error as BrokenHead
				// A readable status line is an answer, whatever follows it.
				if (answered !== undefined) return judge({ ...answered, whole: false, retryAfter: null })
				return notReached(host, error)
			}
		},
		async close() {
			connections.close()
		},
	}

	function judge({ status, body, whole, retryAfter }: Answer): Outcome {
		const judged = format.judge?.({ status, body }) ?? judgeStatus(status)
		if (judged.verdict === 'delivered') {
			const trusted = whole || format.needsBody !== true
			if (trusted) return { result: 'delivered', answer: `${host} answered ${status}` }
			return { result: 'retry', code: 'failed', reason: `${host} broke off its answer` }
		}
		const said = status < 400 ? '' : quote(body, hideSecrets)
		const reason = `${host} answered ${status}: ${judged.meaning}${said === '' ? '' : ` (“${said}”)`}`
		return outcomeOf(judged, reason, retryAfterMs(retryAfter, body, clock(), LONGEST_WAIT_MS))
	}
}

/**
 * Up to 64 KiB, without decompression, so that the size is bounded. A longer body is cut off by closing its connection.
 */
async function readBody(body: IncomingMessage, signal: AbortSignal): Promise<{ text: string; whole: boolean }> {
	const chunks: Buffer[] = []
	let size = 0
	const read = async (limited: AbortSignal): Promise<boolean> => {
		const stop = () => body.destroy()
		limited.addEventListener('abort', stop, { once: true })
		try {
			for await (const chunk of body) {
				chunks.push(chunk as Buffer)
				size += (chunk as Buffer).length
				if (size > bodyLimitBytes) return false
			}
			return !limited.aborted
		} catch {
			return false
		} finally {
			limited.removeEventListener('abort', stop)
			body.destroy()
		}
	}
	// The status has arrived, and counts even if the rest does not arrive.
	const whole = await withDeadline(bodyTimeLimitMs, read, () => false, signal).catch(() => false)
	return { text: Buffer.concat(chunks).subarray(0, bodyLimitBytes).toString('utf8'), whole }
}

function fixedHeaders(url: URL, settings: WebhookSettings, version: string): Record<string, string> {
	const headers: Record<string, string> = { 'user-agent': `tracewatch/${version}` }
	const login = basicLogin(url)
	if (login !== null) headers.authorization = login
	for (const [name, value] of Object.entries(settings.headers ?? {})) headers[name.toLowerCase()] = value
	return headers
}

/** All settings that may be secret, to remove them from quoted responses. */
function secretsOf(url: URL, settings: WebhookSettings): readonly string[] {
	const headers = Object.values(settings.headers ?? {})
	const tokens = headers.map((value) => value.replace(/^\S+\s+/, ''))
	return [
		`${url.pathname}${url.search}`,
		...urlSecrets(url),
		...(settings.secret?.split(/\s+/) ?? []),
		...headers,
		...tokens,
	]
}
