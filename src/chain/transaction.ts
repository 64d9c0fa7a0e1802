import { RpcError } from '../errors.js'
import type { TxTrace } from '../model/chain.js'
import type { Hash } from '../model/glossary.js'
import type { Dialect } from './capabilities/capabilities.js'
import type { Rpc } from './rpc/rpc.js'
import { askAll, blockCall, needBlock } from './sources/ask.js'
import { uniqueRows } from './sources/completeHits.js'
import { debugCall, readDebugBlock } from './sources/debugTrace.js'
import { receiptCall } from './sources/receipts.js'
import { checkTree, traceOf } from './traces/assemble.js'
import { openRows, readRow } from './traces/parityRows.js'
import { type Header, readReceipt, unsettled } from './wire.js'

/** One transaction with all its frames, whatever they moved, and its block. */
export interface WholeTransaction {
	readonly trace: TxTrace
	readonly block: Header
}

/** Null when the transaction is in no block. Throws RpcError. */
export async function readTransaction(
	rpc: Rpc,
	txHash: Hash,
	dialect: Dialect | null,
	signal: AbortSignal,
): Promise<WholeTransaction | null> {
	const [raw] = await askAll(rpc, [receiptCall(txHash)], signal)
	const receipt = readReceipt(raw, { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' })
	if (receipt === null) return null
	const { number } = receipt.block
	const [header] = await askAll(rpc, [blockCall(number)], signal)
	const block = needBlock(header, number, rpc.endpoint)
	if (block.hash !== receipt.block.hash) {
		throw unsettled({ endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }, `block ${number} was replaced`)
	}
	const { succeeded } = receipt
	const traced = dialect?.methods.trace_transaction ?? 'unknown'
	if (traced === 'no' || traced === 'wrong')
		return { trace: await fromBlock(rpc, txHash, block, succeeded, dialect, signal), block }
	return { trace: await fromTransaction(rpc, txHash, block, succeeded, signal), block }
}

async function fromTransaction(
	rpc: Rpc,
	txHash: Hash,
	block: Header,
	succeeded: boolean | null,
	signal: AbortSignal,
): Promise<TxTrace> {
	const reading = { endpoint: rpc.endpoint, method: 'trace_transaction' }
	const [raw] = await askAll(rpc, [{ method: reading.method, params: [txHash] }], signal)
	const rows = uniqueRows(openRows(raw, reading).map((row, index) => readRow(row, index, reading)))
	checkTree(rows, txHash, block.hash, reading)
	return traceOf({ txHash, rows }, block, succeeded)
}

async function fromBlock(
	rpc: Rpc,
	txHash: Hash,
	block: Header,
	succeeded: boolean | null,
	dialect: Dialect | null,
	signal: AbortSignal,
): Promise<TxTrace> {
	const reading = { endpoint: rpc.endpoint, method: 'debug_traceBlockByNumber', words: rpc.words }
	const tracer = dialect?.tracer ?? null
	if (tracer === null) {
		throw new RpcError(`${rpc.endpoint} offers neither trace_transaction nor a tracer; ask another endpoint`, {
			kind: 'unsupported',
			endpoint: rpc.endpoint,
		})
	}
	const [raw] = await askAll(rpc, [debugCall(block.number, tracer)], signal)
	const frames = readDebugBlock(raw, block, reading).traces.get(txHash)
	if (frames === undefined) throw unsettled(reading, `${txHash} has no trace in block ${block.number}`)
	const { number, hash } = block
	return { txHash, txIndex: block.txHashes.indexOf(txHash), block: { number, hash }, succeeded, frames }
}
