import { numbersOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { CalledFunctions } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { askAll } from '../blocks/batchedCalls.js'
import { headerCalls, readHeaders } from '../blocks/headers.js'
import type { Hit } from '../blocks/receipts.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { keptOf } from '../traces/assemble.js'
import { readCalls } from '../traces/callTracer.js'
import { createEnteredNotes } from '../traces/entered.js'
import { type Placed, readPlaced } from '../traces/parityRows.js'
import { readInTurns } from '../traces/readRows.js'
import { treeOfRows } from '../traces/rowTree.js'
import { type Rows, rowsIn } from '../traces/traceRows.js'
import { framesOf, type PlacelessFrame, type Tree } from '../traces/tree.js'
import { type Header, hash, hexOf, isObject, malformed, type Reading, unsettled } from '../wire/wire.js'
import { askByTransaction, isTooMuchAtOnce } from './byTransaction.js'
import { completeSpan, type ScannedSpan } from './scannedSpan.js'
import type { ReadRequest, Source, SourceOptions } from './source.js'

export type Tracer = 'flatCallTracer' | 'callTracer'

export interface DebugTraceOptions extends SourceOptions {
	readonly tracer: (rpc: Rpc) => Tracer
}

/**
 * `debug_traceBlockByNumber`, for nodes without trace methods: geth and its forks. The answer names no block, so its
 * transactions are checked against the header's list. Blocks without transactions are not asked for (geth does not
 * trace genesis). Rewards are not in the answer.
 */
export function debugTraceSource(options: DebugTraceOptions): Source {
	return {
		name: 'debug_traceBlockByNumber',
		async read(request, signal) {
			const { rpc } = request
			const reading: DebugReading = {
				endpoint: rpc.endpoint,
				method: 'debug_traceBlockByNumber',
				words: rpc.words,
				calls: request.addresses.calls,
				...(options.onUnknown && { onUnknown: options.onUnknown }),
			}
			const scanned = await scanSpan(request, options, reading, signal)
			return completeSpan(scanned, request, { tracing: 'debug', options, reading }, signal)
		},
	}
}

/**
 * Reads all blocks of a span. It is a function of its own so that the traces are freed on return; the caller would hold
 * them while it waits for receipts.
 */
async function scanSpan(
	{ rpc, span, addresses, last }: ReadRequest,
	{ tracer, withSent }: DebugTraceOptions,
	reading: DebugReading,
	signal: AbortSignal,
): Promise<ScannedSpan> {
	const numbers = [...numbersOf(span)]
	const headerAnswers = await askAll(rpc, headerCalls(numbers, last), signal)
	const headers = readHeaders(headerAnswers, numbers, last, rpc.endpoint)
	const full = headers.filter((block) => block.txHashes.length > 0)
	const calls = full.map((block) => debugCall(block.number, tracer(rpc), addresses.calls))
	const answers = await askAll(rpc, calls, signal).catch(async (error: unknown) => {
		const [block] = full
		if (full.length !== 1 || block === undefined || !isTooMuchAtOnce(error)) throw error
		const callFor = (txHash: string) => debugTransactionCall(txHash, tracer(rpc), addresses.calls)
		const results = await askByTransaction(rpc, block, callFor, signal)
		return [results.map((result, index) => ({ txHash: block.txHashes[index], result }))]
	})
	const hits: Hit[] = []
	const entered = createEnteredNotes(addresses)
	let rows = 0
	const uncovered: { block: Header; missing: readonly Hash[] }[] = []
	for (const [index, block] of full.entries()) {
		const traced = rpc.progress.during(() => readDebugBlock(answers[index], block, reading))
		const { traces, missing } = await traced
		if (missing.length > 0) uncovered.push({ block, missing })
		for (const [txHash, tree] of traces) {
			rows += tree.frames.length
			const onFrame = (frame: PlacelessFrame) => entered.note(frame, block, txHash)
			const frames = await framesOf(tree, keptOf(addresses, withSent, onFrame))
			if (frames.length > 0) hits.push({ txHash, txIndex: null, block, frames })
		}
	}
	return { headers, hits, rows, uncovered, touched: entered.all() }
}

export function debugCall(number: bigint, tracer: Tracer, calls?: CalledFunctions): RpcCall {
	return { method: 'debug_traceBlockByNumber', params: [hexOf(number), configOf(tracer)], calls }
}

function debugTransactionCall(txHash: string, tracer: Tracer, calls?: CalledFunctions): RpcCall {
	return { method: 'debug_traceTransaction', params: [txHash, configOf(tracer)], calls }
}

function configOf(tracer: Tracer): object {
	// geth's flat tracer leaves out calls to precompiled contracts even when they carry value.
	return tracer === 'flatCallTracer' ? { tracer, tracerConfig: { includePrecompiles: true } } : { tracer }
}

/** An entry of the answer may be an error with the node's own words. */
export interface DebugReading extends Reading {
	readonly words: Rpc['words']
}

export interface DebugBlock {
	/** By transaction, in the order of the answer. */
	readonly traces: ReadonlyMap<Hash, Tree>
	/** Transactions of the header that the answer lacks. */
	readonly missing: readonly Hash[]
}

/**
 * Reads the traces of a block: `[{txHash, result}]`, without txHash on older nodes (the place decides then), or without
 * the wrapper (Moonbeam, some forks of Avalanche).
 */
export async function readDebugBlock(raw: unknown, block: Header, reading: DebugReading): Promise<DebugBlock> {
	// A node may have no traces yet of a block that it has just received.
	if (raw === null) throw unsettled(reading, `block ${block.number} has no traces yet`)
	const entries = rowsIn(raw)
	if (entries === null) throw malformed(reading, 'the result is not a list')
	const listed = new Set(block.txHashes)
	const traces = new Map<Hash, Tree>()
	for (let index = 0; index < entries.length; index++) {
		const { txHash, trace } = openEntry(entries.at(index), index, reading)
		const isPlaced = entries.length === block.txHashes.length
		const itsHash = txHash ?? (isPlaced ? block.txHashes[index] : undefined)
		if (itsHash === undefined) {
			const count = block.txHashes.length
			throw unsettled(reading, `${entries.length} traces came for the ${count} transactions of ${block.number}`)
		}
		if (!listed.has(itsHash)) throw unsettled(reading, `${itsHash} is not in block ${block.number}`)
		// An empty list means that the node did not trace it, as with Polygon's state sync.
		const rows = rowsIn(trace)
		if (rows?.length === 0) continue
		const tree = rows === null ? readCalls(trace, reading) : readFlat(rows, itsHash, reading)
		traces.set(itsHash, await tree)
	}
	return { traces, missing: block.txHashes.filter((txHash) => !traces.has(txHash)) }
}

/** The trace of one transaction as the node sent it: rows, or nested calls. */
function openEntry(entry: unknown, index: number, reading: DebugReading): { txHash: Hash | null; trace: unknown } {
	if (rowsIn(entry) !== null) return { txHash: null, trace: entry }
	if (!isObject(entry)) throw malformed(reading, `trace ${index} is not an object`)
	const txHash = hash(entry.txHash ?? entry.transactionHash)
	const isBare = typeof entry.type === 'string'
	if (!isBare && entry.error !== undefined && entry.error !== null) throw untraced(entry.error, index, reading)
	const trace = isBare ? entry : entry.result
	if (trace === undefined || trace === null) throw malformed(reading, `trace ${index} has no result`)
	return { txHash, trace }
}

async function readFlat(raw: Rows, txHash: Hash, reading: Reading): Promise<Tree> {
	const rows = await readInTurns<Placed>(raw, readPlaced, reading)
	return treeOfRows(rows, txHash, reading)
}

/** The node could not trace one transaction: it ran out of time or lacks the tracer. */
function untraced(error: unknown, index: number, { endpoint, method, words }: DebugReading): RpcError {
	const text = words(isObject(error) ? error.message : error) || 'no reason is given'
	const kind = /time ?out|deadline/i.test(text) ? 'timeout' : /tracer/i.test(text) ? 'unsupported' : 'server'
	return new RpcError(`${endpoint}: ${method}: transaction ${index} could not be traced: ${text}`, {
		kind,
		endpoint,
		method,
	})
}
