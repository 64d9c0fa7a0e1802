import { createTimeSlices } from '../../base/timeSlices.js'
import { RpcError } from '../../errors.js'
import { misread } from '../rpc/border.js'
import type { Rpc } from '../rpc/rpc.js'
import { debugCall, readDebugBlock, type Tracer } from '../sources/debugTrace.js'
import { checkCoverage } from '../sources/headers.js'
import type { Header } from '../wire.js'
import { type Finding, findingOf, fine, notAsked } from './capabilities.js'
import { askOfEach } from './eachBlock.js'

/** For nodes without trace methods. callTracer first: it is the one that most nodes have. */
export async function probeDebug(
	rpc: Rpc,
	blocks: readonly Header[],
	signal: AbortSignal,
): Promise<{ readonly finding: Finding; readonly tracer: Tracer | null }> {
	if (blocks.length === 0) return probeDebugBlindly(rpc, signal)
	let worst: Finding = notAsked
	for (const tracer of ['callTracer', 'flatCallTracer'] as const) {
		const finding = await tryTracer(rpc, blocks, tracer, signal)
		if (finding.ability === 'yes') return { finding, tracer }
		// A wrong answer says more than that the other one is not there.
		if (worst.ability !== 'wrong') worst = finding
		// Blocks that are too much for one are too much for the other.
		if (finding.passing === true) break
	}
	return { finding: worst, tracer: null }
}

/** On every block: an old geth is wrong only where a contract ends. */
async function tryTracer(rpc: Rpc, blocks: readonly Header[], tracer: Tracer, signal: AbortSignal): Promise<Finding> {
	const reading = { endpoint: rpc.endpoint, method: 'debug_traceBlockByNumber', words: rpc.words }
	try {
		const answered = await askOfEach(rpc, blocks, ({ number }) => debugCall(number, tracer), signal)
		for (const { block, answer } of answered) {
			const { missing } = await readDebugBlock(answer, block, createTimeSlices(), reading)
			if (missing.length > 0) await checkCoverage(rpc, [{ block, missing }], reading, signal)
		}
		return fine
	} catch (thrown) {
		signal.throwIfAborted()
		const error = misread(thrown, reading)
		return error.kind === 'unsettled' ? { ability: 'wrong', why: error.message } : findingOf(reading.method, error)
	}
}

/** There is no transaction to trace yet: only a method that is not there shows. */
async function probeDebugBlindly(rpc: Rpc, signal: AbortSignal): Promise<{ finding: Finding; tracer: Tracer | null }> {
	const { method, params } = debugCall(0n, 'callTracer')
	const [answer] = await rpc.batch([{ method, params }], signal).catch((error: unknown) => [error])
	if (answer instanceof Error && !(answer instanceof RpcError)) throw answer
	const isThere = !(answer instanceof RpcError) || (answer.kind !== 'unsupported' && answer.kind !== 'auth')
	if (isThere) return { finding: notAsked, tracer: 'callTracer' }
	return { finding: findingOf(method, answer), tracer: null }
}
