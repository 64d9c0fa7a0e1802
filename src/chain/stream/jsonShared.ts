/** Shares one object among equal objects of JSON. */

/** Twice the pairs of parties in an attacker's calls: some hundred contracts call some hundred addresses. */
const slots = 1 << 17
/** Slots to look at for one object before the first one is overwritten. */
const tries = 8

type Members = Readonly<Record<string, unknown>>

/** An earlier equal object, if still remembered; else the one given. `mark`: equal for equal members in order. */
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

/** Compares members by identity: equal inner objects are shared already. */
function saysTheSame(one: Members, other: Members): boolean {
	let count = 0
	for (const name in other) {
		if (!Object.is(one[name], other[name])) return false
		count++
	}
	for (const _ in one) count--
	return count === 0
}

/** The end of a text is hashed: most texts begin alike. */
const lastLetters = 8

/** Continues a hash with the next value. */
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
