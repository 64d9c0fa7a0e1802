/** The border for what nodes say: what cannot be read is the node's fault, whatever was thrown while it was read. */

import { printable } from '../../base/printable.js'
import { RpcError } from '../../errors.js'
import type { EndpointUrl } from './endpointUrl.js'

/** Whose answer was being read. */
export interface Asked {
	readonly endpoint: string
	readonly method?: string
}

/**
 * The error as an RpcError: a TypeError, a RangeError or a full stack while an answer is read means that the answer was
 * not what it should be, and another endpoint is to be asked. Its own words may hold the node's, so only its name is
 * said, and where it was thrown is kept. An abort is not to be handed in here.
 */
export function misread(error: unknown, { endpoint, method }: Asked): RpcError {
	if (error instanceof RpcError) return error
	const what = method === undefined ? 'an answer' : `an answer to ${method}`
	const name = error instanceof Error ? error.name : typeof error
	return new RpcError(
		`${endpoint} gave ${what} that cannot be believed: reading it failed (${printable(name, 40)})`,
		{ kind: 'malformed', endpoint, ...(method !== undefined && { method }), content: true },
		{ cause: placeOf(error, name) },
	)
}

function placeOf(error: unknown, name: string): Error {
	const place = new Error('reading an answer failed')
	place.name = name
	const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack.split('\n') : []
	place.stack = [name, ...stack.filter((line) => /^\s+at /.test(line)).slice(0, 10)].join('\n')
	return place
}

/**
 * Longer texts are looked at no further: a message of megabytes is none, and hiding secrets in it would take its time.
 */
const mostRead = 16_000
/** No secret is longer, however it is written. */
const longestSecret = 4_000

/**
 * A node's words as they may be shown: first without the secrets of the endpoint, since a secret that was cut would not
 * be found; then on one line, without control and direction characters; then at most `limit` characters.
 */
export function wordsOf(said: unknown, url: Pick<EndpointUrl, 'scrub'>, limit: number): string {
	if (typeof said !== 'string') return ''
	const safe = url.scrub(said.slice(0, mostRead))
	// The end of what was cut may be the beginning of a secret.
	const known = said.length <= mostRead ? safe : safe.slice(0, Math.max(0, safe.length - longestSecret))
	// A space for each: what stood apart must not grow together.
	return printable(known.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' '), limit)
}
