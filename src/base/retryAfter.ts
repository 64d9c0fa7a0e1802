/** `Retry-After` (RFC 9110, 10.2.3): how long another side asks to be left alone. */

const leastMs = 1_000
/** Longer would let one wrong answer put us to sleep for a day. */
const mostMs = 3_600_000

/** `Sun, 06 Nov 1994 08:49:37 GMT`: the form that senders must use. Date.parse alone would also take "2" or "May". */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Milliseconds from the header: seconds, or an HTTP date. Null when it says neither; not held within bounds. */
export function retryAfterHeaderMs(header: string | null, nowMs: number): number | null {
	const text = header?.trim() ?? ''
	if (/^\d+$/.test(text)) return Number(text) * 1_000
	if (!httpDate.test(text)) return null
	const atMs = Date.parse(text)
	return Number.isNaN(atMs) ? null : atMs - nowMs
}

/** Held between a second and an hour: a date that has passed must not make us hammer. */
export function withinRetryBounds(ms: number): number {
	return Math.min(mostMs, Math.max(leastMs, Math.ceil(ms)))
}
