import { numbersOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { CalledFunctions } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { askAll, headerCalls, readHeaders } from '../blocks/batchedCalls.js'
import type { Hit } from '../blocks/receipts.js'
import { misread } from '../rpc/border.js'
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
import { type AskOne, mayAskAlone, refused, type Uncovered } from './askAlone.js'
import { completeSpan, type ScannedSpan } from './scannedSpan.js'
import type { ReadRequest, Source, SourceOptions } from './source.js'

export type Tracer = 'flatCallTracer' | 'callTracer'

export interface DebugTraceOptions extends SourceOptions {
	readonly tracer: (rpc: Rpc) => Tracer
}

/**
 * `debug_traceBlockByNumber`, for nodes without trace methods: geth and its forks. The answer names no block, so its
 * transactions are compared with the header's list. Blocks without transactions are not asked for (geth does not
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
				...(options.onForeign && { onForeign: options.onForeign }),
			}
			const scanned = await scanSpan(request, options, reading, signal)
			return completeSpan(scanned, request, { tracing: 'debug', options, reading }, signal)
		},
	}
}

/** A function of its own, so that the traces are freed on return and not held while receipts are awaited. */
async function scanSpan(
	{ rpc, span, addresses, last }: ReadRequest,
	{ tracer, mayLack = false }: DebugTraceOptions,
	reading: DebugReading,
	signal: AbortSignal,
): Promise<ScannedSpan> {
	const numbers = [...numbersOf(span)]
	const headerAnswers = await askAll(rpc, headerCalls(numbers, last), signal)
	const headers = readHeaders(headerAnswers, numbers, last, rpc.endpoint)
	const full = headers.filter((block) => block.txHashes.length > 0)
	const calls = full.map((block) => debugCall(block.number, tracer(rpc), addresses.calls))
	const isAlone = (error: unknown) => full.length === 1 && error instanceof RpcError && mayAskAlone(error, mayLack)
	const answers = await askAll(rpc, calls, signal).catch((error: unknown) => {
		if (!isAlone(error)) throw error
		return [error]
	})
	const entered = createEnteredNotes(addresses)
	const hitOf = async (tree: Tree, txHash: Hash, block: Header): Promise<Hit | null> => {
		const onFrame = (frame: PlacelessFrame) => entered.note(frame, block, txHash)
		const frames = await framesOf(tree, keptOf(addresses, onFrame))
		return frames.length === 0 ? null : { txHash, txIndex: null, block, frames }
	}
	const hits: Hit[] = []
	let rows = 0
	const uncovered: Uncovered[] = []
	for (const [index, block] of full.entries()) {
		const answer = answers[index]
		const traced = await rpc.progress
			.during(async () => {
				if (answer instanceof RpcError) throw answer
				return readDebugBlock(answer, block, reading)
			})
			.catch((error: unknown) => {
				if (!isAlone(error)) throw error
				return { traces: new Map<Hash, Tree>(), ...refused(block, error as RpcError) }
			})
		if (traced.missing.size > 0 || traced.hasForeign) uncovered.push({ ...traced, block })
		for (const [txHash, tree] of traced.traces) {
			rows += tree.frames.length
			const hit = await hitOf(tree, txHash, block)
			if (hit !== null) hits.push(hit)
		}
	}
	const askOne: AskOne = {
		callFor: (txHash) => debugTransactionCall(txHash, tracer(rpc), addresses.calls),
		read: async (raw, txHash, block) => hitOf(await readTrace(raw, txHash, reading), txHash, block),
	}
	return { headers, hits, rows, uncovered, askOne, touched: entered.all }
}

export function debugCall(number: bigint, tracer: Tracer, calls?: CalledFunctions): RpcCall {
	return { method: 'debug_traceBlockByNumber', params: [hexOf(number), configOf(tracer)], calls }
}

export function debugTransactionCall(txHash: string, tracer: Tracer, calls?: CalledFunctions): RpcCall {
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
	/** Transactions of the header that the answer lacks or refuses. */
	readonly missing: Uncovered['missing']
	/** The answer has transactions that the header does not name. They are ignored. */
	readonly hasForeign?: boolean
}

/** `[{txHash, result}]`, without txHash on older nodes (by place), or bare (Moonbeam, some forks of Avalanche). */
export async function readDebugBlock(raw: unknown, block: Header, reading: DebugReading): Promise<DebugBlock> {
	// A node may have no traces yet of a block that it has just received.
	if (raw === null) throw unsettled(reading, `block ${block.number} has no traces yet`)
	const entries = rowsIn(raw)
	if (entries === null) throw malformed(reading, 'the result is not a list')
	const listed = new Set(block.txHashes)
	const isPlaced = entries.length === block.txHashes.length
	const traces = new Map<Hash, Tree>()
	const refusals = new Map<Hash, RpcError>()
	let [foreign, unnamed] = [0, 0]
	for (let index = 0; index < entries.length; index++) {
		const entry = entries.at(index)
		const txHash = hashOf(entry) ?? (isPlaced ? block.txHashes[index] : undefined)
		if (txHash === undefined) {
			unnamed++
			continue
		}
		if (!listed.has(txHash)) {
			foreign++
			continue
		}
		try {
			const trace = openEntry(entry, index, reading)
			// An empty list means that the node did not trace it, as with Polygon's state sync.
			if (rowsIn(trace)?.length === 0) continue
			traces.set(txHash, await readTrace(trace, txHash, reading))
		} catch (thrown) {
			refusals.set(txHash, misread(thrown, reading))
		}
	}
	// Where others are named, an entry without a hash is of no transaction of this block.
	if (unnamed > 0 && unnamed + foreign === entries.length) {
		const count = block.txHashes.length
		throw unsettled(reading, `${entries.length} traces came for the ${count} transactions of ${block.number}`)
	}
	foreign += unnamed
	if (foreign > 0) reading.onForeign?.(block.number, foreign)
	const missing = block.txHashes.filter((txHash) => !traces.has(txHash))
	return {
		traces,
		missing: new Map(missing.map((txHash) => [txHash, refusals.get(txHash) ?? null])),
		hasForeign: foreign > 0,
	}
}

function hashOf(entry: unknown): Hash | null {
	return isObject(entry) && rowsIn(entry) === null ? hash(entry.txHash ?? entry.transactionHash) : null
}

/** The trace of one transaction as the node sent it: rows, or nested calls. */
function openEntry(entry: unknown, index: number, reading: DebugReading): unknown {
	if (rowsIn(entry) !== null) return entry
	if (!isObject(entry)) throw malformed(reading, `trace ${index} is not an object`)
	const isBare = typeof entry.type === 'string'
	// Some write an empty error beside a result.
	if (!isBare && entry.error !== undefined && entry.error !== null && entry.error !== '')
		throw untraced(entry.error, index, reading)
	const trace = isBare ? entry : entry.result
	if (trace === undefined || trace === null) throw malformed(reading, `trace ${index} has no result`)
	return trace
}

export async function readTrace(trace: unknown, txHash: Hash, reading: DebugReading): Promise<Tree> {
	const rows = rowsIn(trace)
	if (rows === null) return readCalls(trace, reading)
	if (rows.length === 0) throw unsettled(reading, `transaction ${txHash} has no frames`)
	return readFlat(rows, txHash, reading)
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
