/**
 * Rows of a trace, packed: a stranger makes hundreds of thousands of them for one transaction, which differ in nothing
 * but their places, their parties and what they move. What else they say is kept once, and these in columns.
 */

import { createNumberColumn } from './numberColumn.js'
import { createPathColumn } from './pathColumn.js'

/** Elements of a list of JSON, in their order; most of them rows of a trace. */
export interface RowList {
	readonly length: number
	/** As JSON.parse gives it; made anew each time. */
	at(index: number): unknown
	/** A number for what the row says besides its place and its sides. -1: it has none. */
	contentAt(index: number): number
	/** Of a row with a content: its `traceAddress`. */
	pathAt(index: number): readonly number[]
	/** The length of that. */
	depthAt(index: number): number
	/** Of a row with a content: its `subtraces`, where it has them. */
	subtracesAt(index: number): number | undefined
	/** Of a row with a content: a number for this text in its `action`. -1: it is in the content, or not there. */
	sideAt(index: number, name: SideName): number
	/** The text of that number. */
	side(number: number): string
}

/** Texts in the `action` of a row which are kept apart. */
export type SideName = 'from' | 'to' | 'value'
export type Sides = { [name in SideName]?: string }
export const sideNames: readonly SideName[] = ['from', 'to', 'value']

export interface GrowingRowList extends RowList {
	/** Any element. */
	push(element: unknown): void
	/**
	 * A row, by what it says (one object for all that say the same), its sides and its place. Returns the bytes that it
	 * takes; null where the place is in no form that is packed.
	 */
	pushRow(content: Content, sides: Sides | null, path: unknown, subtraces: unknown): number | null
}

export type Content = Readonly<Record<string, unknown>>

/** What a list takes when it is empty, a row here and while it is read, each step of its path and each new text. */
export const listBytes = 12_288
const rowBytes = 64
/** What a row takes besides that is in no form that is packed. */
export const otherBytes = 600
const stepBytes = 4
const textBytes = 128
/** What is said anew costs more than its letters, here and where it is read: some hundred thousand are borne. */
const contentBytes = 1_200
/** So many letters of a text stand in `textBytes`. */
const shortLetters = 66

/** Calls nest 1,024 deep: no node has reason to tell of a longer path. */
const mostSteps = 2_048

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
	const texts: string[] = []
	const textNumbers = new Map<string, number>()
	let longLetters = 0
	const content = createNumberColumn()
	const children = createNumberColumn()
	const paths = createPathColumn()
	const sides = { from: createNumberColumn(), to: createNumberColumn(), value: createNumberColumn() }

	function numberOf(one: Content): number {
		if (contents.at(-1) === one) return contents.length - 1
		const known = numbers.get(one)
		if (known !== undefined) return known
		numbers.set(one, contents.length)
		return contents.push(one) - 1
	}

	function textNumber(text: string): number {
		const known = textNumbers.get(text)
		if (known !== undefined) return known
		longLetters += Math.max(0, text.length - shortLetters)
		textNumbers.set(text, texts.length)
		return texts.push(text) - 1
	}

	/** Returns the bytes of what is new, besides a content. */
	function add(one: number, own: Sides | null, path: readonly number[], subtraces: number): number {
		const [before, lettersBefore] = [texts.length, longLetters]
		content.push(one)
		children.push(subtraces)
		for (const name of sideNames) {
			const text = own?.[name]
			sides[name].push(text === undefined ? none : textNumber(text))
		}
		return paths.push(path) * stepBytes + (texts.length - before) * textBytes + longLetters - lettersBefore
	}

	function subtracesAt(index: number): number | undefined {
		const subtraces = children.at(index)
		return subtraces === none ? undefined : subtraces
	}

	function sideAt(index: number, name: SideName): number {
		const number = sides[name].at(index)
		return number === none ? -1 : number
	}

	function sidesAt(index: number): Sides | null {
		let own: Sides | null = null
		for (const name of sideNames) {
			const text = texts[sides[name].at(index)]
			if (text === undefined) continue
			own ??= {}
			own[name] = text
		}
		return own
	}

	const list: GrowingRowList = {
		get length() {
			return content.length
		},
		push(element) {
			others.set(content.length, element)
			add(none, null, [], none)
		},
		pushRow(one, own, path, subtraces) {
			if (!Array.isArray(path) || path.length > mostSteps || !path.every(isPacked)) return null
			if (subtraces !== undefined && !isPacked(subtraces)) return null
			const before = contents.length
			const added = add(numberOf(one), own, path, subtraces ?? none)
			return rowBytes + added + (contents.length - before) * contentBytes
		},
		at(index) {
			if (index >= content.length) return undefined
			const number = content.at(index)
			if (number === none) return others.get(index)
			const own = contents[number] as Content
			const row = { ...withSides(own, sidesAt(index)), traceAddress: paths.at(index) }
			const subtraces = subtracesAt(index)
			return subtraces === undefined ? row : { ...row, subtraces }
		},
		contentAt(index) {
			const number = index < content.length ? content.at(index) : none
			return number === none ? -1 : number
		},
		pathAt: paths.at,
		depthAt: paths.depthAt,
		subtracesAt,
		sideAt,
		side: (number) => texts[number] ?? '',
	}
	lists.add(list)
	return list
}

/** A row whose `action` has what was kept apart of it. */
export function withSides(content: Content, sides: Sides | null): Content {
	return sides === null ? content : { ...content, action: { ...(content.action as Content), ...sides } }
}

function isPacked(value: unknown): value is number {
	return typeof value === 'number' && value >= 0 && value < none && Number.isInteger(value) && !Object.is(value, -0)
}
