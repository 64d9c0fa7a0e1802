/** The room reads one transaction: its tree (here), its block, its creator, why it failed. */

import { RpcError } from '../../errors.js'
import type { CalledFunctions, TxTrace } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { askAll, blockCall, needBlock } from '../blocks/batchedCalls.js'
import { receiptCall } from '../blocks/readReceipts.js'
import { readSuccess } from '../blocks/receipts.js'
import type { Capabilities } from '../capabilities/capabilities.js'
import type { Rpc } from '../rpc/rpc.js'
import { mayAskAlone } from '../sources/askAlone.js'
import { readRows } from '../sources/completeHits.js'
import { debugCall, debugTransactionCall, readDebugBlock, readTrace } from '../sources/debugTrace.js'
import { traceOf, treeOf } from '../traces/assemble.js'
import { framed, listed } from '../traces/readRows.js'
import { framesOf, type Tree } from '../traces/tree.js'
import { type Header, hexOf, readReceipt, unsettled } from '../wire/wire.js'

/** One transaction with all its frames, whatever they moved, and its block. */
export interface WholeTransaction {
	readonly trace: TxTrace
	readonly block: Header
	/** As the node gave it. */
	readonly receipt: unknown
}

/** The input of each call is read. */
const everyCall: CalledFunctions = { has: () => true, isReported: () => true }

type Method = 'trace_transaction' | 'trace_block' | 'debug_traceBlockByNumber'

/** Null when the transaction is in no block. Throws RpcError. */
export async function readTransaction(
	rpc: Rpc,
	txHash: Hash,
	capabilities: Capabilities | null,
	signal: AbortSignal,
): Promise<WholeTransaction | null> {
	const [raw] = await askAll(rpc, [receiptCall(txHash)], signal)
	const receipt = readReceipt(raw, txHash, { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' })
	if (receipt === null) return null
	const { number } = receipt.block
	const [header] = await askAll(rpc, [blockCall(number)], signal)
	const block = needBlock(header, number, rpc.endpoint)
	if (block.hash !== receipt.block.hash) {
		throw unsettled({ endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }, `block ${number} was replaced`)
	}
	const tree = await readTree({ rpc, txHash, block, capabilities }, signal)
	const frames = await framesOf(tree)
	const succeeded = readSuccess(raw, { txHash, block, frames }, rpc.endpoint)
	return { trace: traceOf({ txHash, txIndex: null, frames }, block, succeeded), block, receipt: raw }
}

interface Question {
	readonly rpc: Rpc
	readonly txHash: Hash
	readonly block: Header
	readonly capabilities: Capabilities | null
}

/** By the first method that the endpoint has: for one transaction, for the block, for the block by a tracer. */
async function readTree(question: Question, signal: AbortSignal): Promise<Tree> {
	const { rpc, capabilities } = question
	let refused: RpcError | null = null
	for (const method of methodsOf(capabilities)) {
		try {
			return method === 'debug_traceBlockByNumber'
				? await fromTracer(question, signal)
				: await fromRows(method, question, signal)
		} catch (error) {
			if (!(error instanceof RpcError) || error.kind !== 'unsupported') throw error
			refused ??= error
		}
	}
	const words = `${rpc.endpoint} offers neither trace methods nor a tracer; ask another endpoint`
	throw refused ?? new RpcError(words, { kind: 'unsupported', endpoint: rpc.endpoint })
}

function methodsOf(capabilities: Capabilities | null): readonly Method[] {
	const isAble = (method: Method) => !['no', 'wrong'].includes(capabilities?.methods[method] ?? 'unknown')
	const rows = (['trace_transaction', 'trace_block'] as const).filter(isAble)
	return capabilities?.tracer == null ? rows : [...rows, 'debug_traceBlockByNumber']
}

async function fromRows(
	method: 'trace_transaction' | 'trace_block',
	{ rpc, txHash, block }: Question,
	signal: AbortSignal,
): Promise<Tree> {
	const reading = { endpoint: rpc.endpoint, method, calls: everyCall }
	const params = [method === 'trace_block' ? hexOf(block.number) : txHash]
	const [raw] = await askAll(rpc, [{ method, params, calls: everyCall }], signal)
	const rows = await readRows(raw, reading)
	const own = async () => framed((await listed(rows)).filter((row) => row.txHash === txHash))
	return treeOf(method === 'trace_block' ? await own() : rows, { txHash, blockHash: block.hash }, reading)
}

async function fromTracer({ rpc, txHash, block, capabilities }: Question, signal: AbortSignal): Promise<Tree> {
	const reading = { endpoint: rpc.endpoint, method: 'debug_traceBlockByNumber', words: rpc.words, calls: everyCall }
	const tracer = capabilities?.tracer ?? 'callTracer'
	// The block may not be given for the sake of another transaction.
	const [whole, alone] = [debugCall(block.number, tracer, everyCall), debugTransactionCall(txHash, tracer, everyCall)]
	try {
		const [raw] = await askAll(rpc, [whole], signal)
		const tree = (await readDebugBlock(raw, block, reading)).traces.get(txHash)
		if (tree !== undefined) return tree
	} catch (error) {
		if (!(error instanceof RpcError) || !mayAskAlone(error, true)) throw error
	}
	const [raw] = await askAll(rpc, [alone], signal)
	return readTrace(raw, txHash, reading)
}
