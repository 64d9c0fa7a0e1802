/** Builds objects and lists while their JSON arrives, without what the shape leaves out, in little memory. */

import { cutInput } from '../../core/events/inputs.js'
import { broken } from './jsonFault.js'
import { createShared, marked } from './jsonShared.js'
import { createMemoryCount } from './memoryCount.js'
import {
	type Content,
	createRowList,
	type GrowingRowList,
	listBytes,
	otherBytes,
	type SideName,
	type Sides,
	sideNames,
	withSides,
} from './rowList.js'
import type { Shape } from './shapes.js'

export interface JsonLimits {
	/** Most nested brackets. Calls nest at most 1,024 deep, each in an object and a list. */
	readonly depth: number
	/** Most memory that the value may take, by a rough count. */
	readonly keptBytes: number
}

export interface JsonBuilder {
	/** The innermost open container. */
	isIn(): 'list' | 'object' | 'nothing'
	/** Shape of the open object; null: it is skipped. */
	openShape(): Shape | null
	/** Shape of the next value; null: it is skipped. */
	nextShape(): Shape | null
	/** Throws JsonFault if it is nested too deep. */
	open(isList: boolean): void
	/** Throws JsonFault if the innermost container is of the other sort. */
	close(isList: boolean): void
	/** Name of the member whose value comes next; null: it is skipped. */
	name(name: string | null): void
	/** The next value is another element of the list. */
	nextElement(): void
	/** A number, a word or a text; any value where it is skipped. */
	put(value: unknown): void
	/** Like `put`; `isNew`: the text takes memory of its own. */
	putText(text: string, isNew: boolean): void
	/** Counts memory in addition to what is counted here. Throws JsonFault `too-large`. */
	keep(bytes: number): void
	value(): unknown
}

/** Memory for each value. */
const valueBytes = 8
/** Memory for an element of a list: while the list grows, it is there twice or more. */
const elementBytes = 32
const containerBytes = 56
/** Letters of inputs after which only the beginnings of further ones are kept. */
const mostWholeInputs = 32 * 1024 * 1024

interface Level {
	/** Null: skipped. */
	readonly made: Container | GrowingRowList | null
	readonly shape: Shape | null
	readonly isList: boolean
	/** Its key in the container above; null: it is not kept. */
	readonly key: string | null
	/** The list of which it is a row; null: it is no row. */
	readonly rows: GrowingRowList | null
	/** Hash of its members, for `createShared`; null: it is not shared. */
	mark: number | null
	/** Its `traceAddress`, if it is a row. */
	path: unknown
	subtraces: unknown
	/** For a row or its action: `from`, `to` and `value`, which are stored apart. */
	sides: Sides | null
	readonly isAction: boolean
	/** The input of a call, until its parties decide whether it is kept. */
	input: string | null
	/** The memory counted before it began. */
	readonly keptBefore: number
}

export function createJsonBuilder(outermostShape: Shape, limits: JsonLimits): JsonBuilder {
	const levels: Level[] = []
	let level: Level | null = null
	/** Name of the member whose value comes next; null: it is skipped. */
	let key: string | null = ''
	let shape: Shape | null = outermostShape
	let outermost: unknown
	const shared = createShared()
	const kept = createMemoryCount(limits.keptBytes)
	/** Letters of kept inputs. */
	let inputLetters = 0

	/** `mark`: the hash of an object; undefined for any other value. */
	function put(made: unknown, mark?: number | null): void {
		if (level === null) {
			outermost = made
			return
		}
		if (level.made === null || key === null) return
		if (level.isList) {
			kept.add(Array.isArray(level.made) ? elementBytes : otherBytes)
			;(level.made as unknown[]).push(made)
			return
		}
		if (key === 'input' && level.shape?.keepsInput !== undefined) {
			// An input is a text; nothing else is kept in its place.
			level.input = null
			return
		}
		kept.add(valueBytes)
		if (level.rows !== null && key === 'traceAddress') level.path = made
		else if (level.rows !== null && key === 'subtraces') level.subtraces = made
		else if (level.isAction && isSide(key, made, level.sides)) return
		else {
			// Of repeated members the last one counts, as with JSON.parse.
			if (level.rows !== null && key === 'action') level.sides = null
			if (level.mark !== null) {
				level.mark = mark === null ? null : marked(level.mark, mark === undefined ? made : mark)
			}
			putMember(level.made as Record<string, unknown>, key, made)
		}
	}

	/** Keeps the input of an open call if its shape asks for it: whole while there is room, else its beginning. */
	function decideInput(call: Level): void {
		const { made, input, shape, sides } = call
		if (input === null || made === null) return
		const { from, to } = (sides ?? made) as Readonly<Record<string, unknown>>
		if (shape?.keepsInput?.(from, to) !== true) return
		const text = inputLetters > mostWholeInputs ? cutInput(input) : input
		inputLetters += text.length
		kept.add(text.length + 16 + valueBytes)
		if (sides !== null) sides.input = text
		else putMember(made as Record<string, unknown>, 'input', text)
		if (sides === null && call.mark !== null) call.mark = marked(call.mark, text)
	}

	/** The object in the form in which it is kept. */
	function finished({ made, mark, rows, path, subtraces, sides, keptBefore }: Level): unknown {
		const own = compact(made as Container) as Content
		const one = mark === null ? own : shared(own, mark)
		const isKnown = one !== own
		if (isKnown && rows === null) kept.add(keptBefore - kept.bytes())
		if (rows === null) return one
		const rowBytes = mark === null ? null : rows.pushRow(one, sides, path, subtraces)
		if (rowBytes !== null) {
			// Its path is packed now; the list that it came as is freed.
			const givenBack = isKnown ? kept.bytes() - keptBefore : containerBytes + (path as unknown[]).length * elementBytes
			kept.add(rowBytes - givenBack)
			return one
		}
		kept.add(otherBytes)
		const whole = { ...withSides(one, sides), ...(path !== undefined && { traceAddress: path }) }
		rows.push(subtraces === undefined ? whole : { ...whole, subtraces })
		return one
	}

	function toElement(): void {
		shape = level?.shape?.rows ?? level?.shape ?? null
		key = level?.made == null ? null : ''
	}

	return {
		isIn: () => (level === null ? 'nothing' : level.isList ? 'list' : 'object'),
		openShape: () => level?.shape ?? null,
		nextShape: () => shape,
		open(isList) {
			if (levels.length >= limits.depth) throw broken(`it is nested more than ${limits.depth} levels deep`)
			const keptBefore = kept.bytes()
			const isRows = isList && shape?.rows !== undefined
			if (shape !== null) kept.add(isRows ? listBytes : containerBytes)
			const made = shape === null ? null : !isList ? {} : isRows ? createRowList() : []
			const above: Level | null = level
			const rows =
				!isList && made !== null && above?.isList === true && above.shape?.rows !== undefined ? above.made : null
			const isAction = !isList && made !== null && above !== null && above.rows !== null && key === 'action'
			levels.push(above ?? outside)
			level = {
				made,
				shape,
				isList,
				key,
				rows: rows as GrowingRowList | null,
				mark: !isList && shape?.shares === true ? 1 : null,
				path: undefined,
				subtraces: undefined,
				sides: isAction ? {} : null,
				isAction,
				input: null,
				keptBefore,
			}
			if (isList) toElement()
		},
		close(isList) {
			if (level === null || level.isList !== isList) throw broken('its brackets do not match')
			decideInput(level)
			const closed: Level = level
			const above = levels.pop() ?? outside
			// Compacted only now, at its full size.
			const made = closed.made === null ? undefined : isList ? compactList(closed.made) : finished(closed)
			level = above === outside ? null : above
			key = closed.key
			// A row is already in its list.
			if (closed.rows === null) put(made, closed.made === null ? undefined : closed.mark)
			if (closed.isAction && level !== null) level.sides = closed.sides
			if (level?.isList === true) toElement()
		},
		name(name) {
			shape = name === null ? null : (level?.shape?.of(name) ?? null)
			key = shape === null ? null : name
		},
		nextElement: toElement,
		put: (value) => put(value),
		putText(text, isNew) {
			if (level?.shape?.keepsInput !== undefined && key === 'input') level.input = text
			else {
				if (isNew) kept.add(text.length + 16)
				put(text)
			}
		},
		keep: kept.add,
		value: () => outermost,
	}
}

/** The level below the outermost. */
const outside: Level = {
	made: null,
	shape: null,
	isList: true,
	key: null,
	rows: null,
	mark: null,
	path: undefined,
	subtraces: undefined,
	sides: null,
	isAction: false,
	input: null,
	keptBefore: 0,
}

/** Stores `from`, `to` or `value` of an action apart. False if the member is another, or no text. */
function isSide(name: string, made: unknown, sides: Sides | null): boolean {
	if (sides === null || !sideNames.includes(name as SideName)) return false
	if (typeof made === 'string') sides[name as SideName] = made
	else delete sides[name as SideName]
	return typeof made === 'string'
}

function compactList(made: Container | GrowingRowList): unknown {
	return Array.isArray(made) ? compact(made) : made
}

function putMember(into: Record<string, unknown>, key: string, value: unknown): void {
	if (key !== '__proto__') into[key] = value
	else Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true })
}

type Container = Record<string, unknown> | unknown[]

/** One for all: a shape that leaves out most members makes many empty objects. */
const emptyObject: Container = Object.freeze({})
/** A list that grows has room for 17 elements, then for 1.5 times what it held when it grew again. */
const roomOfFirst = 17

/** The same value, once it is complete: a trace has hundreds of thousands of short lists. */
function compact(made: Container): Container {
	if (Array.isArray(made)) return made.length < roomOfFirst ? made.slice() : made
	for (const name in made) if (Object.hasOwn(made, name)) return made
	return emptyObject
}
