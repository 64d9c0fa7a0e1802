import { effective } from '../../core/effective.js'
import type { AddressSet, Block, Frame, Hash, TxTrace } from '../../model.js'
import type { Row } from '../traces.js'
import { type Reading, unsettled } from '../wire.js'

/** Rows of one transaction; `txHash` is null for the rewards of a block. */
export interface RowGroup {
	readonly txHash: Hash | null
	readonly blockNumber: bigint
	readonly blockHash: Hash
	readonly rows: readonly Row[]
}

export function touches(frame: Frame, addresses: AddressSet): boolean {
	return (frame.from !== null && addresses.has(frame.from)) || (frame.to !== null && addresses.has(frame.to))
}

/** Whether a frame would be an event if all above it went well: what cannot be one needs no further questions. */
export function mayMatter(row: Row): boolean {
	const { txHash, txIndex, blockNumber, blockHash, frame } = row
	const block = { number: blockNumber, hash: blockHash }
	return effective({ txHash, txIndex, block, succeeded: null, frames: [frame] }).length > 0
}

/** Groups rows by transaction and drops repetitions, which proxies and two lists in two calls make. */
export function groupRows(rows: readonly Row[]): ReadonlyMap<string, RowGroup> {
	const groups = new Map<string, RowGroup & { readonly rows: Row[] }>()
	const seen = new Set<string>()
	for (const row of rows) {
		const { blockNumber, blockHash, txHash, frame } = row
		const groupKey = `${blockHash}:${txHash ?? ''}`
		if (txHash !== null) {
			const rowKey = `${groupKey}:${frame.traceAddress.join('_')}:${frame.type}`
			if (seen.has(rowKey)) continue
			seen.add(rowKey)
		}
		const group = groups.get(groupKey)
		if (group === undefined) groups.set(groupKey, { txHash, blockNumber, blockHash, rows: [row] })
		else group.rows.push(row)
	}
	return groups
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
		for (let depth = frame.traceAddress.length - 1; depth > 0; depth--) {
			if (paths.has(frame.traceAddress.slice(0, depth).join('_'))) continue
			throw unsettled(reading, `${txHash} lacks a frame above ${frame.traceAddress.join('_')}`)
		}
	}
}

/** Throws `unsettled` when rows stand in another block than the one the header names. */
export function checkBlock(group: Pick<RowGroup, 'blockHash' | 'blockNumber'>, block: Block, reading: Reading): void {
	if (group.blockNumber === block.number && group.blockHash === block.hash) return
	throw unsettled(reading, `frames of block ${group.blockNumber} carry another hash than its header`)
}

/** Puts frames into the order of their trace: depth first, parents before children. */
export function traceOf(group: Pick<RowGroup, 'txHash' | 'rows'>, block: Block, succeeded: boolean | null): TxTrace {
	const { txHash, rows } = group
	const frames = rows.map((row) => row.frame)
	const place = txHash === null ? -1 : block.txHashes.indexOf(txHash)
	return {
		txHash,
		// A node's own count is asked only where the header does not list the transaction (Polygon's state sync).
		txIndex: place >= 0 ? place : (rows[0]?.txIndex ?? null),
		block: { number: block.number, hash: block.hash },
		succeeded,
		frames: frames.sort(txHash === null ? byReward : byPath),
	}
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

/** The miner's reward first, then uncles, then others: one order for all nodes, since alert ids count on it. */
function byReward(a: Frame, b: Frame): number {
	return rewardKey(a) < rewardKey(b) ? -1 : rewardKey(a) > rewardKey(b) ? 1 : 0
}

function rewardKey({ rewardType, to, valueWei }: Frame): string {
	const rank = rewardType === 'block' ? 0 : rewardType === 'uncle' ? 1 : 2
	return `${rank}:${rewardType}:${to}:${valueWei.toString(16).padStart(64, '0')}`
}
