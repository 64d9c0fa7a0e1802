import { createTimeSlices, type TimeSlices } from '../../base/timeSlices.js'
import { isCheaperWhole, type PriceOf } from '../../core/cost.js'
import { mayCount } from '../../core/effective.js'
import type { AddressSet, Part } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { byPlace, checkBlock, keptOf, matters, placeKey, type RowGroup, rowKey, treeOf } from '../traces/assemble.js'
import { frameOf, type Row, readRow } from '../traces/parityRows.js'
import { framed, listed, type ReadRows, readInTurns } from '../traces/readRows.js'
import { listOf } from '../traces/rows.js'
import { isAscending } from '../traces/rowTree.js'
import { framesOf } from '../traces/tree.js'
import { type Header, hexOf, malformed, type Reading, unsettled } from '../wire.js'
import { askAll, blockCall, needBlock } from './ask.js'
import type { Costs } from './costs.js'
import { completeByBlock } from './hitBlock.js'
import { planReceipts, readReceipts, readWholeBlocks, receiptCall, type Wanted } from './readReceipts.js'
import { type Hit, joined, wantedOf } from './receipts.js'
import { readRewards } from './rewards.js'

interface Incomplete {
	readonly rpc: Rpc
	/** What an address filter gave: rows without the frames above them. */
	readonly hits: readonly RowGroup[]
	readonly addresses: AddressSet
	readonly last: Header
	readonly costs: Costs
	readonly withSent?: boolean | undefined
}

export interface CompletedHits extends Pick<Part, 'transactions'> {
	/** Of the blocks that were hit, by number. */
	readonly blocks: ReadonlyMap<bigint, Header>
}

/**
 * Asks what rows alone do not say, each transaction once: headers, receipts where they are needed, and the whole tree
 * of a transaction that was hit below its root, since a frame under a failed one carries no error of its own
 * (docs/nodes.md, "How frames are written"). Where many trees of one block are needed the block is read whole.
 */
export async function completeHits(
	{ rpc, hits, addresses, last, costs, withSent }: Incomplete,
	signal: AbortSignal,
): Promise<CompletedHits> {
	const byBlock = blocksOf(hits)
	const numbers = [...byBlock.keys()]
	const price = costs.priceAt(rpc)
	const isWhole = costs.hasWholeBlocks(rpc) ? isReadWhole(costs.rowsPerBlock(), price) : () => false
	const whole = new Set(numbers.filter((number) => isWhole(byBlock.get(number) ?? [])))
	const singles = hits.filter(({ blockNumber }) => !whole.has(blockNumber))
	const calls = [...numbers.map(blockCall), ...[...whole].map(traceBlockCall), ...singles.flatMap(callFor)]
	// Of a frame below its root it may show later that its receipt is needed: where the root is seen to have failed.
	const early = hits.filter((hit) => hit.txHash !== null && costs.receipts.of(rpc, 'trace', rootOf(hit), addresses))
	const guesses = early.map((hit) => guessed(hit, costs))
	const plan = planReceipts(rpc, guesses, price)
	const [results, fromBlocks] = await Promise.all([
		askAll(rpc, [...calls, ...plan.single.map(receiptCall)], signal),
		readWholeBlocks(rpc, plan.whole, signal),
	])
	const receipts = new Map(fromBlocks)
	for (const [at, txHash] of plan.single.entries()) receipts.set(txHash, results[calls.length + at])
	const answers = results.values()
	const next = () => answers.next().value
	const blocks = new Map(numbers.map((number) => [number, needBlock(next(), number, rpc.endpoint)] as const))
	const reading: Reading = { endpoint: rpc.endpoint, method: 'trace_filter' }
	const now = blocks.get(last.number)
	if (now !== undefined && now.hash !== last.hash) throw unsettled(reading, `block ${last.number} was replaced`)
	for (const hit of hits) checkBlock(hit, needHeader(blocks, hit.blockNumber), reading)

	const found: Hit[] = []
	for (const number of whole) {
		const block = needHeader(blocks, number)
		const given = byBlock.get(number) ?? []
		found.push(...(await completeByBlock(rpc, next(), { block, given, addresses, withSent }, signal)))
	}
	const slices = createTimeSlices(rpc.progress.note)
	for (const hit of singles) {
		const block = needHeader(blocks, hit.blockNumber)
		const one = await completeOne(hit, block, { next, addresses, withSent, slices, endpoint: rpc.endpoint })
		if (one !== null) found.push(one)
	}
	const late = found.filter(
		({ txHash, frames: [root = null] }) =>
			txHash !== null && !receipts.has(txHash) && costs.receipts.of(rpc, 'trace', root, addresses),
	)
	const more = await readReceipts(rpc, planReceipts(rpc, late.map(wantedOf), price), signal)
	const all = new Map([...receipts, ...more])
	return { blocks, transactions: found.map((hit) => joined(rpc, hit, all, 'trace', costs)).sort(byPlace) }
}

function blocksOf(hits: readonly RowGroup[]): ReadonlyMap<bigint, readonly RowGroup[]> {
	const blocks = new Map<bigint, RowGroup[]>()
	for (const hit of hits) {
		const own = blocks.get(hit.blockNumber)
		if (own === undefined) blocks.set(hit.blockNumber, [hit])
		else own.push(hit)
	}
	return blocks
}

function isReadWhole(rowsPerBlock: number | null, price: PriceOf): (hits: readonly RowGroup[]) => boolean {
	return (hits) => {
		const trees = hits.filter((hit) => hit.txHash !== null && isDeep(hit)).length
		// Rewards stand in the whole block alone: then its trees cost nothing more.
		if (trees > 0 && hits.some(({ txHash }) => txHash === null)) return true
		return isCheaperWhole(trees, rowsPerBlock, price)
	}
}

/** Rows of a transaction, and blocks of which nothing is known. */
const rowsPerTransaction = 5
const transactionsPerBlock = 100

/** Before its header is there. */
function guessed({ txHash, blockNumber }: RowGroup, costs: Costs): Wanted {
	const rows = costs.rowsPerBlock()
	return { txHash, blockNumber, ofTransactions: rows === null ? transactionsPerBlock : rows / rowsPerTransaction }
}

function traceBlockCall(number: bigint): RpcCall {
	return { method: 'trace_block', params: [hexOf(number)] }
}

function callFor(hit: RowGroup): readonly RpcCall[] {
	const { txHash, blockNumber } = hit
	// A filter gives some rewards of a block, and not the place that they have among all of them.
	if (txHash === null) return [traceBlockCall(blockNumber)]
	return isDeep(hit) ? [{ method: 'trace_transaction', params: [txHash] }] : []
}

function isDeep(hit: RowGroup): boolean {
	return hit.rows.some((row) => !isRoot(row) && mayCount(row.frame))
}

function isRoot(row: Row): boolean {
	return row.traceAddress.length === 0
}

/** Null where it was not given: then neither side of it is asked for. */
function rootOf({ rows }: RowGroup) {
	const root = rows.find(isRoot)
	return root === undefined ? null : frameOf(root)
}

function needHeader(blocks: ReadonlyMap<bigint, Header>, number: bigint): Header {
	const block = blocks.get(number)
	if (block === undefined) throw new RangeError(`the header of block ${number} was not asked for`)
	return block
}

interface OneHit {
	/** The answer to its call, where it has one. */
	readonly next: () => unknown
	readonly addresses: AddressSet
	readonly withSent: boolean | undefined
	readonly slices: TimeSlices
	readonly endpoint: string
}

/** Null where nothing is left: rewards that nobody pays. */
async function completeOne(
	hit: RowGroup,
	block: Header,
	{ next, addresses, withSent, slices, endpoint }: OneHit,
): Promise<Hit | null> {
	const { txHash, rows } = hit
	if (txHash === null) return readRewards(next(), block, addresses, endpoint)
	const frames = isDeep(hit)
		? await readTree(next(), { ...hit, txHash }, { addresses, withSent }, slices, endpoint)
		: rows.filter(isRoot).map(frameOf)
	return { txHash, txIndex: rows[0]?.txIndex ?? null, block, frames }
}

async function readTree(
	raw: unknown,
	hit: RowGroup & { readonly txHash: Hash },
	{ addresses, withSent }: Pick<Incomplete, 'addresses' | 'withSent'>,
	slices: TimeSlices,
	endpoint: string,
) {
	const reading: Reading = { endpoint, method: 'trace_transaction' }
	const rows = await readRows(raw, slices, reading)
	const tree = await treeOf(rows, hit, slices, reading)
	// From here on all rows are of this transaction, in this block.
	const given = new Map<string | null, Row>()
	for (const row of hit.rows) {
		if (slices.isOver()) await slices.next()
		given.set(placeKey(row), row)
	}
	await checkFilter(rows, given, hit.txHash, { addresses, slices, endpoint, reading })
	return framesOf(tree, slices, keptOf(addresses, withSent))
}

interface Checking extends Pick<Incomplete, 'addresses'> {
	readonly slices: TimeSlices
	readonly endpoint: string
	/** Of the tree. */
	readonly reading: Reading
}

/**
 * Filter and tree are each other's witness: what the filter gave must be in the tree, and what the tree holds for these
 * addresses the filter must have given.
 */
async function checkFilter(
	tree: ReadRows<Row>,
	given: ReadonlyMap<string | null, Row>,
	txHash: Hash,
	{ addresses, slices, endpoint, reading }: Checking,
): Promise<void> {
	let leftOut: Row | null = null
	const found = new Set<string | null>()
	for (let index = 0; index < tree.length; index++) {
		if (slices.isOver()) await slices.next()
		const row = tree.at(index) as Row
		const key = placeKey(row)
		if (given.has(key)) found.add(key)
		else if (leftOut === null && matters(row.frame, addresses)) leftOut = row
	}
	if (found.size < given.size) {
		for (const [key, { traceAddress }] of given) {
			if (!found.has(key)) throw unsettled(reading, `${txHash} lacks frame ${traceAddress.join('_')}`)
		}
	}
	if (leftOut === null) return
	const what = `it left out the ${leftOut.frame.type} at ${leftOut.traceAddress.join('_') || 'the root'} of ${txHash}`
	throw malformed({ endpoint, method: 'trace_filter' }, what)
}

/** The rows of an answer, each once. It is let go of where they are read: it cannot be read again. */
export async function readRows(raw: unknown, slices: TimeSlices, reading: Reading): Promise<ReadRows<Row>> {
	const rows = await readInTurns(listOf(raw, reading), readRow, { slices, reading })
	if (await isAscending(rows, slices)) return rows
	const seen = new Set<string>()
	const once: Row[] = []
	for (const row of await listed(rows, slices)) {
		if (slices.isOver()) await slices.next()
		const key = rowKey(row)
		if (key !== null && seen.has(key)) continue
		if (key !== null) seen.add(key)
		once.push(row)
	}
	return framed(once)
}
