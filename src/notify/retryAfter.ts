/** How long the other side asks us to wait, in all the forms it may say so. */

const leastMs = 1_000
/** Longer would let one wrong answer silence a receiver for a day. */
const mostMs = 3_600_000

/**
 * Milliseconds from the header `Retry-After` (seconds, or an HTTP date), else from a JSON body (`retry_after` in
 * seconds, fractions allowed, at the top as Discord has it or under `parameters` as Telegram), held between one second
 * and one hour. Null when nothing understandable was said.
 */
export function retryAfterMs(header: string | null, body: string, nowMs: number): number | null {
	const askedMs = fromHeader(header, nowMs) ?? fromBody(body)
	return askedMs === null ? null : Math.min(mostMs, Math.max(leastMs, Math.ceil(askedMs)))
}

function fromHeader(header: string | null, nowMs: number): number | null {
	const text = header?.trim() ?? ''
	if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
	// Only HTTP dates: `Date.parse` would also read `-5` or `1` as years.
	if (!/^[A-Z][a-z]+,? /.test(text)) return null
	const atMs = Date.parse(text)
	return Number.isNaN(atMs) ? null : atMs - nowMs
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
