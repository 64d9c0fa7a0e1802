/** Formats a time for people: UTC, to the second. `ms` since 1970; throws RangeError beyond the year 275760. */
export function utc(ms: number): string {
	return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** ISO 8601 to the millisecond, as in JSON; null stays null. */
export function iso(ms: number): string
export function iso(ms: number | null): string | null
export function iso(ms: number | null): string | null {
	return ms === null ? null : new Date(ms).toISOString()
}
