/** A time as people are shown it: UTC, to the second. Milliseconds since 1970; throws RangeError beyond year 275760. */
export function utc(ms: number): string {
	return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
