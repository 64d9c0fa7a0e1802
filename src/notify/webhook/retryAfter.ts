/** How long the other side asks us to wait, in all the forms it may say so. */

import { retryAfterHeaderMs, withinRetryBounds } from '../../base/retryAfter.js'

/**
 * Milliseconds from the header `Retry-After` (seconds, or an HTTP date), else from a JSON body (`retry_after` in
 * seconds, fractions allowed, at the top as Discord has it or under `parameters` as Telegram), held between one second
 * and one hour. Null when nothing understandable was said.
 */
export function retryAfterMs(header: string | null, body: string, nowMs: number): number | null {
	const askedMs = retryAfterHeaderMs(header, nowMs) ?? fromBody(body)
	return askedMs === null ? null : withinRetryBounds(askedMs)
}

function fromBody(body: string): number | null {
	if (!body.startsWith('{')) return null
	try {
		const answer = JSON.parse(body) as { retry_after?: unknown; parameters?: { retry_after?: unknown } | null }
		const seconds = answer.retry_after ?? answer.parameters?.retry_after
		return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : null
	} catch {
		return null
	}
}
