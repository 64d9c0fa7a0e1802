import { createTimeSlices, type TimeSlices } from '../../base/timeSlices.js'
import type { AddressSet } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { addressTestOf } from '../traces/addressBitmap.js'
import { groupRows, keptOf, rewardsOf, treeOf } from '../traces/assemble.js'
import { createGlance, isAddressLike } from '../traces/glance.js'
import { type FormedRow, type Row, readRow } from '../traces/parityRows.js'
import { framed, listed, type ReadRows, readInTurns } from '../traces/readRows.js'
import { type Rows, rowsIn } from '../traces/rows.js'
import { isAscending } from '../traces/rowTree.js'
import { framesOf } from '../traces/tree.js'
import { type Header, hash, malformed, quantity, type Reading, unsettled } from '../wire.js'
import type { Hit } from './receipts.js'

export interface ScannedBlock {
	/** Transactions in which something may have happened to the addresses, and the rewards, if one is for them. */
	readonly hits: readonly Hit[]
	/** Transactions of the header that have no root row. */
	readonly missing: readonly Hash[]
	/** How many rows were looked at. */
	readonly rows: number
}

/**
 * Looks at every row of a block, and decodes those of the transactions that touch the addresses. Everything that goes
 * by is a row of others, so the first look makes nothing: it costs a fraction of what parsing the JSON did. In a whole
 * tree each row but the root is the child of one, and the rows of a transaction come one after the other; where it is
 * not so the tree is decoded too, and checked in full. The answer is let go of row by row: it cannot be read again.
 */
export async function scanBlock(
	raw: unknown,
	block: Header,
	addresses: AddressSet,
	reading: Reading,
	withSent = false,
): Promise<ScannedBlock> {
	// Of a block that it has just got a node may have no traces yet.
	if (raw === null) throw unsettled(reading, `block ${block.number} has no traces yet`)
	const rows = rowsIn(raw)
	if (rows === null) throw malformed(reading, 'the result is not a list')
	const slices = createTimeSlices(reading.onWork)
	const number = Number(block.number)
	const isAsked = await addressTestOf(addresses, slices)
	const roots = new Set<Hash>()
	const touched = new Set<Hash | null>()
	const owners: (Hash | null)[] = []
	let lastText: unknown = null
	let lastHash: Hash | null = null
	const run: Run = { rows: 0, children: 0, roots: 0 }
	const glanceAt = createGlance(rows, isAsked, reading)
	for (let index = 0; index < rows.length; index++) {
		if (slices.isOver()) await slices.next()
		const { row, isRoot, subtraces, mayTouch } = glanceAt(index)
		if (row.blockNumber !== number || row.blockHash !== block.hash) checkPlace(row, index, block, reading)
		if (row.type === 'reward') {
			owners.push(null)
			// One that names nobody is decoded, and found to be malformed.
			if (!isAddressLike(row.action.author) || isAsked(row.action.author)) touched.add(null)
			continue
		}
		if (row.transactionHash !== lastText || lastHash === null) {
			if (!isWhole(run)) touched.add(lastHash)
			lastText = row.transactionHash
			lastHash = hash(lastText)
			if (lastHash === null) throw malformed(reading, `row ${index} lacks its transaction`)
			run.rows = 0
			run.children = 0
			// One that comes back after others is in pieces.
			run.roots = roots.has(lastHash) ? 2 : 0
		}
		owners.push(lastHash)
		run.rows++
		run.children += subtraces ?? Number.NaN
		if (isRoot) {
			roots.add(lastHash)
			run.roots++
		}
		if (mayTouch) touched.add(lastHash)
	}
	if (!isWhole(run)) touched.add(lastHash)
	return {
		hits:
			touched.size === 0 ? [] : await hitsOf(rows, { owners, touched, block, addresses, withSent }, slices, reading),
		missing: block.txHashes.filter((txHash) => !roots.has(txHash)),
		rows: rows.length,
	}
}

/** Rows of one transaction that came one after the other. */
interface Run {
	rows: number
	/** Children of all its rows, as the rows count them; NaN where one does not. */
	children: number
	roots: number
}

function isWhole({ rows, children, roots }: Run): boolean {
	return rows === 0 || (roots === 1 && children === rows - 1)
}

interface Touched {
	/** Transaction of each row; null for a reward. */
	readonly owners: readonly (Hash | null)[]
	readonly touched: ReadonlySet<Hash | null>
	readonly block: Header
	readonly addresses: AddressSet
	readonly withSent: boolean
}

async function hitsOf(
	rows: Rows,
	{ owners, touched, block, addresses, withSent }: Touched,
	slices: TimeSlices,
	reading: Reading,
): Promise<readonly Hit[]> {
	/** Of each transaction, in the order of the first rows of all. */
	const placesOf = new Map<Hash | null, number[]>()
	for (const [index, owner] of owners.entries()) {
		if (slices.isOver()) await slices.next()
		const own = placesOf.get(owner)
		if (own !== undefined) own.push(index)
		else if (touched.has(owner)) placesOf.set(owner, [index])
		else rows.letGo(index)
	}
	const hits: Hit[] = []
	for (const [txHash, places] of placesOf) {
		const own = await readOnce(await readInTurns(rows, readRow, { places, slices, reading }), slices)
		if (txHash === null) {
			const rewards = rewardsOf(await listed(own, slices), block, addresses)
			if (rewards !== null) hits.push({ txHash, txIndex: null, block, frames: rewards.frames })
			continue
		}
		const tree = await treeOf(own, { txHash, blockHash: block.hash }, slices, reading)
		const frames = await framesOf(tree, slices, keptOf(addresses, withSent))
		if (frames.length > 0) hits.push({ txHash, txIndex: own.at(0)?.txIndex ?? null, block, frames })
	}
	return hits
}

/** The rows of one transaction, or the rewards of the block, without repetitions. */
async function readOnce(rows: ReadRows<Row>, slices: TimeSlices): Promise<ReadRows<Row>> {
	if (await isAscending(rows, slices)) return rows
	const [group] = await groupRows(await listed(rows, slices), slices)
	return framed(group?.rows ?? [])
}

function checkPlace({ blockNumber, blockHash }: FormedRow, index: number, block: Header, reading: Reading): void {
	if (quantity(blockNumber) !== block.number) {
		throw malformed(reading, `row ${index} is of another block than ${block.number}, which was asked for`)
	}
	if (hash(blockHash) === block.hash) return
	throw unsettled(reading, `row ${index} of block ${block.number} carries another hash than its header`)
}
