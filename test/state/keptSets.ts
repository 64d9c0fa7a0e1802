/** Sets of watchlists by number, each an edit of the one before: a third of the pieces is new. */

const count = 9
const edits = 3

export function keySince(number: number): string {
	return `set ${number}`
}

/** A piece says by which set it was last changed. */
export function piecesOf(number: number): readonly string[] {
	return Array.from({ length: count }, (_, at) => {
		const changed = number - ((((number - at) % edits) + edits) % edits)
		return JSON.stringify({ at, changed, filling: String(changed).padEnd(100_000, 'x') })
	})
}
