/** Makes objects and lists of JSON as it comes, less what the shape leaves out, in as little memory as they need. */

import { type Container, compact } from './jsonContainer.js'
import { broken } from './jsonFault.js'
import { createKept } from './jsonKept.js'
import { createShared, marked } from './jsonShared.js'
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
	/** Brackets inside of brackets. Calls nest 1,024 deep at most, each in an object and a list. */
	readonly depth: number
	/** Of memory that the value takes, by a rough count. */
	readonly keptBytes: number
}

export interface JsonBuilder {
	/** What is open, innermost. */
	isIn(): 'list' | 'object' | 'nothing'
	/** Shape of the object that is open; null: it is passed over. */
	openShape(): Shape | null
	/** Shape of the value that comes next; null: it is passed over. */
	nextShape(): Shape | null
	/** Throws JsonFault where it is nested too deep. */
	open(isList: boolean): void
	/** Throws JsonFault where the other of the two is open. */
	close(isList: boolean): void
	/** Of the member whose value comes next; null: it is passed over. */
	name(name: string | null): void
	/** Another element of the list comes next. */
	nextElement(): void
	/** A number, a word or a text; anything where it is passed over. */
	put(value: unknown): void
	/** Of memory, besides what is counted here. Throws JsonFault `too-large`. */
	keep(bytes: number): void
	/** The outermost value, when all is closed. */
	value(): unknown
}

/** Of memory, for each value that is made. */
const valueBytes = 8
/** For one in a list: as the list grows it is there twice and more. */
const elementBytes = 32
const containerBytes = 56

interface Level {
	/** Null: passed over. */
	readonly made: Container | GrowingRowList | null
	readonly shape: Shape | null
	readonly isList: boolean
	/** Under which it stands in the one above; null: it is not made. */
	readonly key: string | null
	/** Of which it is one; null: of none. */
	readonly rows: GrowingRowList | null
	/** Of what it says, as `createShared` wants it; null: it is not shared. */
	mark: number | null
	/** Where it stands, if it is a row. */
	path: unknown
	subtraces: unknown
	/** Of a row, or of the action of one: what is kept apart. */
	sides: Sides | null
	readonly isAction: boolean
	/** What was kept before it came. */
	readonly keptBefore: number
}

export function createJsonBuilder(outermostShape: Shape, limits: JsonLimits): JsonBuilder {
	const levels: Level[] = []
	let level: Level | null = null
	/** Of the member whose value comes next; null: it is passed over. */
	let key: string | null = ''
	let shape: Shape | null = outermostShape
	let outermost: unknown
	const shared = createShared()
	const kept = createKept(limits.keptBytes)

	/** `mark`: of an object; undefined for what is none. */
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
		kept.add(valueBytes)
		if (level.rows !== null && key === 'traceAddress') level.path = made
		else if (level.rows !== null && key === 'subtraces') level.subtraces = made
		else if (level.isAction && isSide(key, made, level.sides)) return
		else {
			// Where it comes twice the last one counts, as with JSON.parse.
			if (level.rows !== null && key === 'action') level.sides = null
			if (level.mark !== null) {
				level.mark = mark === null ? null : marked(level.mark, mark === undefined ? made : mark)
			}
			putMember(level.made as Record<string, unknown>, key, made)
		}
	}

	/** An object as it is kept. */
	function finished({ made, mark, rows, path, subtraces, sides, keptBefore }: Level): unknown {
		const own = compact(made as Container) as Content
		const one = mark === null ? own : shared(own, mark)
		const isKnown = one !== own
		if (isKnown && rows === null) kept.add(keptBefore - kept.bytes())
		if (rows === null) return one
		const rowBytes = mark === null ? null : rows.pushRow(one, sides, path, subtraces)
		if (rowBytes !== null) {
			// Its path is packed, and was a list only as it came.
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
				keptBefore,
			}
			if (isList) toElement()
		},
		close(isList) {
			if (level === null || level.isList !== isList) throw broken('its brackets do not match')
			const closed: Level = level
			const above = levels.pop() ?? outside
			// Only now, when it is as large as it will be.
			const made = closed.made === null ? undefined : isList ? compactList(closed.made) : finished(closed)
			level = above === outside ? null : above
			key = closed.key
			// A row stands in its list already.
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
		keep: kept.add,
		value: () => outermost,
	}
}

/** Stands below the outermost. */
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
	keptBefore: 0,
}

/** Whether a member of an action is one that is kept apart, and was. */
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
