/** JSON of values that it has no word for: replacer and reviver. */

export function plain(_: string, value: unknown): unknown {
	if (typeof value === 'bigint') return { $bigint: String(value) }
	if (typeof value === 'number' && !Number.isFinite(value)) return { $number: String(value) }
	if (value instanceof Map) return { $map: [...value] }
	return value instanceof Set ? { $set: [...value] } : value
}

export function rich(_: string, value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value
	if ('$bigint' in value) return BigInt(String(value.$bigint))
	if ('$number' in value) return Number(value.$number)
	if ('$map' in value) return new Map(value.$map as [unknown, unknown][])
	return '$set' in value ? new Set(value.$set as unknown[]) : value
}
