import { isObject, type Reading } from '../wire/wire.js'
import type { AddressTest } from './addressBitmap.js'
import { checkForm, type FormedRow, readSubtraces } from './parityRows.js'
import type { Rows } from './traceRows.js'

/** What a look at a row shows without decoding it. */
export interface Glance {
	/** For a packed list: the first row of the same content, which may differ in place and parties. */
	row: FormedRow
	isRoot: boolean
	/** The number of children by the row's own count; null if it gives none. */
	subtraces: number | null
	/** Whether the row may touch one of the addresses. */
	mayTouch: boolean
}

/** Looks at rows one by one; returns the same object each time. Throws `malformed`. */
export function createGlance(rows: Rows, isAsked: AddressTest, reading: Reading): (index: number) => Readonly<Glance> {
	const { packed } = rows
	/** The first row of each content. */
	const known: FormedRow[] = []
	/** By the number of their text in the packed list. */
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

/** A party that cannot be read counts as watched, so that the row is decoded. */
function isSideAsked(party: unknown, isAsked: AddressTest): boolean {
	return !isAddressLike(party) || isAsked(party)
}

/** The rule of `partiesOf` without allocations. A row that cannot be read counts as touching, and is decoded. */
function mayTouch({ type, action, result, error }: FormedRow, isAsked: AddressTest): boolean {
	switch (type) {
		case 'call':
			if (!isAddressLike(action.from) || !isAddressLike(action.to)) return true
			return isAsked(action.from) || isAsked(action.to)
		case 'create':
		case 'create2':
			if (!isAddressLike(action.from)) return true
			// Also for a failed creation: decoding it shows that nothing was created.
			return isAsked(action.from) || mayHaveMade(result, error, isAsked)
		case 'suicide':
		case 'selfdestruct': {
			const [ended, heir] = [action.address ?? action.from, action.refundAddress ?? action.to]
			const isReadable = isAddressLike(ended) && isAddressLike(heir) && (action.balance ?? action.value) != null
			// Without an heir, any watch may have been paid.
			return !isReadable || heir === NO_HEIR || isAsked(ended) || isAsked(heir)
		}
		default:
			return isAsked(action.from) || isAsked(action.to)
	}
}

const NO_HEIR = `0x${'0'.repeat(40)}`

function mayHaveMade(result: unknown, error: unknown, isAsked: AddressTest): boolean {
	const made = isObject(result) ? result.address : undefined
	if (typeof error === 'string' && error !== '') return isAsked(made)
	return !isAddressLike(made) || isAsked(made)
}

export function isAddressLike(value: unknown): boolean {
	return typeof value === 'string' && value.length === 42
}
