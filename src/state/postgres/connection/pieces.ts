/** Rows per statement; limits the memory for copies and the time for which the event loop is blocked. */
export const PIECE = 5_000

export function* pieces<T>(values: Iterable<T>, size = PIECE): Iterable<readonly T[]> {
	let piece: T[] = []
	for (const value of values) {
		piece.push(value)
		if (piece.length < size) continue
		yield piece
		piece = []
	}
	if (piece.length > 0) yield piece
}
