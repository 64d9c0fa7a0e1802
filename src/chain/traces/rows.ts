import { isRowList, type RowList } from '../rpc/rowList.js'
import { malformed, type Reading } from '../wire.js'
import type { RawRow } from './parityRows.js'

/** A list of rows as it came, whether JSON.parse or the stream of a large answer made it. */
export interface Rows {
	readonly length: number
	at(index: number): unknown
	/** It is not looked at again. */
	letGo(index: number): void
	/** As the stream has packed it; null: it is an ordinary list. */
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

/** An answer that is a list; its rows are opened one by one, in turns with everybody else's work. */
export function listOf(raw: unknown, reading: Reading): Rows {
	const rows = rowsIn(raw)
	if (rows === null) throw malformed(reading, `the result is ${raw === null ? 'null' : 'not a list'}`)
	return rows
}

export type Read<T> = (row: RawRow, index: number, reading: Reading) => T
