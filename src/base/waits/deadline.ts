/** Runs jobs that end with the caller's signal or at a deadline. The caller decides what a missed deadline means. */

import { linkedAbort } from './linkedAbort.js'

/**
 * The reason of a signal made by `signalWithin`. It is not an RpcError: work that was cut off does not count as a
 * failed call.
 */
export class DeadlinePassed extends Error {
	override readonly name = 'DeadlinePassed'
	readonly afterMs: number

	constructor(afterMs: number) {
		super(`not done within ${afterMs} ms`)
		this.afterMs = afterMs
	}
}

/**
 * A timer that fires at least 50 ms late shows that the process itself stood still (the machine was suspended, or
 * busy). What arrived meanwhile is not read yet, so the deadline moves by the time lost, at most 3 times.
 */
const LATE_MS = 50
const MOST_STANDSTILLS = 3

/**
 * Runs a job with a signal that is aborted with the caller's signal, or after `ms` in which this process ran.
 * `atLeast(ms)` extends the deadline to at least `ms` from now. After the deadline the result is that of `late`, which
 * may throw; this function has no timeout error of its own, since one could reach a user. Throws the reason of the
 * caller's signal whenever that is aborted, whatever error the job threw.
 */
export async function withDeadline<T, L = never>(
	ms: number,
	job: (signal: AbortSignal, atLeast: (ms: number) => void) => Promise<T>,
	late: () => L,
	signal: AbortSignal,
): Promise<T | L> {
	signal.throwIfAborted()
	const deadline = linkedAbort(signal)
	let timer: NodeJS.Timeout | undefined
	let endsAtMs = Number.NEGATIVE_INFINITY
	let standstills = 0
	const arm = (waitMs: number) => {
		clearTimeout(timer)
		timer = setTimeout(timeIsUp, waitMs)
		endsAtMs = performance.now() + waitMs
	}
	const timeIsUp = () => {
		const lateMs = performance.now() - endsAtMs
		if (lateMs < LATE_MS || standstills === MOST_STANDSTILLS) return deadline.abort()
		standstills += 1
		arm(Math.min(lateMs, ms))
	}
	const atLeast = (more: number) => {
		if (performance.now() + more > endsAtMs) arm(more)
	}
	arm(ms)
	try {
		return await job(deadline.signal, atLeast)
	} catch (error) {
		signal.throwIfAborted()
		if (!deadline.signal.aborted) throw error
		return late()
	} finally {
		clearTimeout(timer)
		deadline.release()
	}
}

/**
 * A signal that is aborted with the caller's signal, or after `ms` with DeadlinePassed. For work whose partial results
 * count. Callers check `aborted` when they catch an error.
 *
 * AbortSignal.timeout is not used: on Node 20 a garbage collection may lose it before it fires.
 */
export function signalWithin(ms: number, signal: AbortSignal): AbortSignal {
	const deadline = linkedAbort(signal)
	const timer = setTimeout(() => deadline.abort(new DeadlinePassed(ms)), ms).unref()
	const end = () => {
		clearTimeout(timer)
		deadline.release()
	}
	if (deadline.signal.aborted) end()
	else deadline.signal.addEventListener('abort', end, { once: true })
	return deadline.signal
}
