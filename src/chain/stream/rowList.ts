/**
 * Rows of a trace, packed. An attacker can make hundreds of thousands of them in one transaction, which differ only in
 * place, parties and value. Those are stored in columns; the rest of a row, its content, is stored once.
 */

import { createNumberColumn } from './numberColumn.js'
import { createPathColumn } from './pathColumn.js'

/** Elements of a JSON list, in their order; most of them are rows of a trace. */
export interface RowList {
	readonly length: number
	/** As JSON.parse gives it; made anew each time. */
	at(index: number): unknown
	/** A number for the row's content, without place, parties and value. -1: the element is not packed. */
	contentAt(index: number): number
	/** For a packed row: its `traceAddress`. */
	pathAt(index: number): readonly number[]
	depthAt(index: number): number
	/** For a packed row: its `subtraces`, where it has them. */
	subtracesAt(index: number): number | undefined
	/** For a packed row: the number of this text of its `action`. -1: it is in the content, or absent. */
	sideAt(index: number, name: SideName): number
	side(number: number): string
}

/** Texts in the `action` of a row that are stored apart. */
export type SideName = 'from' | 'to' | 'value' | 'input'
export type Sides = { [name in SideName]?: string }
export const sideNames: readonly SideName[] = ['from', 'to', 'value', 'input']

export interface GrowingRowList extends RowList {
	/** Adds any element. */
	push(element: unknown): void
	/**
	 * Adds a row by its content (one object for all equal contents), its parties and value, and its place. Returns the
	 * bytes that it takes; null where the place has a form that cannot be packed.
	 */
	pushRow(content: Content, sides: Sides | null, path: unknown, subtraces: unknown): number | null
}

export type Content = Readonly<Record<string, unknown>>

/** Bytes of an empty list; then of a row here and while it is read, of each step of its path, and of each new text. */
export const listBytes = 12_288
const rowBytes = 64
/** Bytes of a row that cannot be packed, besides its members. */
export const otherBytes = 600
const stepBytes = 4
const textBytes = 128
/** A new content costs more than its letters, here and where it is read. Some hundred thousand fit. */
const contentBytes = 1_200
/** `textBytes` covers a text of up to 66 letters. */
const shortLetters = 66

/** Calls nest 1,024 deep: a longer path makes no sense. */
const mostSteps = 2_048

const none = 0xffffffff
const lists = new WeakSet<object>()

/** Whether this is a list of rows from the stream of a large answer; JSON.parse makes none. */
export function isRowList(value: unknown): value is RowList {
	return typeof value === 'object' && value !== null && lists.has(value)
}

export function createRowList(): GrowingRowList {
	const contents: Content[] = []
	const numbers = new Map<Content, number>()
	/** Elements without a content, by index. */
	const others = new Map<number, unknown>()
	const texts: string[] = []
	const textNumbers = new Map<string, number>()
	let longLetters = 0
	const content = createNumberColumn()
	const children = createNumberColumn()
	const paths = createPathColumn()
	const sides = {
		from: createNumberColumn(),
		to: createNumberColumn(),
		value: createNumberColumn(),
		input: createNumberColumn(),
	}

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

	/** Returns the bytes of the new parts, besides a content. */
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

/** A row whose `action` has its parties and value again. */
export function withSides(content: Content, sides: Sides | null): Content {
	return sides === null ? content : { ...content, action: { ...(content.action as Content), ...sides } }
}

function isPacked(value: unknown): value is number {
	return typeof value === 'number' && value >= 0 && value < none && Number.isInteger(value) && !Object.is(value, -0)
}
