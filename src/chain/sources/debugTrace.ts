import { createTimeSlices, type TimeSlices } from '../../base/timeSlices.js'
import { numbersOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { Hash } from '../../model/glossary.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { keptOf } from '../traces/assemble.js'
import { readCalls } from '../traces/callTracer.js'
import { type Placed, readPlaced } from '../traces/parityRows.js'
import { readInTurns } from '../traces/readRows.js'
import { type Rows, rowsIn } from '../traces/rows.js'
import { treeOfRows } from '../traces/rowTree.js'
import { framesOf, type Tree } from '../traces/tree.js'
import { type Header, hash, hexOf, isObject, malformed, type Reading, unsettled } from '../wire.js'
import { askAll } from './ask.js'
import { askByTransaction, isTooMuchAtOnce } from './byTransaction.js'
import { headerCalls, readHeaders } from './headers.js'
import type { Hit } from './receipts.js'
import { completeSpan, type ScannedSpan } from './scannedSpan.js'
import type { ReadRequest, Source, SourceOptions } from './source.js'

export type Tracer = 'flatCallTracer' | 'callTracer'

export interface DebugTraceOptions extends SourceOptions {
	readonly tracer: (rpc: Rpc) => Tracer
}

/**
 * `debug_traceBlockByNumber`, for nodes without trace methods: geth and its kin. The answer names no block, so its
 * transactions are checked against the header's list; a block without any is not asked for (geth does not trace
 * genesis). Rewards are not in it.
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
				...(options.onUnknown && { onUnknown: options.onUnknown }),
			}
			const scanned = await scanSpan(request, options, reading, signal)
			return completeSpan(scanned, request, 'debug', options, reading, signal)
		},
	}
}

/**
 * Looks at all blocks of a span. A function of its own, so that the traces are gone with it: who waits for receipts
 * would keep them all that time.
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
	const calls = full.map((block) => debugCall(block.number, tracer(rpc)))
	const answers = await askAll(rpc, calls, signal).catch(async (error: unknown) => {
		const [block] = full
		if (full.length !== 1 || block === undefined || !isTooMuchAtOnce(error)) throw error
		const callFor = (txHash: string) => debugTransactionCall(txHash, tracer(rpc))
		const results = await askByTransaction(rpc, block, callFor, signal)
		return [results.map((result, index) => ({ txHash: block.txHashes[index], result }))]
	})
	const slices = createTimeSlices(rpc.progress.note)
	const hits: Hit[] = []
	let rows = 0
	const uncovered: { block: Header; missing: readonly Hash[] }[] = []
	for (const [index, block] of full.entries()) {
		const { traces, missing } = await readDebugBlock(answers[index], block, slices, reading)
		if (missing.length > 0) uncovered.push({ block, missing })
		for (const [txHash, tree] of traces) {
			rows += tree.frames.length
			const frames = await framesOf(tree, slices, keptOf(addresses, withSent))
			if (frames.length > 0) hits.push({ txHash, txIndex: null, block, frames })
		}
	}
	return { headers, hits, rows, uncovered }
}

export function debugCall(number: bigint, tracer: Tracer): RpcCall {
	return { method: 'debug_traceBlockByNumber', params: [hexOf(number), configOf(tracer)] }
}

function debugTransactionCall(txHash: string, tracer: Tracer): RpcCall {
	return { method: 'debug_traceTransaction', params: [txHash, configOf(tracer)] }
}

function configOf(tracer: Tracer): object {
	// geth's flat tracer leaves out calls to precompiled contracts even when they carry value.
	return tracer === 'flatCallTracer' ? { tracer, tracerConfig: { includePrecompiles: true } } : { tracer }
}

/** An entry of the answer may be an error, in the node's own words. */
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
 * the wrapper (Moonbeam, some of Avalanche's kin).
 */
export async function readDebugBlock(
	raw: unknown,
	block: Header,
	slices: TimeSlices,
	reading: DebugReading,
): Promise<DebugBlock> {
	// Of a block that it has just got a node may have no traces yet.
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
		// No row at all: not traced, as a state sync of Polygon's.
		const rows = rowsIn(trace)
		if (rows?.length === 0) continue
		const tree = rows === null ? readCalls(trace, slices, reading) : readFlat(rows, itsHash, slices, reading)
		traces.set(itsHash, await tree)
	}
	return { traces, missing: block.txHashes.filter((txHash) => !traces.has(txHash)) }
}

/** The trace of one transaction as it came: rows, or nested calls. */
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

async function readFlat(raw: Rows, txHash: Hash, slices: TimeSlices, reading: Reading): Promise<Tree> {
	const rows = await readInTurns<Placed>(raw, readPlaced, { slices, reading })
	return treeOfRows(rows, txHash, slices, reading)
}

/** The node could not trace one transaction: for want of time, or because it lacks the tracer. */
function untraced(error: unknown, index: number, { endpoint, method, words }: DebugReading): RpcError {
	const text = words(isObject(error) ? error.message : error) || 'no reason is given'
	const kind = /time ?out|deadline/i.test(text) ? 'timeout' : /tracer/i.test(text) ? 'unsupported' : 'server'
	return new RpcError(`${endpoint}: ${method}: transaction ${index} could not be traced: ${text}`, {
		kind,
		endpoint,
		method,
	})
}
