import { RpcError } from '../../errors.js'
import { misread } from '../rpc/border.js'
import type { Rpc } from '../rpc/rpc.js'
import { debugCall, readDebugBlock, type Tracer } from '../sources/debugTrace.js'
import type { Header } from '../wire/wire.js'
import { type Finding, findingOf, findingOfAnswers, fine, notAsked } from './capabilities.js'
import { askOfEach, checkCoverage, checkEach } from './eachBlock.js'

/** For nodes without trace methods. callTracer is tried first, because most nodes have it. */
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
		// A wrong answer tells more than a missing tracer.
		if (worst.ability !== 'wrong') worst = finding
		// Blocks that are too much for one tracer are too much for the other.
		if (finding.passing === true) break
	}
	return { finding: worst, tracer: null }
}

/** Checks every block, because an old geth is malformed only where a contract self-destructs. */
async function tryTracer(rpc: Rpc, blocks: readonly Header[], tracer: Tracer, signal: AbortSignal): Promise<Finding> {
	const reading = { endpoint: rpc.endpoint, method: 'debug_traceBlockByNumber', words: rpc.words }
	try {
		const answered = await askOfEach(rpc, blocks, ({ number }) => debugCall(number, tracer), signal)
		/** Blocks of which some transactions have a trace. The others are asked for alone. */
		let partly = 0
		const look = async ({ block, answer }: { readonly block: Header; readonly answer: unknown }) => {
			const { missing } = await readDebugBlock(answer, block, reading)
			if (missing.size > 0 && missing.size < block.txHashes.length) partly++
			await checkCoverage(rpc, { block, missing }, reading, signal)
		}
		const { good, failure } = await checkEach(answered, look, reading)
		if (failure === null) return fine
		return findingOfAnswers(reading.method, failure, failure.kind === 'malformed' ? 0 : good + partly)
	} catch (thrown) {
		signal.throwIfAborted()
		return findingOf(reading.method, misread(thrown, reading))
	}
}

/** Without a transaction to trace, only a missing method can be recognised. */
async function probeDebugBlindly(rpc: Rpc, signal: AbortSignal): Promise<{ finding: Finding; tracer: Tracer | null }> {
	const { method, params } = debugCall(0n, 'callTracer')
	const [answer] = await rpc.batch([{ method, params }], signal).catch((error: unknown) => [error])
	if (answer instanceof Error && !(answer instanceof RpcError)) throw answer
	const isThere = !(answer instanceof RpcError) || (answer.kind !== 'unsupported' && answer.kind !== 'auth')
	if (isThere) return { finding: notAsked, tracer: 'callTracer' }
	return { finding: findingOf(method, answer), tracer: null }
}
