import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { isCalled, isLent } from '../../core/events/calls.js'
import { isBlankEnd, mayCount } from '../../core/events/effective.js'
import type { AddressSet, Frame, TxTrace } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { type Header, malformed, type Reading, unsettled } from '../wire/wire.js'
import { frameOf, type Row } from './parityRows.js'
import type { ReadRows } from './readRows.js'
import { byPath, treeOfRows } from './rowTree.js'
import type { PlacelessFrame, Tree } from './tree.js'

/** Rows of one transaction; `txHash` is null for the rewards of a block. */
export interface RowGroup {
	readonly txHash: Hash | null
	readonly blockNumber: bigint
	readonly blockHash: Hash
	readonly rows: readonly Row[]
}

export function touches({ from, to }: Pick<Frame, 'from' | 'to'>, addresses: AddressSet): boolean {
	return (from !== null && addresses.has(from)) || (to !== null && addresses.has(to))
}

/** Whether a frame is an event for one of the addresses, provided that no frame above it failed. */
export function matters(frame: PlacelessFrame, addresses: AddressSet): boolean {
	return (
		(touches(frame, addresses) && mayCount(frame)) || isCalled(frame, addresses.calls) || isLent(frame, addresses.lent)
	)
}

/** Whether the transaction of a filter's row is read. */
export function isAskedFor(frame: PlacelessFrame, addresses: AddressSet): boolean {
	return matters(frame, addresses) || isBlankEnd(frame)
}

/**
 * Whether a frame belongs into the book of one of the addresses, or is one of their calls. This includes a
 * self-destruct that moves nothing, because it may burn coins, and any without an heir, because it may have paid one.
 */
function concerns(frame: PlacelessFrame, addresses: AddressSet): boolean {
	return matters(frame, addresses) || (frame.type === 'suicide' && (touches(frame, addresses) || isBlankEnd(frame)))
}

/**
 * Decides which frames of a tree to keep: those that `concerns` accepts, and a failed root that would matter otherwise,
 * because the receipt must confirm the failure. `onFrame` gets every frame of the tree.
 */
export function keptOf(
	addresses: AddressSet,
	onFrame?: (frame: PlacelessFrame) => void,
): (frame: PlacelessFrame, isRoot: boolean) => boolean {
	return (frame, isRoot) => {
		onFrame?.(frame)
		return concerns(frame, addresses) || (isRoot && isFailure(frame, addresses))
	}
}

function isFailure(root: PlacelessFrame, addresses: AddressSet): boolean {
	return root.error !== null && touches(root, addresses) && (root.valueWei > 0n || root.type !== 'call')
}

interface Growing {
	readonly group: RowGroup & { readonly rows: Row[] }
	/** Null while each row comes after the one before it, as they mostly do: then there are no repetitions. */
	seen: Set<string> | null
}

async function keysOf(rows: readonly Row[]): Promise<Set<string>> {
	const keys = new Set<string>()
	for (const row of rows) {
		if (isSliceOver()) await nextSlice()
		const key = placeKey(row)
		if (key !== null) keys.add(key)
	}
	return keys
}

/** Groups rows by transaction and drops repetitions, which come from proxies and from two lists in two calls. */
export async function groupRows(rows: readonly Row[]): Promise<readonly RowGroup[]> {
	const groups = new Map<string, Growing>()
	let own: Growing | undefined
	for (const row of rows) {
		if (isSliceOver()) await nextSlice()
		const { blockNumber, blockHash, txHash } = row
		// Rows of one transaction are mostly consecutive, and making the long keys is most of the cost here.
		if (own === undefined || own.group.txHash !== txHash || own.group.blockHash !== blockHash) {
			const key = `${blockHash}:${txHash ?? ''}`
			own = groups.get(key) ?? { group: { txHash, blockNumber, blockHash, rows: [] }, seen: null }
			groups.set(key, own)
		}
		const { rows: before } = own.group
		const last = before.at(-1)
		const isNext = last === undefined || byPath(last, row) < 0
		if (!isNext && own.seen === null) own.seen = await keysOf(before)
		if (own.seen !== null) {
			const key = placeKey(row)
			if (key !== null && own.seen.has(key)) continue
			if (key !== null) own.seen.add(key)
		}
		before.push(row)
	}
	return Array.from(groups.values(), ({ group }) => group)
}

/** Identifies a row in two answers. Null where nothing can: two uncles of one miner may pay equal rewards. */
export function rowKey(row: Row): string | null {
	const place = placeKey(row)
	return place === null ? null : `${row.blockHash}:${row.txHash}:${place}`
}

/** The same key among rows of one transaction, or among the rewards of one block. */
export function placeKey({ frame: { type, rewardType, to }, traceAddress }: Row): string | null {
	if (type !== 'reward') return `${traceAddress.join('_')}:${type}`
	return rewardType === 'block' ? `${rewardType}:${to}` : null
}

/** The rows of one transaction as its tree. Throws `malformed`: a row is missing; `unsettled`: the block changed. */
export async function treeOf(
	rows: ReadRows<Row>,
	{ txHash, blockHash }: { readonly txHash: Hash; readonly blockHash: Hash },
	reading: Reading,
): Promise<Tree> {
	if (rows.length === 0) throw unsettled(reading, `${txHash} has no frames yet`)
	for (let index = 0; index < rows.length; index++) {
		if (isSliceOver()) await nextSlice()
		const row = rows.at(index) as Row
		if (row.txHash !== txHash) throw malformed(reading, `frames of another transaction came for ${txHash}`)
		if (row.blockHash !== blockHash) throw unsettled(reading, `${txHash} stands in another block than before`)
	}
	return treeOfRows(rows, txHash, reading)
}

/** Throws `unsettled` if rows are of another block than the header. */
export function checkBlock(group: Pick<RowGroup, 'blockHash' | 'blockNumber'>, block: Header, reading: Reading): void {
	if (group.blockNumber === block.number && group.blockHash === block.hash) return
	throw unsettled(reading, `frames of block ${group.blockNumber} carry another hash than its header`)
}

/** Places of a block's transactions by hash: searching the list for each hit would be quadratic. */
const places = new WeakMap<Header, ReadonlyMap<Hash, number>>()

function placesIn(block: Header): ReadonlyMap<Hash, number> {
	const known = places.get(block)
	if (known !== undefined) return known
	const own = new Map<Hash, number>()
	for (const [at, txHash] of block.txHashes.entries()) if (!own.has(txHash)) own.set(txHash, at)
	places.set(block, own)
	return own
}

/** One transaction with the kept frames, in their order. */
export function traceOf(
	{ txHash, txIndex, frames }: Pick<TxTrace, 'txHash' | 'txIndex' | 'frames'>,
	block: Header,
	succeeded: boolean | null,
): TxTrace {
	const place = txHash === null ? -1 : (placesIn(block).get(txHash) ?? -1)
	return {
		txHash,
		// The node's own index is used only where the header does not list the transaction (Polygon's state sync).
		txIndex: place >= 0 ? place : txIndex,
		block: { number: block.number, hash: block.hash },
		succeeded,
		frames,
	}
}

/**
 * Rewards of a block, without those that are never paid: Erigon before 3 and BSC report 2 ETH per block although it was
 * not mined (docs/nodes.md, "Nodes"). Null if none is left or none touches the addresses.
 */
export function rewardsOf(rows: readonly Row[], block: Header, addresses: AddressSet): TxTrace | null {
	const isMined = block.difficulty === null || block.difficulty > 2n
	const paid = rows.filter(({ frame }) => isMined || !['block', 'uncle'].includes(frame.rewardType ?? ''))
	if (!paid.some((row) => matters(row.frame, addresses))) return null
	const frames = paid.map(frameOf).sort(byReward)
	return traceOf({ txHash: null, txIndex: null, frames }, block, null)
}

/** By block, then by place in it; rewards last. */
export function byPlace(a: TxTrace, b: TxTrace): number {
	if (a.block.number !== b.block.number) return a.block.number < b.block.number ? -1 : 1
	if (a.txHash === null || b.txHash === null) return Number(a.txHash === null) - Number(b.txHash === null)
	return (a.txIndex ?? Number.MAX_SAFE_INTEGER) - (b.txIndex ?? Number.MAX_SAFE_INTEGER)
}

/** The miner's reward first, then uncles, then others: alert ids depend on the order. */
function byReward(a: Frame, b: Frame): number {
	return rewardKey(a) < rewardKey(b) ? -1 : rewardKey(a) > rewardKey(b) ? 1 : 0
}

function rewardKey({ rewardType, to, valueWei }: Frame): string {
	const rank = rewardType === 'block' ? 0 : rewardType === 'uncle' ? 1 : 2
	return `${rank}:${rewardType}:${to}:${valueWei.toString(16).padStart(64, '0')}`
}
