import { withDeadline } from '../../base/waits/deadline.js'
import { linkedAbort } from '../../base/waits/linkedAbort.js'
import { RpcError } from '../../errors.js'
import { misread } from '../rpc/border.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { type Uncovered, withoutStateSyncs } from '../sources/askAlone.js'
import { type Reading, unsettled } from '../wire/wire.js'

/** After one block was answered, wait 500 ms for the others: one is enough to prove a method. */
const graceMs = 500

/**
 * Asks the same about several blocks; resolves to the answers that came, in order. A block that a node cannot handle,
 * perhaps by an attacker's doing, says nothing about other blocks. Throws the first failure if no block was answered,
 * or if the method or the endpoint is refused.
 */
export async function askOfEach<B>(
	rpc: Rpc,
	blocks: readonly B[],
	callOf: (block: B) => RpcCall,
	signal: AbortSignal,
): Promise<readonly { readonly block: B; readonly answer: unknown }[]> {
	let answers = await askTogether(blocks.length > 1 ? soon(rpc) : rpc, blocks.map(callOf), signal)
	// One of the blocks may have made the whole request fail.
	if (blocks.length > 1 && answers.every(isOfBlock)) answers = await askAlone(rpc, blocks.map(callOf), signal)
	const failures = answers.filter((answer) => answer instanceof RpcError)
	const [first] = failures
	if (first !== undefined && (failures.length === answers.length || !failures.every(isOfBlock))) throw first
	return blocks.flatMap((block, index) => {
		const answer = answers[index]
		return answer instanceof RpcError ? [] : [{ block, answer }]
	})
}

/**
 * Checks each answer; `good` is the number that passed. One block with a wrong answer says little about others.
 * `failure` is the first failure; errors that are not about the answer are thrown.
 */
export async function checkEach<A>(
	answered: readonly A[],
	check: (one: A) => Promise<void>,
	reading: Reading,
): Promise<{ readonly good: number; readonly failure: RpcError | null }> {
	let good = 0
	let failure: RpcError | null = null
	for (const one of answered) {
		try {
			await check(one)
			good++
		} catch (thrown) {
			const error = misread(thrown, reading)
			if (error.kind !== 'unsettled' && error.kind !== 'malformed') throw error
			failure ??= error
		}
	}
	return { good, failure }
}

/** Throws `malformed` or `unsettled` where a transaction has no trace, unless it needs none. */
export async function checkCoverage(
	rpc: Rpc,
	uncovered: Uncovered,
	reading: Reading,
	signal: AbortSignal,
): Promise<void> {
	const [left] = uncovered.missing.size === 0 ? [] : await withoutStateSyncs(rpc, [uncovered], signal)
	if (left === undefined) return
	throw left.why?.kind === 'malformed'
		? left.why
		: unsettled(reading, left.why?.message ?? `transaction ${left.txHash} is missing`)
}

/** Deadline for several blocks together, or for one with alternatives: a block without an answer delays all others. */
const togetherMs = 1_000

/** The same endpoint with a short deadline, for requests that can be made differently afterwards. */
export function soon(rpc: Rpc): Rpc {
	return within(rpc, togetherMs)
}

/** Sends all calls in one request; if that fails because of a block, every call counts as failed. */
export async function askTogether(
	rpc: Rpc,
	calls: readonly RpcCall[],
	signal: AbortSignal,
): Promise<readonly unknown[]> {
	try {
		return await rpc.batch(calls, signal)
	} catch (error) {
		signal.throwIfAborted()
		if (!isOfBlock(error)) throw error
		return calls.map(() => error)
	}
}

/** Sends each call in a request of its own, all at the same time. */
async function askAlone(rpc: Rpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
	const answers: unknown[] = calls.map(({ method }) => late(rpc, method))
	// Ends when all have ended, or 500 ms after the first was answered.
	const enough = linkedAbort(signal)
	let timer: NodeJS.Timeout | undefined
	const asked = calls.map(async (call, index) => {
		try {
			answers[index] = (await askTogether(rpc, [call], enough.signal))[0]
		} catch (error) {
			if (!enough.signal.aborted) answers[index] = error
		}
		if (!(answers[index] instanceof RpcError)) timer ??= setTimeout(enough.abort, graceMs)
	})
	try {
		await Promise.all(asked)
		signal.throwIfAborted()
	} finally {
		clearTimeout(timer)
		enough.release()
	}
	for (const answer of answers) if (answer instanceof Error && !(answer instanceof RpcError)) throw answer
	return answers
}

/** Whether a failure may be due to this block only. */
export function isOfBlock(answer: unknown): boolean {
	if (!(answer instanceof RpcError)) return false
	const { kind, facts } = answer
	if (kind === 'server') return facts.status !== undefined && facts.status < 500
	return kind === 'timeout' || kind === 'too-large' || kind === 'no-data'
}

/** The same endpoint with a deadline of `ms`, extended as its limits say; then a call fails with `timeout`. */
export function within(rpc: Rpc, ms: number): Rpc {
	const limited = <T>(method: string, job: (until: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> => {
		const fail = () => {
			throw late(rpc, method)
		}
		return withDeadline(rpc.limits.allowance(ms), job, fail, signal)
	}
	return {
		...rpc,
		call: (method, params, signal) => limited(method, (until) => rpc.call(method, params, until), signal),
		batch: (calls, signal) => limited(calls[0]?.method ?? 'batch', (until) => rpc.batch(calls, until), signal),
	}
}

function late({ endpoint }: Rpc, method: string): RpcError {
	return new RpcError(`${endpoint} did not answer ${method} in the time that a trial has`, {
		kind: 'timeout',
		endpoint,
		method,
	})
}
