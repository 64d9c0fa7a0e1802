/** Formats a time for people: UTC, to the second. `ms` since 1970; throws RangeError beyond the year 275760. */
export function utc(ms: number): string {
	return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
