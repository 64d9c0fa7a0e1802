const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads `90s`, `10m`, `2h`, `1d`: a whole number above 0 with its unit. Returns milliseconds. Throws RangeError. */
export function readDuration(text: string): number {
	const match = /^(\d{1,6})\s*([smhd])$/.exec(text)
	const ms = match === null ? 0 : Number(match[1]) * units[match[2] as keyof typeof units]
	if (ms > 0) return ms
	throw new RangeError('must be a time such as 90s, 10m, 2h or 1d')
}

/**
 * Reads how long history is kept: a duration of at least a day in milliseconds, or 0 for no history. Throws RangeError.
 */
export function readKeeping(text: string): number {
	if (/^0+[smhd]?$/.test(text)) return 0
	const ms = readDuration(text)
	if (ms >= units.d) return ms
	throw new RangeError('must be a day or more, such as 90d, or 0 for none: it is forgotten by whole days')
}

/** Reads a duration in milliseconds, or `never` as null. Throws RangeError. */
export function readDurationOrNever(text: string): number | null {
	return text === 'never' ? null : readDuration(text)
}

/** Writes milliseconds in the largest unit that divides them exactly, such as `10m`. */
export function writeDuration(ms: number): string {
	const [unit, unitMs] = Object.entries(units).findLast(([, one]) => ms % one === 0) ?? ['ms', 1]
	return `${ms / unitMs}${unit}`
}
