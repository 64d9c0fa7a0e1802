import type { TimeSlices } from '../../base/timeSlices.js'
import { malformed, type Reading } from '../wire.js'
import type { Placed } from './parityRows.js'
import type { Tree } from './tree.js'

/**
 * The tree of one transaction out of all of its rows, in any order, each once. Throws `malformed` when something is
 * missing: the root, a frame above another, or a child by the count that its parent gives. `subtraces` was right in
 * more than 16,000 recorded rows of Erigon, Reth, Nethermind, Besu, Parity and others. Asking again cannot help: Lotus
 * gives no root at all.
 */
export async function treeOfRows(
	rows: readonly Placed[],
	whose: string,
	slices: TimeSlices,
	reading: Reading,
): Promise<Tree> {
	const sorted = inOrder(rows)
	const parents: number[] = []
	/** By row: how many children are there, and whether their numbers have a gap. */
	const children = new Uint32Array(sorted.length)
	const gaps = new Uint8Array(sorted.length)
	/** The last frame of each depth. */
	const last: number[] = []
	for (const [at, { traceAddress: path }] of sorted.entries()) {
		if (slices.isOver()) await slices.next()
		const depth = path.length
		if (at === 0 && depth > 0) throw malformed(reading, `${whose} has no root frame`)
		const parent = depth === 0 ? -1 : last[depth - 1]
		if (parent === undefined || (parent >= 0 && !isUnder(path, sorted[parent]))) {
			throw malformed(reading, `${whose} lacks the frame above ${path.join('_')}`)
		}
		if (at > 0 && isSame(path, sorted[at - 1])) {
			throw malformed(reading, `${whose} has two frames at ${path.join('_') || 'the root'}`)
		}
		if (parent >= 0) {
			if (path[depth - 1] !== children[parent]) gaps[parent] = 1
			children[parent] = (children[parent] ?? 0) + 1
		}
		last.length = depth
		last.push(at)
		parents.push(parent)
	}
	for (const [at, { traceAddress, subtraces }] of sorted.entries()) {
		if (subtraces === null ? gaps[at] === 0 : subtraces === children[at]) continue
		const says = subtraces === null ? 'numbers that have a gap' : `${subtraces} by its own count`
		const where = traceAddress.join('_') || 'the root'
		throw malformed(reading, `${whose} has ${children[at]} frames under ${where}, and ${says}`)
	}
	return { frames: sorted.map((row) => row.frame), parents }
}

function inOrder<T extends Placed>(rows: readonly T[]): readonly T[] {
	const isSorted = rows.every((row, at) => at === 0 || byPath(rows[at - 1] ?? row, row) <= 0)
	return isSorted ? rows : rows.toSorted(byPath)
}

/** Whether each row comes after the one before it: then none comes twice. */
export function isAscending(rows: readonly Placed[]): boolean {
	return rows.every((row, at) => at === 0 || byPath(rows[at - 1] ?? row, row) < 0)
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

/** Whether the path is one step below that of the row, which is one step shorter. From behind: there they differ. */
function isUnder(path: readonly number[], above: Placed | undefined): boolean {
	if (above === undefined) return false
	for (let depth = path.length - 2; depth >= 0; depth--) {
		if (above.traceAddress[depth] !== path[depth]) return false
	}
	return true
}

function isSame(path: readonly number[], other: Placed | undefined): boolean {
	if (other === undefined || other.traceAddress.length !== path.length) return false
	return path.every((step, depth) => other.traceAddress[depth] === step)
}
