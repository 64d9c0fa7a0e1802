import type { AddressSet, Part, TxTrace } from '../../model/chain.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import {
	byPlace,
	checkBlock,
	checkTree,
	mayMatter,
	type RowGroup,
	rewardsOf,
	rowKey,
	touches,
	traceOf,
} from '../traces/assemble.js'
import { openRows, type Row, readRow } from '../traces/parityRows.js'
import { type Header, hexOf, malformed, type Reading, unsettled } from '../wire.js'
import { askAll, blockCall, needBlock } from './ask.js'
import { listed, readSuccess, receiptCall } from './receipts.js'

interface Incomplete {
	readonly rpc: Rpc
	/** What an address filter gave: rows without the frames above them. */
	readonly hits: readonly RowGroup[]
	readonly addresses: AddressSet
	readonly last: Header
}

/**
 * Asks what rows alone do not say, each transaction once: headers, receipts, and the whole tree of a transaction that was
 * hit below its root, since a frame under a failed one carries no error of its own (dialects: section 8).
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
	const transactions: TxTrace[] = []
	for (const hit of hits) {
		const block = needHeader(blocks, hit)
		checkBlock(hit, block, reading)
		if (hit.txHash === null) {
			transactions.push(...listed(rewardsOf(readRewards(next(), block, rpc.endpoint), block, addresses)))
			continue
		}
		const succeeded = readSuccess(next(), { group: hit, block }, rpc.endpoint)
		const rows = isDeep(hit) ? readTree(next(), hit, addresses, rpc.endpoint) : hit.rows.filter(isRoot)
		transactions.push(traceOf({ txHash: hit.txHash, rows }, block, succeeded))
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
	return hit.rows.some((row) => !isRoot(row) && mayMatter(row))
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

function readTree(raw: unknown, hit: RowGroup, addresses: AddressSet, endpoint: string): readonly Row[] {
	const reading: Reading = { endpoint, method: 'trace_transaction' }
	const { txHash, blockHash } = hit
	const rows = uniqueRows(openRows(raw, reading).map((row, index) => readRow(row, index, reading)))
	if (txHash !== null) checkTree(rows, txHash, blockHash, reading)
	const inTree = new Set(rows.map(rowKey))
	const missing = hit.rows.find((row) => !inTree.has(rowKey(row)))
	if (missing) throw unsettled(reading, `${txHash} lacks frame ${missing.frame.traceAddress.join('_')}`)
	checkFilter(rows, hit, addresses, endpoint)
	return rows
}

/** The tree is the filter's witness: what it holds for these addresses the filter must have given. */
function checkFilter(tree: readonly Row[], hit: RowGroup, addresses: AddressSet, endpoint: string): void {
	const given = new Set(hit.rows.map(rowKey))
	const kept = tree.find((row) => touches(row.frame, addresses) && mayMatter(row) && !given.has(rowKey(row)))
	if (kept === undefined) return
	const { type, traceAddress } = kept.frame
	const what = `it left out the ${type} at ${traceAddress.join('_') || 'the root'} of ${hit.txHash}`
	throw malformed({ endpoint, method: 'trace_filter' }, what)
}

export function uniqueRows(rows: readonly Row[]): readonly Row[] {
	const seen = new Set<string | null>()
	return rows.filter((row) => {
		const key = rowKey(row)
		if (key !== null && seen.has(key)) return false
		seen.add(key)
		return true
	})
}
