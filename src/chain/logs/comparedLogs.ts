/** What one reading of logs has and another has not; in slices, for a stranger fills a block with thousands of them. */

import type { TimeSlices } from '../../base/timeSlices.js'
import type { BlockRef } from '../../model/chain.js'
import type { TokenEvent } from '../../model/token.js'
import type { Log } from './wireLogs.js'

/** Numbers of the blocks in which one endpoint has logs that the other has not, or has otherwise. */
export async function blocksThatDiffer(
	one: readonly Log[],
	other: readonly Log[],
	slices: TimeSlices,
): Promise<ReadonlySet<bigint>> {
	const keyOf = ({ block, txHash, index, address, topics: words, data }: Log) =>
		[block.hash, txHash, index, address, ...words, data].join(':')
	const extra = [...(await onlyIn(one, other, keyOf, slices)), ...(await onlyIn(other, one, keyOf, slices))]
	return new Set(extra.map(({ block }) => block.number))
}

/** Events that the second does not have. */
export function eventsOnlyIn(
	one: readonly TokenEvent[],
	other: readonly TokenEvent[],
	slices: TimeSlices,
): Promise<readonly TokenEvent[]> {
	return onlyIn(one, other, ({ txHash, trace }) => `${txHash}:${trace}`, slices)
}

async function onlyIn<T>(
	one: readonly T[],
	other: readonly T[],
	keyOf: (item: T) => string,
	slices: TimeSlices,
): Promise<readonly T[]> {
	if (one.length === 0) return []
	const known = new Set<string>()
	for (const item of other) {
		if (slices.isOver()) await slices.next()
		known.add(keyOf(item))
	}
	const extra: T[] = []
	for (const item of one) {
		if (slices.isOver()) await slices.next()
		if (!known.has(keyOf(item))) extra.push(item)
	}
	return extra
}

/** Both as one, in the order of the chain, which each is in. */
export async function merged<T extends { readonly block: BlockRef; readonly txIndex: number | null }>(
	one: readonly T[],
	other: readonly T[],
	slices: TimeSlices,
): Promise<readonly T[]> {
	const all: T[] = []
	let next = 0
	for (const item of one) {
		if (slices.isOver()) await slices.next()
		for (let before = other[next]; before !== undefined && byPlace(before, item) < 0; before = other[++next]) {
			all.push(before)
		}
		all.push(item)
	}
	for (; next < other.length; next++) all.push(other[next] as T)
	return all
}

export function byPlace(
	one: { readonly block: BlockRef; readonly txIndex: number | null },
	other: { readonly block: BlockRef; readonly txIndex: number | null },
): number {
	if (one.block.number !== other.block.number) return one.block.number < other.block.number ? -1 : 1
	return (one.txIndex ?? 0) - (other.txIndex ?? 0)
}
