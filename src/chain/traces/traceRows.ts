import { isRowList, type RowList } from '../stream/rowList.js'
import { malformed, type Reading } from '../wire/wire.js'
import type { RawRow } from './parityRows.js'

/** A list of rows as it came, made by JSON.parse or by the stream of a large answer. */
export interface Rows {
	readonly length: number
	at(index: number): unknown
	/** Releases the row: it is not read again. */
	letGo(index: number): void
	/** The list as the stream has packed it; null: an ordinary list. */
	readonly packed: RowList | null
}

/** Null: it is no list. */
export function rowsIn(raw: unknown): Rows | null {
	if (isRowList(raw)) return { length: raw.length, at: raw.at, letGo: () => {}, packed: raw }
	if (!Array.isArray(raw)) return null
	const list: unknown[] = raw
	return {
		length: list.length,
		at: (index) => list[index],
		letGo(index) {
			list[index] = null
		},
		packed: null,
	}
}

/** An answer that is a list. Throws `malformed`. Its rows are not checked yet. */
export function listOf(raw: unknown, reading: Reading): Rows {
	const rows = rowsIn(raw)
	if (rows === null) throw malformed(reading, `the result is ${raw === null ? 'null' : 'not a list'}`)
	return rows
}

export type Read<T> = (row: RawRow, index: number, reading: Reading) => T
