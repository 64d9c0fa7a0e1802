import type { TimeSlices } from '../../base/timeSlices.js'
import type { Reading } from '../wire.js'
import type { Placed } from './parityRows.js'
import { createRowReader } from './rowReader.js'
import { listOf, type Read, type Rows } from './rows.js'
import type { PlacelessFrame, Sequence } from './tree.js'

/** Reads all rows of an answer at once: for answers that nobody can make long. */
export function readAll<T extends Placed>(raw: unknown, read: Read<T>, reading: Reading): readonly T[] {
	const rows = listOf(raw, reading)
	const { at } = createRowReader(rows, read, reading)
	return Array.from({ length: rows.length }, (_, index) => at(index))
}

/** Rows that were read, or are whenever they are asked for: what is wrong with one is thrown then. */
export interface ReadRows<T extends Placed> extends Sequence<T> {
	/** What they say besides their places. */
	readonly frames: Sequence<PlacelessFrame>
}

/**
 * The rows at these places (default: all), in turns with everybody else's work. Of an ordinary list they are read now,
 * and it is let go of; a packed one takes so much less memory that they are made anew each time.
 */
export async function readInTurns<T extends Placed>(
	rows: Rows,
	read: Read<T>,
	{ places, slices, reading }: { places?: readonly number[]; slices: TimeSlices; reading: Reading },
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
		if (slices.isOver()) await slices.next()
		list.push(at(placeOf(index)))
		rows.letGo(placeOf(index))
	}
	return framed(list)
}

export function framed<T extends Placed>(list: readonly T[]): ReadRows<T> {
	return { length: list.length, at: (index) => list[index], frames: list.map(({ frame }) => frame) }
}

/** All of them, as a list. */
export async function listed<T>(sequence: Sequence<T>, slices: TimeSlices): Promise<readonly T[]> {
	const list: T[] = []
	for (let index = 0; index < sequence.length; index++) {
		if (slices.isOver()) await slices.next()
		list.push(sequence.at(index) as T)
	}
	return list
}
