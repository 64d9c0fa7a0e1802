import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { malformed, type Reading } from '../wire/wire.js'
import type { Placed } from './parityRows.js'
import { framed, listed, type ReadRows } from './readRows.js'
import type { Sequence, Tree } from './tree.js'

/**
 * The tree of one transaction from all of its rows, in any order, each once. Throws `malformed` if something is
 * missing: the root, a frame above another, or a child by the count of its parent. `subtraces` was right in more than
 * 16,000 recorded rows of Erigon, Reth, Nethermind, Besu, Parity and others. A retry cannot help: Lotus gives no root
 * at all.
 */
export async function treeOfRows(rows: ReadRows<Placed>, whose: string, reading: Reading): Promise<Tree> {
	const tree = await treeInOrder(rows, whose, reading)
	if (tree !== null) return tree
	const sorted = framed((await listed(rows)).toSorted(byPath))
	return (await treeInOrder(sorted, whose, reading)) as Tree
}

/** Null: the rows are not in the order of their places. */
async function treeInOrder(rows: ReadRows<Placed>, whose: string, reading: Reading): Promise<Tree | null> {
	const { length } = rows
	const parents = new Int32Array(length)
	/** By row: children seen, whether their numbers have a gap, and the number of children by its own count. */
	const children = new Uint32Array(length)
	const gaps = new Uint8Array(length)
	const said = new Uint32Array(length)
	/** The last frame of each depth. */
	const last: number[] = []
	let before: Placed | null = null
	/** After a fault, the remaining rows are only checked for their order. */
	let fault: string | null = null
	for (let at = 0; at < length; at++) {
		if (isSliceOver()) await nextSlice()
		const row = rows.at(at) as Placed
		if (before !== null && byPath(before, row) > 0) return null
		fault ??= faultAt(row, before, last, whose)
		const { traceAddress: path, subtraces } = row
		const depth = path.length
		const parent = depth === 0 ? -1 : (last[depth - 1] ?? -1)
		if (parent >= 0) {
			if (path[depth - 1] !== children[parent]) gaps[parent] = 1
			children[parent] = (children[parent] ?? 0) + 1
		}
		said[at] = subtraces === null ? unsaid : Math.min(subtraces, unsaid - 1)
		if (depth <= last.length) {
			last.length = depth
			last.push(at)
		}
		parents[at] = parent
		before = row
	}
	if (fault !== null) throw malformed(reading, fault)
	for (let at = 0; at < length; at++) {
		if (said[at] === unsaid ? gaps[at] === 0 : said[at] === children[at]) continue
		const { traceAddress, subtraces } = rows.at(at) as Placed
		const says = subtraces === null ? 'numbers that have a gap' : `${subtraces} by its own count`
		const where = traceAddress.join('_') || 'the root'
		throw malformed(reading, `${whose} has ${children[at]} frames under ${where}, and ${says}`)
	}
	return { frames: rows.frames, parents }
}

const unsaid = 0xffffffff

/** Why a row cannot follow the one before it; null if it can. `last` has the frames down to the one before. */
function faultAt(
	{ traceAddress: path }: Placed,
	before: Placed | null,
	last: readonly number[],
	whose: string,
): string | null {
	if (before === null) return path.length > 0 ? `${whose} has no root frame` : null
	const above = path.length - 1
	// Those frames have prefixes of the previous row's path, so comparing with that one path is enough.
	if (above >= last.length || !beginAlike(path, before.traceAddress, above)) {
		return `${whose} lacks the frame above ${path.join('_')}`
	}
	const isSame = path.length === before.traceAddress.length && path[above] === before.traceAddress[above]
	return isSame ? `${whose} has two frames at ${path.join('_') || 'the root'}` : null
}

/** Compares the first `steps` steps, last step first: paths mostly differ there. */
function beginAlike(path: readonly number[], other: readonly number[], steps: number): boolean {
	for (let depth = steps - 1; depth >= 0; depth--) if (path[depth] !== other[depth]) return false
	return true
}

/** Whether each row comes after the one before it: then there are no repetitions. */
export async function isAscending(rows: Sequence<Placed>): Promise<boolean> {
	let before: Placed | null = null
	for (let at = 0; at < rows.length; at++) {
		if (isSliceOver()) await nextSlice()
		const row = rows.at(at) as Placed
		if (before !== null && byPath(before, row) >= 0) return false
		before = row
	}
	return true
}

/** Depth first, parents before children. */
export function byPath({ traceAddress: a }: Placed, { traceAddress: b }: Placed): number {
	const length = Math.min(a.length, b.length)
	for (let depth = 0; depth < length; depth++) {
		const difference = (a[depth] ?? 0) - (b[depth] ?? 0)
		if (difference !== 0) return difference
	}
	return a.length - b.length
}
