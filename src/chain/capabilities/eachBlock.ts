import { DeadlinePassed, withDeadline } from '../../base/deadline.js'
import { RpcError } from '../../errors.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'

/** When one block was answered, how long the others are waited for: one is enough to prove a method by. */
const graceMs = 500

/**
 * Asks the same of several blocks; those that were answered, in order. One block that a node cannot bear, by a
 * stranger's doing, says nothing of what it does with all others. Throws the first failure where none was answered, or
 * where the method or the endpoint is refused.
 */
export async function askOfEach<B>(
	rpc: Rpc,
	blocks: readonly B[],
	callOf: (block: B) => RpcCall,
	signal: AbortSignal,
): Promise<readonly { readonly block: B; readonly answer: unknown }[]> {
	let answers = await askTogether(blocks.length > 1 ? soon(rpc) : rpc, blocks.map(callOf), signal)
	// One of them may have spoilt it for all.
	if (blocks.length > 1 && answers.every(isOfBlock)) answers = await askAlone(rpc, blocks.map(callOf), signal)
	const failures = answers.filter((answer) => answer instanceof RpcError)
	const [first] = failures
	if (first !== undefined && (failures.length === answers.length || !failures.every(isOfBlock))) throw first
	return blocks.flatMap((block, index) => {
		const answer = answers[index]
		return answer instanceof RpcError ? [] : [{ block, answer }]
	})
}

/** How long all are waited for together, and one where others may do: a block that is never answered holds up all. */
const togetherMs = 1_000

/** The same endpoint, for what can be asked otherwise when it is not answered soon. */
export function soon(rpc: Rpc): Rpc {
	return within(rpc, togetherMs)
}

/** In one request; where that is too much, by some block's doing, each call has failed by itself. */
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

/** Each in a request of its own, all at the same time. */
async function askAlone(rpc: Rpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
	const answers: unknown[] = calls.map(({ method }) => late(rpc, method))
	// Ends when all have ended, or a while after the first was answered.
	const enough = new AbortController()
	const stop = () => enough.abort(signal.reason)
	signal.addEventListener('abort', stop, { once: true })
	let timer: NodeJS.Timeout | undefined
	const asked = calls.map(async (call, index) => {
		try {
			answers[index] = (await askTogether(rpc, [call], enough.signal))[0]
		} catch (error) {
			if (!enough.signal.aborted) answers[index] = error
		}
		if (!(answers[index] instanceof RpcError)) timer ??= setTimeout(stop, graceMs)
	})
	try {
		await Promise.all(asked)
		signal.throwIfAborted()
	} finally {
		clearTimeout(timer)
		signal.removeEventListener('abort', stop)
	}
	for (const answer of answers) if (answer instanceof Error && !(answer instanceof RpcError)) throw answer
	return answers
}

/** Whether a failure may be this one block's. */
export function isOfBlock(answer: unknown): boolean {
	if (!(answer instanceof RpcError)) return false
	const { kind, facts } = answer
	if (kind === 'server') return facts.status !== undefined && facts.status < 500
	return kind === 'timeout' || kind === 'too-large' || kind === 'no-data'
}

/** The same endpoint, where no answer is waited for longer than this, or as its limits say: then it is a timeout. */
export function within(rpc: Rpc, ms: number): Rpc {
	const limited = async <T>(method: string, job: (until: AbortSignal) => Promise<T>, signal: AbortSignal) => {
		try {
			return await withDeadline(rpc.limits.patience(ms), job, signal)
		} catch (error) {
			if (error instanceof DeadlinePassed) throw late(rpc, method)
			throw error
		}
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
