import { RpcError } from '../../errors.js'
import type { Address, AddressSet, Block, Part, Span, TxTrace } from '../../model.js'
import type { Rpc, RpcCall } from '../rpc.js'
import { openRows, type Row, readRow } from '../traces.js'
import { hexOf, malformed, type Reading, readReceipt, unsettled } from '../wire.js'
import { askAll, blockCall, needBlock } from './ask.js'
import { byPlace, checkBlock, checkTree, groupRows, mayMatter, type RowGroup, touches, traceOf } from './assemble.js'
import type { Source } from './source.js'

/** Addresses in one list: some 45 kB of request. */
const LIST_SIZE = 1_000

type ListName = 'fromAddress' | 'toAddress'

/**
 * `trace_filter`: two questions a span, one for each list, because nodes differ on what two lists in one question mean;
 * only the four fields that every node knows, block numbers as plain hex, never a tag (dialects: sections 1 to 3).
 *
 * Its rows come without their ancestors, and a frame under a failed one carries no error: a hit below the root is
 * judged with its whole transaction, and each transaction with its receipt (section 8).
 */
export function traceFilterSource(options: { readonly onUnknown?: (type: string) => void }): Source {
	return {
		name: 'trace_filter',
		async read(rpc, span, addresses, signal) {
			const { last, rows } = await askLists(rpc, span, addresses, options.onUnknown, signal)
			const hits = [...groupRows(rows).values()].filter((group) => group.rows.some(mayMatter))
			const { blocks, transactions } = await complete(rpc, hits, addresses, signal)
			return { span, last, blocks, transactions }
		},
	}
}

async function askLists(
	rpc: Rpc,
	span: Span,
	addresses: AddressSet,
	onUnknown: ((type: string) => void) | undefined,
	signal: AbortSignal,
): Promise<{ last: Block; rows: readonly Row[] }> {
	const reading: Reading = { endpoint: rpc.endpoint, method: 'trace_filter', ...(onUnknown && { onUnknown }) }
	const rows: Row[] = []
	let last: Block | null = null
	for (const list of listsOf(addresses)) {
		const questions = (['fromAddress', 'toAddress'] as const).map((name) => filterCall(span, name, list))
		const [header, ...answers] = await askAll(rpc, [blockCall(span.to), ...questions], signal)
		// The header of the first list: whatever changes while the others are read shows in it at the next poll.
		last ??= needBlock(header, span.to, rpc.endpoint)
		for (const answer of answers) rows.push(...readAnswer(answer, span, addresses, reading))
	}
	return { last: last ?? needBlock((await askAll(rpc, [blockCall(span.to)], signal))[0], span.to, rpc.endpoint), rows }
}

function* listsOf(addresses: AddressSet): Generator<readonly Address[]> {
	let list: Address[] = []
	for (const keys = addresses.keys(), step = { next: keys.next() }; !step.next.done; step.next = keys.next()) {
		list.push(step.next.value)
		if (list.length < LIST_SIZE) continue
		yield list
		list = []
	}
	if (list.length > 0) yield list
}

function filterCall(span: Span, name: ListName, list: readonly Address[]): RpcCall {
	const filter = { fromBlock: hexOf(span.from), toBlock: hexOf(span.to), [name]: list }
	return { method: 'trace_filter', params: [filter] }
}

function readAnswer(answer: unknown, span: Span, addresses: AddressSet, reading: Reading): readonly Row[] {
	const rows: Row[] = []
	openRows(answer, reading).forEach((raw, index) => {
		const row = readRow(raw, index, reading)
		if (row.blockNumber < span.from || row.blockNumber > span.to) {
			throw malformed(reading, `row ${index} is of block ${row.blockNumber}, which was not asked for`)
		}
		if (touches(row.frame, addresses)) rows.push(row)
		// Rewards leak into filters, and a failed creation may have been matched by the address it would have had.
		else if (row.frame.type !== 'reward' && row.frame.error === null) {
			throw malformed(reading, `row ${index} touches none of the addresses asked for: the filter was ignored`)
		}
	})
	return rows
}

/** Asks what the rows alone do not say: whole trees, receipts, headers. */
async function complete(
	rpc: Rpc,
	hits: readonly RowGroup[],
	_addresses: AddressSet,
	signal: AbortSignal,
): Promise<Pick<Part, 'blocks' | 'transactions'>> {
	const numbers = [...new Set(hits.map((hit) => hit.blockNumber))]
	const questions = hits.flatMap((hit) => questionsOf(hit))
	const answers = await askAll(rpc, [...numbers.map(blockCall), ...questions], signal)
	const blocks = new Map(
		numbers.map((number, index) => [number, needBlock(answers[index], number, rpc.endpoint)] as const),
	)
	const transactions: TxTrace[] = []
	let next = numbers.length
	for (const hit of hits) {
		const count = questionsOf(hit).length
		const block = blocks.get(hit.blockNumber)
		if (block === undefined) throw new Error('a hit without its header')
		checkBlock(hit, block, { endpoint: rpc.endpoint, method: 'trace_filter' })
		transactions.push(transactionOf(hit, block, answers.slice(next, next + count), rpc.endpoint))
		next += count
	}
	return { blocks, transactions: transactions.sort(byPlace) }
}

function questionsOf({ txHash, rows }: RowGroup): readonly RpcCall[] {
	if (txHash === null) return []
	const receipt = { method: 'eth_getTransactionReceipt', params: [txHash] }
	const isDeep = rows.some((row) => row.frame.traceAddress.length > 0 && mayMatter(row))
	return isDeep ? [receipt, { method: 'trace_transaction', params: [txHash] }] : [receipt]
}

function transactionOf(hit: RowGroup, block: Block, answers: readonly unknown[], endpoint: string): TxTrace {
	const { txHash } = hit
	if (txHash === null) return traceOf(hit, block, null)
	const [rawReceipt, rawTree] = answers
	const asReceipt: Reading = { endpoint, method: 'eth_getTransactionReceipt' }
	const receipt = readReceipt(rawReceipt, asReceipt)
	if (receipt?.block.hash !== block.hash) throw unsettled(asReceipt, `${txHash} is no longer in block ${block.number}`)
	const rows = rawTree === undefined ? hit.rows.filter(isRoot) : readTree(hit, rawTree, endpoint)
	return traceOf({ txHash, rows }, block, receipt.succeeded)
}

function readTree(hit: RowGroup, raw: unknown, endpoint: string): readonly Row[] {
	const reading: Reading = { endpoint, method: 'trace_transaction' }
	const rows = openRows(raw, reading).map((row, index) => readRow(row, index, reading))
	if (hit.txHash === null) throw new RpcError('rewards have no tree', { kind: 'malformed', endpoint })
	checkTree(rows, hit.txHash, hit.blockHash, reading)
	return rows
}

function isRoot(row: Row): boolean {
	return row.frame.traceAddress.length === 0
}
