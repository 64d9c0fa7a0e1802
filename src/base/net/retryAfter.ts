/**
 * Reads how long a server asks its clients to wait: `Retry-After` (RFC 9110, 10.2.3), or the fields that some services
 * put into their JSON instead.
 */

const leastMs = 1_000

/**
 * `Sun, 06 Nov 1994 08:49:37 GMT`: the format that senders must use. Date.parse alone would also accept "2" or "May".
 */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Milliseconds from the header (whole seconds, or an HTTP date), else from `said`: parsed data, or a JSON body as text.
 * Null when neither names a time. At least 1 s, because a date in the past must not cause a request at once. `mostMs`:
 * one wrong answer, or a far date, must not stop requests for longer.
 */
export function retryAfterMs(header: string | null, said: unknown, nowMs: number, mostMs: number): number | null {
	const askedMs = headerMs(header, nowMs) ?? dataMs(typeof said === 'string' ? parsed(said) : said)
	return askedMs === null ? null : Math.min(mostMs, Math.max(leastMs, Math.ceil(askedMs)))
}

function headerMs(header: string | null, nowMs: number): number | null {
	const text = header?.trim() ?? ''
	if (/^\d+$/.test(text)) return Number(text) * 1_000
	if (!httpDate.test(text)) return null
	const atMs = Date.parse(text)
	return Number.isNaN(atMs) ? null : atMs - nowMs
}

/** Looks at the top level, as Discord sends it, and one level down in `parameters` (Telegram) and `rate` (Infura). */
function dataMs(data: unknown): number | null {
	if (!isRecord(data)) return null
	return secondsIn(data) ?? secondsIn(data.parameters) ?? secondsIn(data.rate)
}

/** The fields hold seconds, fractions allowed; the result is in milliseconds. */
function secondsIn(data: unknown): number | null {
	if (!isRecord(data)) return null
	for (const name of ['retry_after', 'retryAfter', 'retry-after', 'backoff_seconds']) {
		const value = data[name]
		const isText = typeof value === 'string' && value !== '' && value.length < 20
		const seconds = typeof value === 'number' || isText ? Number(value) : Number.NaN
		if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000
	}
	return null
}

function parsed(body: string): unknown {
	if (!body.startsWith('{')) return null
	try {
		return JSON.parse(body)
	} catch {
		return null
	}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null
}
