import type { TimeSlices } from '../../base/timeSlices.js'
import { mayCount } from '../../core/effective.js'
import type { AddressSet, Frame, TxTrace } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { type Header, malformed, type Reading, unsettled } from '../wire.js'
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

/** Whether a frame is an event for one of the addresses, if all above it went well. */
export function matters(frame: PlacelessFrame, addresses: AddressSet): boolean {
	return touches(frame, addresses) && mayCount(frame)
}

/**
 * Whether a frame belongs to the books of one of the addresses: also a self-destruct that moves nothing, for what it
 * burns.
 */
export function concerns(frame: PlacelessFrame, addresses: AddressSet): boolean {
	return touches(frame, addresses) && (mayCount(frame) || frame.type === 'suicide')
}

/** What of a tree is kept: `concerns`, and with `withSent` also the root of what one of the addresses sent. */
export function keptOf(addresses: AddressSet, withSent = false): (frame: PlacelessFrame, isRoot: boolean) => boolean {
	return (frame, isRoot) => concerns(frame, addresses) || (withSent && isRoot && isSentBy(frame, addresses))
}

/** Of a root: whether one of the addresses sent the transaction, whatever became of it; it paid for the gas. */
export function isSentBy({ from, type }: Pick<Frame, 'from' | 'type'>, addresses: AddressSet): boolean {
	return type !== 'reward' && from !== null && addresses.has(from)
}

interface Growing {
	readonly group: RowGroup & { readonly rows: Row[] }
	/** Null as long as each row comes after the one before it, as mostly all do: then none comes twice. */
	seen: Set<string> | null
}

async function keysOf(rows: readonly Row[], slices: TimeSlices): Promise<Set<string>> {
	const keys = new Set<string>()
	for (const row of rows) {
		if (slices.isOver()) await slices.next()
		const key = placeKey(row)
		if (key !== null) keys.add(key)
	}
	return keys
}

/** Groups rows by transaction and drops repetitions, which proxies and two lists in two calls make. */
export async function groupRows(rows: readonly Row[], slices: TimeSlices): Promise<readonly RowGroup[]> {
	const groups = new Map<string, Growing>()
	let own: Growing | undefined
	for (const row of rows) {
		if (slices.isOver()) await slices.next()
		const { blockNumber, blockHash, txHash } = row
		// Those of one transaction mostly come one after the other, and long keys are most of what this costs.
		if (own === undefined || own.group.txHash !== txHash || own.group.blockHash !== blockHash) {
			const key = `${blockHash}:${txHash ?? ''}`
			own = groups.get(key) ?? { group: { txHash, blockNumber, blockHash, rows: [] }, seen: null }
			groups.set(key, own)
		}
		const { rows: before } = own.group
		const last = before.at(-1)
		const isNext = last === undefined || byPath(last, row) < 0
		if (!isNext && own.seen === null) own.seen = await keysOf(before, slices)
		if (own.seen !== null) {
			const key = placeKey(row)
			if (key !== null && own.seen.has(key)) continue
			if (key !== null) own.seen.add(key)
		}
		before.push(row)
	}
	return Array.from(groups.values(), ({ group }) => group)
}

/**
 * What makes a row the same row in two answers; null where nothing does: two uncles of one miner pay two rewards that
 * look alike, while a block has one reward only for each author.
 */
export function rowKey(row: Row): string | null {
	const place = placeKey(row)
	return place === null ? null : `${row.blockHash}:${row.txHash}:${place}`
}

/** The same among rows of one transaction, or of the rewards of one block. */
export function placeKey({ frame: { type, rewardType, to }, traceAddress }: Row): string | null {
	if (type !== 'reward') return `${traceAddress.join('_')}:${type}`
	return rewardType === 'block' ? `${rewardType}:${to}` : null
}

/** The rows of one transaction as its tree. Throws `malformed` when it is not whole, `unsettled` when it has moved. */
export async function treeOf(
	rows: ReadRows<Row>,
	{ txHash, blockHash }: { readonly txHash: Hash; readonly blockHash: Hash },
	slices: TimeSlices,
	reading: Reading,
): Promise<Tree> {
	if (rows.length === 0) throw unsettled(reading, `${txHash} has no frames yet`)
	for (let index = 0; index < rows.length; index++) {
		if (slices.isOver()) await slices.next()
		const row = rows.at(index) as Row
		if (row.txHash !== txHash) throw malformed(reading, `frames of another transaction came for ${txHash}`)
		if (row.blockHash !== blockHash) throw unsettled(reading, `${txHash} stands in another block than before`)
	}
	return treeOfRows(rows, txHash, slices, reading)
}

/** Throws `unsettled` when rows stand in another block than the one the header names. */
export function checkBlock(group: Pick<RowGroup, 'blockHash' | 'blockNumber'>, block: Header, reading: Reading): void {
	if (group.blockNumber === block.number && group.blockHash === block.hash) return
	throw unsettled(reading, `frames of block ${group.blockNumber} carry another hash than its header`)
}

/** A block may be full of transactions that were hit: to look through its list for each would be their square. */
const places = new WeakMap<Header, ReadonlyMap<Hash, number>>()

function placesIn(block: Header): ReadonlyMap<Hash, number> {
	const known = places.get(block)
	if (known !== undefined) return known
	const own = new Map<Hash, number>()
	for (const [at, txHash] of block.txHashes.entries()) if (!own.has(txHash)) own.set(txHash, at)
	places.set(block, own)
	return own
}

/** One transaction with the frames that are of interest, in their order. */
export function traceOf(
	{ txHash, txIndex, frames }: Pick<TxTrace, 'txHash' | 'txIndex' | 'frames'>,
	block: Header,
	succeeded: boolean | null,
): TxTrace {
	const place = txHash === null ? -1 : (placesIn(block).get(txHash) ?? -1)
	return {
		txHash,
		// A node's own count is asked only where the header does not list the transaction (Polygon's state sync).
		txIndex: place >= 0 ? place : txIndex,
		block: { number: block.number, hash: block.hash },
		succeeded,
		frames,
	}
}

/**
 * Rewards of a block, without those that nobody pays: Erigon before 3 and BSC tell of 2 ETH a block although nobody
 * works for it (docs/nodes.md, "Nodes"). Null when none is left or none touches the addresses.
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

/** The miner's reward first, then uncles, then others: alert ids count on the order. */
function byReward(a: Frame, b: Frame): number {
	return rewardKey(a) < rewardKey(b) ? -1 : rewardKey(a) > rewardKey(b) ? 1 : 0
}

function rewardKey({ rewardType, to, valueWei }: Frame): string {
	const rank = rewardType === 'block' ? 0 : rewardType === 'uncle' ? 1 : 2
	return `${rank}:${rewardType}:${to}:${valueWei.toString(16).padStart(64, '0')}`
}
