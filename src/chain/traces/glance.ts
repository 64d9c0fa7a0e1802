import { isObject, type Reading } from '../wire.js'
import type { AddressTest } from './addressBitmap.js'
import { checkForm, type FormedRow, readSubtraces } from './parityRows.js'
import type { Rows } from './rows.js'

/** What a look at a row shows without decoding it. */
export interface Glance {
	/** Of a packed list a row that says the same, but for its place and its sides. */
	row: FormedRow
	isRoot: boolean
	/** How many children it says that it has; null where it does not say. */
	subtraces: number | null
	/** Whether one of the addresses may have a part in it. */
	mayTouch: boolean
}

/** Looks at rows one by one: the object is the same each time. Throws `malformed`. */
export function createGlance(rows: Rows, isAsked: AddressTest, reading: Reading): (index: number) => Readonly<Glance> {
	const { packed } = rows
	/** By content, the first row of it. */
	const known: FormedRow[] = []
	/** By number of their texts. */
	const sides: boolean[] = []
	const glance = {} as Glance

	function mayBe(text: number): boolean {
		sides[text] ??= isSideAsked(packed?.side(text), isAsked)
		return sides[text]
	}

	return (index) => {
		const content = packed?.contentAt(index) ?? -1
		const first = content < 0 ? undefined : known[content]
		const row = first ?? checkForm(rows.at(index), index, reading)
		glance.row = row
		if (packed === null || first === undefined) {
			if (content >= 0) known[content] = row
			const { traceAddress: path, subtraces } = row
			glance.isRoot = Array.isArray(path) && path.length === 0
			glance.subtraces = typeof subtraces === 'number' ? subtraces : readSubtraces(row)
			glance.mayTouch = mayTouch(row, isAsked)
			return glance
		}
		glance.isRoot = packed.depthAt(index) === 0
		glance.subtraces = packed.subtracesAt(index) ?? null
		const [from, to] = [packed.sideAt(index, 'from'), packed.sideAt(index, 'to')]
		const isPlain = row.type === 'call' && from >= 0 && to >= 0
		glance.mayTouch = isPlain ? mayBe(from) || mayBe(to) : mayTouch(checkForm(rows.at(index), index, reading), isAsked)
		return glance
	}
}

/** What cannot be read does not pass for somebody else. */
function isSideAsked(party: unknown, isAsked: AddressTest): boolean {
	return !isAddressLike(party) || isAsked(party)
}

/**
 * The rule of `partiesOf`, without making anything. What cannot be read does not pass for something that touches
 * nobody.
 */
function mayTouch({ type, action, result, error }: FormedRow, isAsked: AddressTest): boolean {
	switch (type) {
		case 'call':
			if (!isAddressLike(action.from) || !isAddressLike(action.to)) return true
			return isAsked(action.from) || isAsked(action.to)
		case 'create':
		case 'create2':
			if (!isAddressLike(action.from)) return true
			// Also of one that failed: it is decoded then, and found to have made nothing.
			return isAsked(action.from) || mayHaveMade(result, error, isAsked)
		case 'suicide':
		case 'selfdestruct': {
			const [ended, heir] = [action.address ?? action.from, action.refundAddress ?? action.to]
			const isReadable = isAddressLike(ended) && isAddressLike(heir) && (action.balance ?? action.value) != null
			return !isReadable || isAsked(ended) || isAsked(heir)
		}
		default:
			return isAsked(action.from) || isAsked(action.to)
	}
}

function mayHaveMade(result: unknown, error: unknown, isAsked: AddressTest): boolean {
	const made = isObject(result) ? result.address : undefined
	if (typeof error === 'string' && error !== '') return isAsked(made)
	return !isAddressLike(made) || isAsked(made)
}

export function isAddressLike(value: unknown): boolean {
	return typeof value === 'string' && value.length === 42
}
