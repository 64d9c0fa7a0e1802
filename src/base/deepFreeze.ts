/**
 * Freezes plain data and everything in it. An object that is frozen already is taken to be frozen deeply, and skipped.
 */
export function deepFreeze<T>(value: T): T {
	if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value
	for (const item of Object.values(value)) deepFreeze(item)
	return Object.freeze(value)
}
