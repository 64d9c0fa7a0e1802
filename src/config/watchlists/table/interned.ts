/** Stores values that many rows share once each, and numbers them. Values are compared by identity. */
export interface Interned<T> {
	placeOf(value: T): number
	at(place: number): T | undefined
	values(): readonly T[]
}

export function createInterned<T>(): Interned<T> {
	const values: T[] = []
	const places = new Map<T, number>()
	return {
		placeOf(value) {
			const known = places.get(value)
			if (known !== undefined) return known
			const place = values.push(value) - 1
			places.set(value, place)
			return place
		},
		at: (place) => values[place],
		values: () => values,
	}
}
