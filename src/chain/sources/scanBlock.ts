import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { AddressSet } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import type { Hit } from '../blocks/receipts.js'
import { addressTestOf } from '../traces/addressBitmap.js'
import { groupRows, keptOf, rewardsOf, treeOf } from '../traces/assemble.js'
import type { EnteredNotes } from '../traces/entered.js'
import { createGlance, isAddressLike } from '../traces/glance.js'
import { type FormedRow, type Row, readRow } from '../traces/parityRows.js'
import { framed, listed, type ReadRows, readInTurns } from '../traces/readRows.js'
import { isAscending } from '../traces/rowTree.js'
import { type Rows, rowsIn } from '../traces/traceRows.js'
import { framesOf, type PlacelessFrame } from '../traces/tree.js'
import { type Header, hash, malformed, quantity, type Reading, unsettled } from '../wire/wire.js'

export interface ScannedBlock {
	/** Transactions in which something may have happened to the addresses, and the rewards, if one is for them. */
	readonly hits: readonly Hit[]
	/** Transactions of the header that have no root row. */
	readonly missing: readonly Hash[]
	/** Number of rows in the answer. */
	readonly rows: number
}

interface Wanted {
	readonly addresses: AddressSet
	/** See `SourceOptions`. */
	readonly withSent?: boolean | undefined
	readonly entered?: EnteredNotes | undefined
}

/**
 * Looks at every row of a block, and decodes the transactions that touch the addresses. Nearly all rows touch other
 * addresses, so the first look allocates nothing: it costs a fraction of parsing the JSON. In a whole tree each row but
 * the root is the child of one row, and the rows of a transaction are consecutive; where they are not, the tree is
 * decoded too and checked in full. Each row is released once it is read; the answer cannot be read again.
 */
export async function scanBlock(
	raw: unknown,
	block: Header,
	{ addresses, withSent = false, entered }: Wanted,
	reading: Reading,
): Promise<ScannedBlock> {
	// A node may have no traces yet of a block that it has just received.
	if (raw === null) throw unsettled(reading, `block ${block.number} has no traces yet`)
	const rows = rowsIn(raw)
	if (rows === null) throw malformed(reading, 'the result is not a list')
	const number = Number(block.number)
	const isAsked = await addressTestOf(addresses)
	const roots = new Set<Hash>()
	const touched = new Set<Hash | null>()
	const owners: (Hash | null)[] = []
	let lastText: unknown = null
	let lastHash: Hash | null = null
	const run: Run = { rows: 0, children: 0, roots: 0 }
	const glanceAt = createGlance(rows, isAsked, reading)
	for (let index = 0; index < rows.length; index++) {
		if (isSliceOver()) await nextSlice()
		const { row, isRoot, subtraces, mayTouch } = glanceAt(index)
		if (row.blockNumber !== number || row.blockHash !== block.hash) checkPlace(row, index, block, reading)
		if (row.type === 'reward') {
			owners.push(null)
			// A reward without an author is decoded, and then refused as malformed.
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
			// A transaction that comes back after others is not whole: two roots make `isWhole` false.
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
			touched.size === 0 ? [] : await hitsOf(rows, { owners, touched, block, addresses, withSent, entered }, reading),
		missing: block.txHashes.filter((txHash) => !roots.has(txHash)),
		rows: rows.length,
	}
}

/** Consecutive rows of one transaction. */
interface Run {
	rows: number
	/** Children of all its rows by the rows' own counts; NaN where one row has no count. */
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
	readonly entered: EnteredNotes | undefined
}

async function hitsOf(
	rows: Rows,
	{ owners, touched, block, addresses, withSent, entered }: Touched,
	reading: Reading,
): Promise<readonly Hit[]> {
	/** The rows of each transaction, ordered by its first row. */
	const placesOf = new Map<Hash | null, number[]>()
	for (const [index, owner] of owners.entries()) {
		if (isSliceOver()) await nextSlice()
		const own = placesOf.get(owner)
		if (own !== undefined) own.push(index)
		else if (touched.has(owner)) placesOf.set(owner, [index])
		else rows.letGo(index)
	}
	const hits: Hit[] = []
	for (const [txHash, places] of placesOf) {
		const own = await readOnce(await readInTurns(rows, readRow, reading, places))
		if (txHash === null) {
			const rewards = rewardsOf(await listed(own), block, addresses)
			if (rewards !== null) hits.push({ txHash, txIndex: null, block, frames: rewards.frames })
			continue
		}
		const tree = await treeOf(own, { txHash, blockHash: block.hash }, reading)
		const onFrame = (frame: PlacelessFrame) => entered?.note(frame, block, txHash)
		const frames = await framesOf(tree, keptOf(addresses, withSent, onFrame))
		if (frames.length > 0) hits.push({ txHash, txIndex: own.at(0)?.txIndex ?? null, block, frames })
	}
	return hits
}

/** The rows of one transaction, or the rewards of the block, without repetitions. */
async function readOnce(rows: ReadRows<Row>): Promise<ReadRows<Row>> {
	if (await isAscending(rows)) return rows
	const [group] = await groupRows(await listed(rows))
	return framed(group?.rows ?? [])
}

function checkPlace({ blockNumber, blockHash }: FormedRow, index: number, block: Header, reading: Reading): void {
	if (quantity(blockNumber) !== block.number) {
		throw malformed(reading, `row ${index} is of another block than ${block.number}, which was asked for`)
	}
	if (hash(blockHash) === block.hash) return
	throw unsettled(reading, `row ${index} of block ${block.number} carries another hash than its header`)
}
