import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { RpcError } from '../../errors.js'
import type { AddressSet } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import type { Hit } from '../blocks/receipts.js'
import { misread } from '../rpc/border.js'
import { addressTestOf } from '../traces/addressBitmap.js'
import { groupRows, keptOf, rewardsOf, treeOf } from '../traces/assemble.js'
import type { EnteredNotes } from '../traces/entered.js'
import { createGlance, isAddressLike } from '../traces/glance.js'
import { type FormedRow, type Row, readRow } from '../traces/parityRows.js'
import { framed, listed, type ReadRows, readInTurns } from '../traces/readRows.js'
import { isAscending } from '../traces/rowTree.js'
import { type Rows, rowsIn } from '../traces/traceRows.js'
import { framesOf, type PlacelessFrame } from '../traces/tree.js'
import { type Header, hash, isObject, malformed, quantity, type Reading, unsettled } from '../wire/wire.js'
import type { Uncovered } from './askAlone.js'

export interface ScannedBlock {
	/** Transactions in which something may have happened to the addresses, and the rewards, if one is for them. */
	readonly hits: readonly Hit[]
	/** Transactions of the header that have no root row, or whose rows cannot be believed. */
	readonly missing: Uncovered['missing']
	/** The answer has rows of transactions that the header does not name. They are ignored. */
	readonly hasForeign: boolean
	readonly rows: number
}

export interface Asked {
	readonly addresses: AddressSet
	readonly entered?: EnteredNotes | undefined
}

/**
 * Looks at every row of a block, and decodes the transactions that touch the addresses. Nearly all rows touch other
 * addresses, so the first look allocates nothing: it costs a fraction of parsing the JSON. In a whole tree each row but
 * the root is the child of one row, and the rows of a transaction are consecutive; where they are not, the tree is
 * decoded too and checked in full. A malformed row costs its transaction, not the block. Each row is released once it
 * is read; the answer cannot be read again.
 */
export async function scanBlock(
	raw: unknown,
	block: Header,
	{ addresses, entered }: Asked,
	reading: Reading,
): Promise<ScannedBlock> {
	// A node may have no traces yet of a block that it has just received.
	if (raw === null) throw unsettled(reading, `block ${block.number} has no traces yet`)
	const rows = rowsIn(raw)
	if (rows === null) throw malformed(reading, 'the result is not a list')
	const number = Number(block.number)
	const isAsked = await addressTestOf(addresses)
	const named = new Set(block.txHashes)
	const foreign = new Set<Hash>()
	const refusals: Refusals = new Map()
	const roots = new Set<Hash>()
	const touched = new Set<Hash | null>()
	const owners: Touched['owners'][number][] = []
	let lastText: unknown = null
	let lastHash: Hash | null = null
	const run: Run = { rows: 0, children: 0, roots: 0 }
	const glanceAt = createGlance(rows, isAsked, reading)
	/** Null: the row cannot be believed, and its transaction is to be asked for alone. */
	const glanceOr = (index: number, into: Refusals) => {
		try {
			return glanceAt(index)
		} catch (thrown) {
			const row = rows.at(index)
			const owner = isObject(row) && row.type !== 'reward' ? hash(row.transactionHash) : null
			if (owner === null || !named.has(owner)) throw thrown
			into.set(owner, misread(thrown, reading))
			return null
		}
	}
	for (let index = 0; index < rows.length; index++) {
		if (isSliceOver()) await nextSlice()
		const glance = glanceOr(index, refusals)
		if (glance === null) {
			owners.push(skipped)
			continue
		}
		const { row, isRoot, subtraces, mayTouch } = glance
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
		if (!named.has(lastHash)) {
			foreign.add(lastHash)
			owners.push(skipped)
			continue
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
	if (foreign.size > 0) reading.onForeign?.(block.number, foreign.size)
	for (const txHash of [...foreign, ...refusals.keys()]) touched.delete(txHash)
	const asked = { owners, touched, block, addresses, entered, refusals }
	const hits = touched.size === 0 ? [] : await hitsOf(rows, asked, reading)
	const missing = block.txHashes.filter((txHash) => !roots.has(txHash) || refusals.has(txHash))
	return {
		hits,
		missing: new Map(missing.map((txHash) => [txHash, refusals.get(txHash) ?? null])),
		hasForeign: foreign.size > 0,
		rows: rows.length,
	}
}

/** Why the rows of a transaction cannot be believed. */
type Refusals = Map<Hash, RpcError>

/** The owner of a row that is not read. */
const skipped = 'skipped'

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
	readonly owners: readonly (Hash | null | typeof skipped)[]
	readonly touched: ReadonlySet<Hash | null>
	readonly block: Header
	readonly addresses: AddressSet
	readonly entered: EnteredNotes | undefined
	/** Those that are found are added. */
	readonly refusals: Refusals
}

async function hitsOf(
	rows: Rows,
	{ owners, touched, block, addresses, entered, refusals }: Touched,
	reading: Reading,
): Promise<readonly Hit[]> {
	/** The rows of each transaction, ordered by its first row. */
	const placesOf = new Map<Hash | null, number[]>()
	for (const [index, owner] of owners.entries()) {
		if (isSliceOver()) await nextSlice()
		const own = owner === skipped ? undefined : placesOf.get(owner)
		if (own !== undefined) own.push(index)
		else if (owner !== skipped && touched.has(owner)) placesOf.set(owner, [index])
		else rows.letGo(index)
	}
	const hits: Hit[] = []
	for (const [txHash, places] of placesOf) {
		if (txHash === null) {
			const own = await readOnce(await readInTurns(rows, readRow, reading, places))
			const rewards = rewardsOf(await listed(own), block, addresses)
			if (rewards !== null) hits.push({ txHash, txIndex: null, block, frames: rewards.frames })
			continue
		}
		try {
			const own = await readOnce(await readInTurns(rows, readRow, reading, places))
			const tree = await treeOf(own, { txHash, blockHash: block.hash }, reading)
			const onFrame = (frame: PlacelessFrame) => entered?.note(frame, block, txHash)
			const frames = await framesOf(tree, keptOf(addresses, onFrame))
			if (frames.length > 0) hits.push({ txHash, txIndex: own.at(0)?.txIndex ?? null, block, frames })
		} catch (thrown) {
			refusals.set(txHash, misread(thrown, reading))
		}
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
