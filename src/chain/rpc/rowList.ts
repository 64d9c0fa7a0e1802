/**
 * Rows of a trace, packed: a stranger makes hundreds of thousands of them for one transaction, which differ in nothing
 * but their places. What else they say is kept once, and the places in columns.
 */

/** Elements of a list of JSON, in their order; most of them rows of a trace. */
export interface RowList {
	readonly length: number
	/** As JSON.parse gives it; made anew each time. */
	at(index: number): unknown
	/** A number for what the row says besides its place: rows of one number say the same. -1: it has none. */
	contentAt(index: number): number
	/** Of a row with a content: its `traceAddress`. */
	pathAt(index: number): readonly number[]
	/** Of a row with a content: its `subtraces`, where it has them. */
	subtracesAt(index: number): number | undefined
}

export interface GrowingRowList extends RowList {
	/** Any element. */
	push(element: unknown): void
	/**
	 * A row, by what it says (one object for all that say the same) and its place; false where the place is in no form
	 * that is packed.
	 */
	pushRow(content: Content, path: unknown, subtraces: unknown): boolean
}

export type Content = Readonly<Record<string, unknown>>

/** What a list takes when it is empty, a row here and when it is read, and each step of its path; in bytes. */
export const listBytes = 2_048
export const rowBytes = 100
export const stepBytes = 4

const none = 0xffffffff
const lists = new WeakSet<object>()

/** Whether this is a list of rows as the stream of a large answer makes it: JSON.parse makes none. */
export function isRowList(value: unknown): value is RowList {
	return typeof value === 'object' && value !== null && lists.has(value)
}

export function createRowList(): GrowingRowList {
	const contents: Content[] = []
	const numbers = new Map<Content, number>()
	/** By index, what has no content. */
	const others = new Map<number, unknown>()
	// Small: a block has a list for each of its transactions.
	let [content, children, ends, steps] = [column(), column(), column(), column()]
	let length = 0
	let stepCount = 0

	function numberOf(one: Content): number {
		if (contents.at(-1) === one) return contents.length - 1
		const known = numbers.get(one)
		if (known !== undefined) return known
		numbers.set(one, contents.length)
		return contents.push(one) - 1
	}

	function add(number: number, subtraces: number): void {
		if (length === content.length) {
			content = doubled(content)
			children = doubled(children)
			ends = doubled(ends)
		}
		content[length] = number
		children[length] = subtraces
		ends[length] = stepCount
		length++
	}

	function pathAt(index: number): readonly number[] {
		const from = index === 0 ? 0 : (ends[index - 1] ?? 0)
		const path: number[] = new Array(Math.max(0, (ends[index] ?? 0) - from))
		for (let at = 0; at < path.length; at++) path[at] = steps[from + at] ?? 0
		return path
	}

	function subtracesAt(index: number): number | undefined {
		const subtraces = children[index] ?? none
		return subtraces === none ? undefined : subtraces
	}

	const list: GrowingRowList = {
		get length() {
			return length
		},
		push(element) {
			others.set(length, element)
			add(none, none)
		},
		pushRow(one, path, subtraces) {
			if (!Array.isArray(path) || !path.every(isPacked)) return false
			if (subtraces !== undefined && !isPacked(subtraces)) return false
			while (stepCount + path.length > steps.length) steps = doubled(steps)
			for (const step of path) steps[stepCount++] = step
			add(numberOf(one), subtraces ?? none)
			return true
		},
		at(index) {
			const number = content[index]
			if (index >= length || number === undefined) return undefined
			if (number === none) return others.get(index)
			const subtraces = subtracesAt(index)
			const row = { ...contents[number], traceAddress: pathAt(index) }
			return subtraces === undefined ? row : { ...row, subtraces }
		},
		contentAt(index) {
			const number = content[index] ?? none
			return number === none ? -1 : number
		},
		pathAt,
		subtracesAt,
	}
	lists.add(list)
	return list
}

function isPacked(value: unknown): value is number {
	return typeof value === 'number' && value >= 0 && value < none && Number.isInteger(value) && !Object.is(value, -0)
}

function column(): Uint32Array<ArrayBuffer> {
	return new Uint32Array(16)
}

function doubled(column: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
	const larger = new Uint32Array(column.length * 2)
	larger.set(column)
	return larger
}
