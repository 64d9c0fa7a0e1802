import { isRowList } from '../rpc/rowList.js'
import { malformed, type Reading } from '../wire.js'
import { openRow, type Placed, type RawRow } from './parityRows.js'

/** A list of rows as it came, whether JSON.parse or the stream of a large answer made it. */
export interface Rows {
	readonly length: number
	at(index: number): unknown
	/** It is not looked at again. */
	letGo(index: number): void
	/** A number for what the row says besides its place: rows of one number say the same. -1: it has none. */
	contentAt(index: number): number
	/** Of a row with a content. */
	pathAt(index: number): readonly number[]
	subtracesAt(index: number): number | undefined
}

/** Null: it is no list. */
export function rowsIn(raw: unknown): Rows | null {
	if (isRowList(raw)) return { ...raw, length: raw.length, letGo: () => {} }
	if (!Array.isArray(raw)) return null
	const list: unknown[] = raw
	return {
		length: list.length,
		at: (index) => list[index],
		letGo(index) {
			list[index] = null
		},
		contentAt: () => -1,
		pathAt: () => [],
		subtracesAt: () => undefined,
	}
}

/** An answer that is a list; its rows are opened one by one, in turns with everybody else's work. */
export function listOf(raw: unknown, reading: Reading): Rows {
	const rows = rowsIn(raw)
	if (rows === null) throw malformed(reading, `the result is ${raw === null ? 'null' : 'not a list'}`)
	return rows
}

/** Reads all rows of an answer at once: for answers that nobody can make long. */
export function readAll<T extends Placed>(raw: unknown, read: Read<T>, reading: Reading): readonly T[] {
	const rows = listOf(raw, reading)
	const rowAt = createRowReader(rows, read, reading)
	return Array.from({ length: rows.length }, (_, index) => rowAt(index))
}

export type Read<T> = (row: RawRow, index: number, reading: Reading) => T

/** Reads rows one by one; what many of them say is read once, and theirs together. */
export function createRowReader<T extends Placed>(rows: Rows, read: Read<T>, reading: Reading): (index: number) => T {
	/** By content, the first row of it. */
	const known: T[] = []
	return (index) => {
		const content = rows.contentAt(index)
		const first = content < 0 ? undefined : known[content]
		if (first === undefined) {
			const row = read(openRow(rows.at(index), index, reading), index, reading)
			if (content >= 0) known[content] = row
			return row
		}
		if (first.frame.type === 'reward') return first
		return { ...first, traceAddress: rows.pathAt(index), subtraces: rows.subtracesAt(index) ?? null }
	}
}
