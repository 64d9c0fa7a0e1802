/** Chance that repeats: the same seed, the same choices. */
export interface Chance {
	/** A whole number from 0 up to, not including, `below`. */
	number(below: number): number
	/** True so many times out of a hundred. */
	percent(often: number): boolean
	pick<T>(list: readonly T[]): T
}

/** Marsaglia's xorshift with 32 bits: plenty for choosing. */
export function createChance(seed: number): Chance {
	// Any state but zero will do; the first numbers of near seeds are alike, so they are thrown away.
	let state = seed | 0 || 1
	const next = () => {
		state ^= state << 13
		state ^= state >>> 17
		state ^= state << 5
		return state >>> 0
	}
	for (let round = 0; round < 16; round++) next()
	const number = (below: number) => next() % below
	return {
		number,
		percent: (often) => number(100) < often,
		pick<T>(list: readonly T[]): T {
			if (list.length === 0) throw new RangeError('nothing to pick from')
			return list[number(list.length)] as T
		},
	}
}
