/**
 * How long another side asks to be left alone: `Retry-After` (RFC 9110, 10.2.3), and what services put into their JSON
 * instead.
 */

const leastMs = 1_000
/** Longer would let one wrong answer put us to sleep for a day. */
const mostMs = 3_600_000

/** `Sun, 06 Nov 1994 08:49:37 GMT`: the form that senders must use. Date.parse alone would also take "2" or "May". */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Milliseconds from the header (whole seconds, or an HTTP date), else from what was said besides: data, or a body of
 * JSON. Null when neither says anything that is understood. Held between a second and an hour: a date that has passed
 * must not make us hammer, a far one must not put us to sleep.
 */
export function retryAfterMs(header: string | null, said: unknown, nowMs: number): number | null {
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

/** At the top, as Discord has it, or one level down and no further: `parameters` of Telegram, `rate` of Infura. */
function dataMs(data: unknown): number | null {
	if (!isRecord(data)) return null
	return secondsIn(data) ?? secondsIn(data.parameters) ?? secondsIn(data.rate)
}

/** Seconds, fractions allowed. */
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
