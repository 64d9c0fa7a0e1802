/** When a node asks to be left alone for a while: RFC 9110 §10.2.3, and what providers put into the JSON instead. */

import { retryAfterHeaderMs, withinRetryBounds } from '../../base/retryAfter.js'

/**
 * From the header (whole seconds, or an HTTP date) or from the error's data; null when neither says. What is said is
 * kept between 1 s and 1 h: a date that has passed must not make us hammer, a far one must not put us to sleep.
 */
export function readRetryAfterMs(header: string | null, data: unknown, nowMs: number): number | null {
	const waitMs = retryAfterHeaderMs(header, nowMs) ?? dataMs(data)
	return waitMs === null ? null : withinRetryBounds(waitMs)
}

/** `retry_after` or `retryAfter` in seconds; Infura: `rate.backoff_seconds`, one level down and no further. */
function dataMs(data: unknown): number | null {
	return secondsIn(data) ?? secondsIn(isRecord(data) ? data.rate : null)
}

function secondsIn(data: unknown): number | null {
	if (!isRecord(data)) return null
	for (const name of ['retry_after', 'retryAfter', 'retry-after', 'backoff_seconds']) {
		const told = data[name]
		const seconds =
			typeof told === 'number' || (typeof told === 'string' && told.length < 20) ? Number(told) : Number.NaN
		if (Number.isFinite(seconds) && seconds >= 0 && told !== '') return seconds * 1_000
	}
	return null
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null
}
