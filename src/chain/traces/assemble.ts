import { effective } from '../../core/effective.js'
import type { AddressSet, Frame, TxTrace } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { type Header, type Reading, unsettled } from '../wire.js'
import { renumber } from './numbering.js'
import type { Row } from './parityRows.js'

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

/** Whether a frame would be an event if all above it went well: what cannot be one needs no further questions. */
export function mayMatter(row: Row): boolean {
	const { txHash, txIndex, blockNumber, blockHash, frame } = row
	const block = { number: blockNumber, hash: blockHash }
	return effective({ txHash, txIndex, block, succeeded: null, frames: [frame] }).length > 0
}

/** Groups rows by transaction and drops repetitions, which proxies and two lists in two calls make. */
export function groupRows(rows: readonly Row[]): readonly RowGroup[] {
	const groups = new Map<string, RowGroup & { readonly rows: Row[] }>()
	const seen = new Set<string>()
	for (const row of rows) {
		const { blockNumber, blockHash, txHash } = row
		const groupKey = `${blockHash}:${txHash ?? ''}`
		const key = rowKey(row)
		if (key !== null) {
			if (seen.has(key)) continue
			seen.add(key)
		}
		const group = groups.get(groupKey)
		if (group === undefined) groups.set(groupKey, { txHash, blockNumber, blockHash, rows: [row] })
		else group.rows.push(row)
	}
	return [...groups.values()]
}

/**
 * What makes a row the same row in two answers; null where nothing does: two uncles of one miner pay two rewards that
 * look alike, while a block has one reward only for each author.
 */
export function rowKey({ blockHash, txHash, frame }: Row): string | null {
	const { type, traceAddress, rewardType, to } = frame
	if (type !== 'reward') return `${blockHash}:${txHash}:${traceAddress.join('_')}:${type}`
	return rewardType === 'block' ? `${blockHash}:${rewardType}:${to}` : null
}

/** Throws `unsettled` unless the rows are one transaction's tree with its root and without a gap above any frame. */
export function checkTree(rows: readonly Row[], txHash: Hash, blockHash: Hash, reading: Reading): void {
	const paths = new Set<string>()
	for (const row of rows) {
		if (row.txHash !== txHash) throw unsettled(reading, `frames of another transaction came for ${txHash}`)
		if (row.blockHash !== blockHash) throw unsettled(reading, `${txHash} stands in another block than before`)
		paths.add(row.frame.traceAddress.join('_'))
	}
	if (!paths.has('')) throw unsettled(reading, `${txHash} has no root frame`)
	for (const { frame } of rows) {
		const parent = frame.traceAddress.slice(0, -1).join('_')
		if (!paths.has(parent)) {
			throw unsettled(reading, `${txHash} lacks the frame above ${frame.traceAddress.join('_')}`)
		}
	}
}

/** Throws `unsettled` when rows stand in another block than the one the header names. */
export function checkBlock(group: Pick<RowGroup, 'blockHash' | 'blockNumber'>, block: Header, reading: Reading): void {
	if (group.blockNumber === block.number && group.blockHash === block.hash) return
	throw unsettled(reading, `frames of block ${group.blockNumber} carry another hash than its header`)
}

/** Frames in the order of their trace: depth first, parents before children; rewards in one order for all nodes. */
export function traceOf(group: Pick<RowGroup, 'txHash' | 'rows'>, block: Header, succeeded: boolean | null): TxTrace {
	const { txHash, rows } = group
	const place = txHash === null ? -1 : block.txHashes.indexOf(txHash)
	const frames = rows.map((row) => row.frame)
	return {
		txHash,
		// A node's own count is asked only where the header does not list the transaction (Polygon's state sync).
		txIndex: place >= 0 ? place : (rows[0]?.txIndex ?? null),
		block: { number: block.number, hash: block.hash },
		succeeded,
		frames: txHash === null ? frames.sort(byReward) : renumber(frames.sort(byPath)),
	}
}

/**
 * Rewards of a block, without those that nobody pays: Erigon before 3 and BSC tell of 2 ETH a block although nobody
 * works for it (dialects: section 5). Null when none is left or none touches the addresses.
 */
export function rewardsOf(rows: readonly Row[], block: Header, addresses: AddressSet): TxTrace | null {
	const isMined = block.difficulty === null || block.difficulty > 2n
	const paid = rows.filter(({ frame }) => isMined || !['block', 'uncle'].includes(frame.rewardType ?? ''))
	if (!paid.some((row) => touches(row.frame, addresses) && mayMatter(row))) return null
	return traceOf({ txHash: null, rows: paid }, block, null)
}

/** By block, then by place in it; rewards last. */
export function byPlace(a: TxTrace, b: TxTrace): number {
	if (a.block.number !== b.block.number) return a.block.number < b.block.number ? -1 : 1
	if (a.txHash === null || b.txHash === null) return Number(a.txHash === null) - Number(b.txHash === null)
	return (a.txIndex ?? Number.MAX_SAFE_INTEGER) - (b.txIndex ?? Number.MAX_SAFE_INTEGER)
}

function byPath(a: Frame, b: Frame): number {
	const length = Math.min(a.traceAddress.length, b.traceAddress.length)
	for (let depth = 0; depth < length; depth++) {
		const difference = (a.traceAddress[depth] ?? 0) - (b.traceAddress[depth] ?? 0)
		if (difference !== 0) return difference
	}
	return a.traceAddress.length - b.traceAddress.length
}

/** The miner's reward first, then uncles, then others: alert ids count on the order. */
function byReward(a: Frame, b: Frame): number {
	return rewardKey(a) < rewardKey(b) ? -1 : rewardKey(a) > rewardKey(b) ? 1 : 0
}

function rewardKey({ rewardType, to, valueWei }: Frame): string {
	const rank = rewardType === 'block' ? 0 : rewardType === 'uncle' ? 1 : 2
	return `${rank}:${rewardType}:${to}:${valueWei.toString(16).padStart(64, '0')}`
}
