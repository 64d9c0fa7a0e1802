import type { Address } from '../../model/glossary.js'
import type { SideName } from '../stream/rowList.js'
import { address, quantity, type Reading } from '../wire/wire.js'
import { openRow, type Placed } from './parityRows.js'
import type { Read, Rows } from './traceRows.js'
import { MOST_DEPTH, type PlacelessFrame } from './tree.js'

export interface RowReader<T> {
	/** Throws `malformed`. */
	at(index: number): T
	/** The frame of a row, without its place. */
	frameAt(index: number): PlacelessFrame
}

/** The first row with a given content. */
interface First<T> {
	readonly row: T
	/** By number, as in RowList. */
	readonly from: number
	readonly to: number
	readonly value: number
	readonly input: number
	/** For a call, the parties and the value depend on nothing else in the row. */
	readonly isCall: boolean
}

/** Reads rows one by one; content that many rows share is read once. */
export function createRowReader<T extends Placed>(rows: Rows, read: Read<T>, reading: Reading): RowReader<T> {
	const { packed } = rows
	if (packed === null) {
		const at = (index: number) => read(openRow(rows.at(index), index, reading), index, reading)
		return { at, frameAt: (index) => at(index).frame }
	}
	/** By content. */
	const known: First<T>[] = []
	/** By the number of their text in the packed list. */
	const parties: (Address | null)[] = []
	const amounts: (bigint | null)[] = []

	function partyOf(text: number): Address | null {
		if (text < 0) return null
		const party = parties[text]
		if (party !== undefined) return party
		parties[text] = address(packed?.side(text))
		return parties[text]
	}

	function amountOf(text: number): bigint | null {
		if (text < 0) return null
		const amount = amounts[text]
		if (amount !== undefined) return amount
		amounts[text] = quantity(packed?.side(text))
		return amounts[text]
	}

	function readWhole(index: number): T {
		const open = openRow(rows.at(index), index, reading)
		const row = read(open, index, reading)
		const content = packed?.contentAt(index) ?? -1
		if (content >= 0 && known[content] === undefined) {
			const side = (name: SideName) => packed?.sideAt(index, name) ?? -1
			const isCall = open.type === 'call'
			known[content] = { row, from: side('from'), to: side('to'), value: side('value'), input: side('input'), isCall }
		}
		return row
	}

	function firstAt(index: number): First<T> | undefined {
		const content = packed?.contentAt(index) ?? -1
		return content < 0 ? undefined : known[content]
	}

	/** Null: the row must be read whole. */
	function frameLike(first: First<T>, index: number): PlacelessFrame | null {
		const from = packed?.sideAt(index, 'from') ?? -1
		const to = packed?.sideAt(index, 'to') ?? -1
		const value = packed?.sideAt(index, 'value') ?? -1
		const input = packed?.sideAt(index, 'input') ?? -1
		const { frame } = first.row
		if (from === first.from && to === first.to && value === first.value && input === first.input) return frame
		if (input >= 0 || first.input >= 0) return null
		if (!first.isCall) return null
		// Without a call type, a row with value is refused, and one without is not.
		if (frame.callType === null && value !== first.value) return null
		const giver = from === first.from ? frame.from : partyOf(from)
		const taker = to === first.to ? frame.to : partyOf(to)
		const valueWei = value === first.value ? frame.valueWei : amountOf(value)
		if (giver === null || taker === null || valueWei === null) return null
		return { ...frame, from: giver, to: taker, valueWei }
	}

	return {
		at(index) {
			const first = firstAt(index)
			const frame = first && frameLike(first, index)
			if (first === undefined || frame == null) return readWhole(index)
			if (frame.type === 'reward') return first.row
			if (packed.depthAt(index) > MOST_DEPTH) return readWhole(index)
			return {
				...first.row,
				frame,
				traceAddress: packed.pathAt(index),
				subtraces: packed.subtracesAt(index) ?? null,
			}
		},
		frameAt(index) {
			const first = firstAt(index)
			return (first && frameLike(first, index)) ?? readWhole(index).frame
		},
	}
}
