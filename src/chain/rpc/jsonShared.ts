/** Objects of JSON that say the same, made one. */

/** Twice as many as a stranger's calls have parties: some hundred contracts call some hundred addresses. */
const slots = 1 << 17
/** Where one is taken the next are looked at, so many in all. */
const tries = 8

type Members = Readonly<Record<string, unknown>>

/**
 * Gives an object that was handed in before and says the same, where it is remembered; else the one handed in. `mark`
 * is the same for the same members in the same order.
 */
export function createShared(): (made: Members, mark: number) => Members {
	let known: (Members | undefined)[] = []
	let marks = new Int32Array(0)
	return (made, mark) => {
		if (known.length === 0) {
			known = new Array(slots)
			marks = new Int32Array(slots)
		}
		const first = Math.imul(mark, 0x9e3779b1) >>> 15
		for (let at = first; at < first + tries; at++) {
			const slot = at & (slots - 1)
			const found = known[slot]
			if (found === undefined) {
				known[slot] = made
				marks[slot] = mark
				return made
			}
			if (marks[slot] === mark && saysTheSame(found, made)) return found
		}
		known[first] = made
		marks[first] = mark
		return made
	}
}

/** Objects in them are the same where they are one. */
function saysTheSame(one: Members, other: Members): boolean {
	let count = 0
	for (const name in other) {
		if (!Object.is(one[name], other[name])) return false
		count++
	}
	for (const _ in one) count--
	return count === 0
}

/** The end of a text: most begin alike. */
const lastLetters = 8

/** A number for what has come so far and this after it. */
export function marked(before: number, value: unknown): number {
	let mark = Math.imul(before, 31)
	if (typeof value === 'string') {
		mark += value.length
		for (let at = Math.max(0, value.length - lastLetters); at < value.length; at++) {
			mark = (Math.imul(mark, 31) + value.charCodeAt(at)) | 0
		}
	} else if (typeof value === 'number') mark += value | 0
	else mark += value === true ? 3 : value === false ? 5 : 7
	return mark | 0
}
