/** Lists in groups, and in pieces. Node 20 has no `Map.groupBy`. */

export function addTo<K, T>(groups: Map<K, T[]>, key: K, one: T): void {
	const group = groups.get(key)
	if (group === undefined) groups.set(key, [one])
	else group.push(one)
}

/** In the order of the first of each group. */
export function groupedBy<K, T>(all: Iterable<T>, keyOf: (one: T) => K): Map<K, T[]> {
	const groups = new Map<K, T[]>()
	for (const one of all) addTo(groups, keyOf(one), one)
	return groups
}

/** Pieces of at most `size`, which is at least 1; none of an empty list. */
export function cut<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
	return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
}
