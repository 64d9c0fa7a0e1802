import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { isCheaperWhole } from '../../core/cost/cost.js'
import { groupedBy } from '../../core/lists.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, Part, UnreadTransaction } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { blockCall, needBlock } from '../blocks/batchedCalls.js'
import type { Costs } from '../blocks/costs.js'
import {
	orOfBlocks,
	planReceipts,
	readReceipts,
	readWholeBlocks,
	receiptCall,
	type Wanted,
	withOwnReceipts,
} from '../blocks/readReceipts.js'
import { type Hit, joined, wantedOf } from '../blocks/receipts.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import {
	byPlace,
	checkBlock,
	isAskedFor,
	keptOf,
	matters,
	placeKey,
	type RowGroup,
	rewardsOf,
	rowKey,
	treeOf,
} from '../traces/assemble.js'
import { frameOf, openRow, type Row, readRow } from '../traces/parityRows.js'
import { framed, listed, type ReadRows, readInTurns } from '../traces/readRows.js'
import { isAscending } from '../traces/rowTree.js'
import { listOf } from '../traces/traceRows.js'
import { framesOf } from '../traces/tree.js'
import { type Header, hexOf, malformed, type Reading, unsettled } from '../wire/wire.js'
import { mayAskAlone } from './askAlone.js'
import { completeByBlock } from './hitBlock.js'

interface Incomplete {
	readonly rpc: Rpc
	/** Rows from an address filter, without the frames above them. */
	readonly hits: readonly RowGroup[]
	readonly addresses: AddressSet
	readonly last: Header
	readonly costs: Costs
	/** See `SourceOptions`. */
	readonly mayLack?: boolean | undefined
}

export interface CompletedHits extends Pick<Part, 'transactions' | 'unread'> {
	/** The headers of the blocks that were hit, by number. */
	readonly blocks: ReadonlyMap<bigint, Header>
}

/**
 * Reads what rows do not say, once per transaction: headers, receipts where they are needed, and the whole tree of a
 * transaction that was hit below its root, because a frame under a failed one carries no error of its own
 * (docs/nodes.md, "How frames are written"). Where many trees of one block are needed, the block is read whole.
 */
export async function completeHits(
	{ rpc, hits, addresses, last, costs, mayLack = false }: Incomplete,
	signal: AbortSignal,
): Promise<CompletedHits> {
	const byBlock = groupedBy(hits, ({ blockNumber }) => blockNumber)
	const numbers = [...byBlock.keys()]
	const isWhole = costs.hasWholeBlocks(rpc) ? isReadWhole(costs.rowsPerBlock(), addresses) : () => false
	const whole = new Set(numbers.filter((number) => isWhole(byBlock.get(number) ?? [])))
	const singles = hits.filter(({ blockNumber }) => !whole.has(blockNumber))
	const traceBlock = (number: bigint) => traceBlockCall(number, addresses)
	const callFor = (hit: RowGroup) => callsFor(hit, addresses)
	const calls = [...numbers.map(blockCall), ...[...whole].map(traceBlock), ...singles.flatMap(callFor)]
	// A frame below its root may turn out to need its receipt later, once the tree shows that the root failed.
	const early = hits.filter((hit) => hit.txHash !== null && costs.receipts.of(rpc, 'trace', rootOf(hit), addresses))
	const guesses = early.map((hit) => guessed(hit, costs))
	const plan = planReceipts(rpc, guesses)
	const [results, fromBlocks] = await Promise.all([
		calls.length === 0 ? [] : rpc.batch([...calls, ...plan.single.map(({ txHash }) => receiptCall(txHash))], signal),
		readWholeBlocks(rpc, plan.whole, signal),
	])
	const receipts = new Map([
		...fromBlocks,
		...(await orOfBlocks(rpc, plan.single, results.slice(calls.length), signal)),
	])
	const answers = results.values()
	const next = () => {
		const answer = answers.next().value
		if (answer instanceof RpcError) throw answer
		return answer
	}
	const blocks = new Map(numbers.map((number) => [number, needBlock(next(), number, rpc.endpoint)] as const))
	const reading: Reading = { endpoint: rpc.endpoint, method: 'trace_filter' }
	const now = blocks.get(last.number)
	if (now !== undefined && now.hash !== last.hash) throw unsettled(reading, `block ${last.number} was replaced`)
	for (const hit of hits) checkBlock(hit, needHeader(blocks, hit.blockNumber), reading)

	const found: Hit[] = []
	for (const number of whole) {
		const block = needHeader(blocks, number)
		const given = byBlock.get(number) ?? []
		found.push(...(await completeByBlock(rpc, next(), { block, given, addresses }, signal)))
	}
	const unread: UnreadTransaction[] = []
	for (const hit of singles) {
		const block = needHeader(blocks, hit.blockNumber)
		const { number, hash } = block
		const { txHash } = hit
		try {
			const one = await rpc.progress.during(() => completeOne(hit, block, { next, addresses, endpoint: rpc.endpoint }))
			// Of a transaction that the header does not name, nothing is reported.
			if (one !== null && (txHash === null || block.txHashes.includes(txHash))) found.push(one)
		} catch (error) {
			if (!mayLack || txHash === null || !(error instanceof RpcError) || !mayAskAlone(error, true)) throw error
			unread.push({ block: { number, hash }, txHash, why: error.message })
		}
	}
	const late = found.filter(
		({ txHash, frames: [root = null] }) =>
			txHash !== null && !receipts.has(txHash) && costs.receipts.of(rpc, 'trace', root, addresses),
	)
	const more = await readReceipts(rpc, planReceipts(rpc, late.map(wantedOf)), signal)
	const all = await withOwnReceipts(rpc, found.map(wantedOf), new Map([...receipts, ...more]), signal)
	const transactions = found.map((hit) => joined(rpc, hit, all, { tracing: 'trace', costs })).sort(byPlace)
	return { blocks, transactions, ...(unread.length > 0 && { unread }) }
}

function isReadWhole(rowsPerBlock: number | null, addresses: AddressSet): (hits: readonly RowGroup[]) => boolean {
	return (hits) => {
		const trees = hits.filter((hit) => hit.txHash !== null && isDeep(hit, addresses)).length
		// Only the whole block has the rewards, so its trees cost nothing more.
		if (trees > 0 && hits.some(({ txHash }) => txHash === null)) return true
		return isCheaperWhole(trees, rowsPerBlock)
	}
}

/** Rows per transaction, and transactions per block before any block was read. */
const rowsPerTransaction = 5
const transactionsPerBlock = 100

/** A guess of the block's number of transactions, before its header is read. */
function guessed({ txHash, blockNumber }: RowGroup, costs: Costs): Wanted {
	const rows = costs.rowsPerBlock()
	return { txHash, blockNumber, ofTransactions: rows === null ? transactionsPerBlock : rows / rowsPerTransaction }
}

function traceBlockCall(number: bigint, { calls }: AddressSet): RpcCall {
	return { method: 'trace_block', params: [hexOf(number)], calls }
}

function callsFor(hit: RowGroup, addresses: AddressSet): readonly RpcCall[] {
	const { txHash, blockNumber } = hit
	// A filter gives some rewards of a block, but not their places among all of them.
	if (txHash === null) return [traceBlockCall(blockNumber, addresses)]
	return isDeep(hit, addresses) ? [{ method: 'trace_transaction', params: [txHash], calls: addresses.calls }] : []
}

function isDeep(hit: RowGroup, addresses: AddressSet): boolean {
	return hit.rows.some((row) => !isRoot(row) && isAskedFor(row.frame, addresses))
}

function isRoot(row: Row): boolean {
	return row.traceAddress.length === 0
}

/** Null where the filter did not give the root; then neither party of it is watched. */
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
	readonly endpoint: string
}

/** Null where nothing is left: rewards that are never paid. */
async function completeOne(hit: RowGroup, block: Header, { next, addresses, endpoint }: OneHit): Promise<Hit | null> {
	const { txHash, rows } = hit
	if (txHash === null) return readRewards(next(), block, addresses, endpoint)
	const frames = isDeep(hit, addresses)
		? await readTree(next(), { ...hit, txHash }, addresses, endpoint)
		: rows.filter(isRoot).map(frameOf)
	return { txHash, txIndex: rows[0]?.txIndex ?? null, block, frames }
}

async function readTree(
	raw: unknown,
	hit: RowGroup & { readonly txHash: Hash },
	addresses: AddressSet,
	endpoint: string,
) {
	const reading: Reading = { endpoint, method: 'trace_transaction', calls: addresses.calls }
	const rows = await readRows(raw, reading)
	const tree = await treeOf(rows, hit, reading)
	// From here on, all rows belong to this transaction in this block.
	const given = new Map<string | null, Row>()
	for (const row of hit.rows) {
		if (isSliceOver()) await nextSlice()
		given.set(placeKey(row), row)
	}
	await checkFilter(rows, given, hit.txHash, { addresses, endpoint, reading })
	return framesOf(tree, keptOf(addresses))
}

interface Checking extends Pick<Incomplete, 'addresses'> {
	readonly endpoint: string
	/** For the tree. */
	readonly reading: Reading
}

/** Filter and tree check each other: each must have what the other gives for these addresses. */
async function checkFilter(
	tree: ReadRows<Row>,
	given: ReadonlyMap<string | null, Row>,
	txHash: Hash,
	{ addresses, endpoint, reading }: Checking,
): Promise<void> {
	let leftOut: Row | null = null
	const found = new Set<string | null>()
	for (let index = 0; index < tree.length; index++) {
		if (isSliceOver()) await nextSlice()
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

/** The rows of an answer, each once. The answer is released while it is read and cannot be read again. */
export async function readRows(raw: unknown, reading: Reading): Promise<ReadRows<Row>> {
	const rows = await readInTurns(listOf(raw, reading), readRow, reading)
	if (await isAscending(rows)) return rows
	const seen = new Set<string>()
	const once: Row[] = []
	for (const row of await listed(rows)) {
		if (isSliceOver()) await nextSlice()
		const key = rowKey(row)
		if (key !== null && seen.has(key)) continue
		if (key !== null) seen.add(key)
		once.push(row)
	}
	return framed(once)
}

/** The rewards of one block out of its rows. Null where none that is really paid goes to the addresses. */
function readRewards(raw: unknown, block: Header, addresses: AddressSet, endpoint: string): Hit | null {
	const reading: Reading = { endpoint, method: 'trace_block' }
	const seen = new Set<string>()
	const list = listOf(raw, reading)
	const rows: Row[] = []
	for (let index = 0; index < list.length; index++) {
		const open = openRow(list.at(index), index, reading)
		if (open.type !== 'reward') continue
		const row = readRow(open, index, reading)
		checkBlock(row, block, reading)
		const key = rowKey(row)
		if (key !== null && seen.has(key)) continue
		if (key !== null) seen.add(key)
		rows.push(row)
	}
	const rewards = rewardsOf(rows, block, addresses)
	return rewards === null ? null : { txHash: null, txIndex: null, block, frames: rewards.frames }
}
