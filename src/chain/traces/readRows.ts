import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { Reading } from '../wire/wire.js'
import type { Placed } from './parityRows.js'
import { createRowReader } from './rowReader.js'
import { listOf, type Read, type Rows } from './traceRows.js'
import type { PlacelessFrame, Sequence } from './tree.js'

/** Reads all rows of an answer at once, for answers that cannot be long. */
export function readAll<T extends Placed>(raw: unknown, read: Read<T>, reading: Reading): readonly T[] {
	const rows = listOf(raw, reading)
	const { at } = createRowReader(rows, read, reading)
	return Array.from({ length: rows.length }, (_, index) => at(index))
}

/** Rows that are already read, or are read each time they are asked for; then a malformed row throws at that time. */
export interface ReadRows<T extends Placed> extends Sequence<T> {
	/** Their frames, without places. */
	readonly frames: Sequence<PlacelessFrame>
}

/** Reads the rows at `places` (default: all), in slices. Rows of a packed list are made anew each time. */
export async function readInTurns<T extends Placed>(
	rows: Rows,
	read: Read<T>,
	reading: Reading,
	places?: readonly number[],
): Promise<ReadRows<T>> {
	const { at, frameAt } = createRowReader(rows, read, reading)
	const length = places?.length ?? rows.length
	const placeOf = places === undefined ? (index: number) => index : (index: number) => places[index] ?? -1
	if (rows.packed !== null) {
		return {
			length,
			at: (index) => at(placeOf(index)),
			frames: { length, at: (index) => frameAt(placeOf(index)) },
		}
	}
	const list: T[] = []
	for (let index = 0; index < length; index++) {
		if (isSliceOver()) await nextSlice()
		list.push(at(placeOf(index)))
		rows.letGo(placeOf(index))
	}
	return framed(list)
}

export function framed<T extends Placed>(list: readonly T[]): ReadRows<T> {
	return { length: list.length, at: (index) => list[index], frames: list.map(({ frame }) => frame) }
}

/** All items, as a list. */
export async function listed<T>(sequence: Sequence<T>): Promise<readonly T[]> {
	const list: T[] = []
	for (let index = 0; index < sequence.length; index++) {
		if (isSliceOver()) await nextSlice()
		list.push(sequence.at(index) as T)
	}
	return list
}
