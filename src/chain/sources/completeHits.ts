import { createTurns, type Turns } from '../../base/timeSlices.js'
import { mayCount } from '../../core/effective.js'
import type { AddressSet, Frame, Part, TxTrace } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import {
	byPlace,
	checkBlock,
	concerns,
	matters,
	type RowGroup,
	rewardsOf,
	rowKey,
	traceOf,
	treeOf,
} from '../traces/assemble.js'
import { listOf, openRow, openRows, type Row, readRow } from '../traces/parityRows.js'
import { framesOf } from '../traces/tree.js'
import { type Header, hexOf, malformed, type Reading, unsettled } from '../wire.js'
import { askAll, blockCall, needBlock } from './ask.js'
import { feeIn, readSuccess, receiptCall } from './receipts.js'

interface Incomplete {
	readonly rpc: Rpc
	/** What an address filter gave: rows without the frames above them. */
	readonly hits: readonly RowGroup[]
	readonly addresses: AddressSet
	readonly last: Header
}

/**
 * Asks what rows alone do not say, each transaction once: headers, receipts, and the whole tree of a transaction that
 * was hit below its root, since a frame under a failed one carries no error of its own (docs/nodes.md, "How frames are
 * told").
 */
export async function completeHits(
	{ rpc, hits, addresses, last }: Incomplete,
	signal: AbortSignal,
): Promise<Pick<Part, 'blocks' | 'transactions'>> {
	const numbers = [...new Set(hits.map((hit) => hit.blockNumber))]
	const calls = [...numbers.map(blockCall), ...hits.flatMap(callsFor)]
	const answers = (await askAll(rpc, calls, signal)).values()
	const next = () => answers.next().value
	const blocks = new Map(numbers.map((number) => [number, needBlock(next(), number, rpc.endpoint)] as const))
	const reading: Reading = { endpoint: rpc.endpoint, method: 'trace_filter' }
	const now = blocks.get(last.number)
	if (now !== undefined && now.hash !== last.hash) throw unsettled(reading, `block ${last.number} was replaced`)
	const turns = createTurns()
	const transactions: TxTrace[] = []
	for (const hit of hits) {
		const block = needHeader(blocks, hit)
		checkBlock(hit, block, reading)
		const { txHash, rows } = hit
		if (txHash === null) {
			const rewards = rewardsOf(readRewards(next(), block, rpc.endpoint), block, addresses)
			if (rewards !== null) transactions.push(rewards)
			continue
		}
		const receipt = next()
		const frames = isDeep(hit)
			? await readTree(next(), { ...hit, txHash }, addresses, turns, rpc.endpoint)
			: rows.filter(isRoot).map(({ frame }) => frame)
		const succeeded = readSuccess(receipt, { txHash, block, frames }, rpc.endpoint)
		const trace = traceOf({ txHash, txIndex: rows[0]?.txIndex ?? null, frames }, block, succeeded)
		transactions.push({ ...trace, ...feeIn(receipt) })
	}
	return { blocks, transactions: transactions.sort(byPlace) }
}

function callsFor(hit: RowGroup): readonly RpcCall[] {
	const { txHash, blockNumber } = hit
	// A filter gives some rewards of a block, and not the place that they have among all of them.
	if (txHash === null) return [{ method: 'trace_block', params: [hexOf(blockNumber)] }]
	const receipt = receiptCall(txHash)
	return isDeep(hit) ? [receipt, { method: 'trace_transaction', params: [txHash] }] : [receipt]
}

function isDeep(hit: RowGroup): boolean {
	return hit.rows.some((row) => !isRoot(row) && mayCount(row.frame))
}

function isRoot(row: Row): boolean {
	return row.frame.traceAddress.length === 0
}

function needHeader(blocks: ReadonlyMap<bigint, Header>, hit: RowGroup): Header {
	const block = blocks.get(hit.blockNumber)
	if (block === undefined) throw new RangeError(`the header of block ${hit.blockNumber} was not asked for`)
	return block
}

function readRewards(raw: unknown, block: Header, endpoint: string): readonly Row[] {
	const reading: Reading = { endpoint, method: 'trace_block' }
	const seen = new Set<string>()
	return openRows(raw, reading).flatMap((open, index) => {
		if (open.type !== 'reward') return []
		const row = readRow(open, index, reading)
		checkBlock(row, block, reading)
		const key = rowKey(row)
		if (key !== null && seen.has(key)) return []
		if (key !== null) seen.add(key)
		return [row]
	})
}

async function readTree(
	raw: unknown,
	hit: RowGroup & { readonly txHash: Hash },
	addresses: AddressSet,
	turns: Turns,
	endpoint: string,
): Promise<readonly Frame[]> {
	const reading: Reading = { endpoint, method: 'trace_transaction' }
	const rows = await readRows(raw, turns, reading)
	const tree = await treeOf(rows, hit, turns, reading)
	const lacking = new Map(hit.rows.map((row) => [rowKey(row), row]))
	for (const row of rows) {
		if (turns.isOver()) await turns.next()
		lacking.delete(rowKey(row))
	}
	const [missing] = lacking.values()
	if (missing) throw unsettled(reading, `${hit.txHash} lacks frame ${missing.frame.traceAddress.join('_')}`)
	checkFilter(rows, hit, addresses, endpoint)
	return framesOf(tree, turns, (frame) => concerns(frame, addresses))
}

/** The tree is the filter's witness: what it holds for these addresses the filter must have given. */
function checkFilter(tree: readonly Row[], hit: RowGroup, addresses: AddressSet, endpoint: string): void {
	const given = new Set(hit.rows.map(rowKey))
	const kept = tree.find((row) => matters(row.frame, addresses) && !given.has(rowKey(row)))
	if (kept === undefined) return
	const { type, traceAddress } = kept.frame
	const what = `it left out the ${type} at ${traceAddress.join('_') || 'the root'} of ${hit.txHash}`
	throw malformed({ endpoint, method: 'trace_filter' }, what)
}

/** The rows of an answer, each once. */
export async function readRows(raw: unknown, turns: Turns, reading: Reading): Promise<readonly Row[]> {
	const rows: Row[] = []
	const seen = new Set<string>()
	for (const [index, one] of listOf(raw, reading).entries()) {
		if (turns.isOver()) await turns.next()
		const row = readRow(openRow(one, index, reading), index, reading)
		const key = rowKey(row)
		if (key !== null && seen.has(key)) continue
		if (key !== null) seen.add(key)
		rows.push(row)
	}
	return rows
}
