/**
 * How long to leave something alone that has failed so many times in a row, 1 or more: `firstMs`, twice that, four
 * times that, … and never more than `mostMs`.
 */
export function backoffMs(failures: number, firstMs: number, mostMs: number): number {
	return Math.min(mostMs, firstMs * 2 ** (failures - 1))
}

/**
 * Up to a quarter less or more, so that many who failed together do not come back together. `random` is from 0 up to 1.
 */
export function jittered(ms: number, random: () => number): number {
	return ms * (0.75 + random() / 2)
}
