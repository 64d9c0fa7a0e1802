/**
 * Exponential backoff in ms after `failures` consecutive failures (at least 1): `firstMs`, doubled with each further
 * failure, at most `mostMs`.
 */
export function backoffMs(failures: number, firstMs: number, mostMs: number): number {
	return Math.min(mostMs, firstMs * 2 ** (failures - 1))
}

/**
 * Adds jitter of ±25 %, so that retries that failed together do not repeat together. `random` returns 0 (inclusive) to
 * 1 (exclusive).
 */
export function jittered(ms: number, random: () => number): number {
	return ms * (0.75 + random() / 2)
}
