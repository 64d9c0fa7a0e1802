/** Freezes plain data and all that it holds; what is frozen already is taken to be so all the way. */
export function deepFreeze<T>(value: T): T {
	if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value
	for (const item of Object.values(value)) deepFreeze(item)
	return Object.freeze(value)
}
