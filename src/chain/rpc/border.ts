/** The border for incoming data: any error while an answer is read is the node's fault. */

import { defanged } from '../../base/text/defang.js'
import { printable } from '../../base/text/printable.js'
import { RpcError } from '../../errors.js'
import type { EndpointUrl } from './endpointUrl.js'

export interface Asked {
	readonly endpoint: string
	readonly method?: string
}

/**
 * The error as an RpcError: a TypeError, a RangeError or a stack overflow while an answer is read means that the answer
 * was invalid and another endpoint should be asked. The message may contain the node's words, so only the error's name
 * and its stack trace are kept. Do not pass an abort.
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

/** Longer texts are not read further: megabytes are no message, and hiding secrets in them would take time. */
const mostRead = 16_000
/** No secret is longer, in any encoding. */
const longestSecret = 4_000

/**
 * A node's words in displayable form. First the endpoint's secrets are hidden, because a secret that was cut would not
 * be found; then links and mentions are disabled, because alerts would carry them on; then control and direction
 * characters are removed; then the text is put on one line of at most `limit` characters.
 */
export function wordsOf(said: unknown, url: Pick<EndpointUrl, 'scrub'>, limit: number): string {
	if (typeof said !== 'string') return ''
	const safe = url.scrub(said.slice(0, mostRead))
	// The text was cut: its end may be the beginning of a secret.
	const known = said.length <= mostRead ? safe : safe.slice(0, Math.max(0, safe.length - longestSecret))
	// Each is replaced by a space, so that separate words stay separate.
	return printable(defanged(known).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' '), limit)
}
