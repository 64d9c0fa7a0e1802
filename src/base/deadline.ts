/** Jobs that end: with the caller's signal, or when their time is up. */

import { setMaxListeners } from 'node:events'

/** The time was up before the job was done. */
export class DeadlinePassed extends Error {
	override readonly name = 'DeadlinePassed'
}

/**
 * A timer that fires so late says that this process stood still (a machine that is suspended, or has much else to do).
 * What came meanwhile is still to be read: for that there is as much time again, so often at most.
 */
const LATE_MS = 50
const MOST_STANDSTILLS = 3

/**
 * Runs a job with a signal that is aborted with the caller's or after `ms` in which this process ran; the job may ask
 * for at least so much time from now on. Throws DeadlinePassed, or the reason of the caller's signal, whatever the job
 * made of it.
 *
 * Not AbortSignal.any: on Node 20 it keeps each derived signal in the list of its long-lived parent.
 */
export async function withDeadline<T>(
	ms: number,
	job: (signal: AbortSignal, atLeast: (ms: number) => void) => Promise<T>,
	signal: AbortSignal,
): Promise<T> {
	signal.throwIfAborted()
	const deadline = new AbortController()
	const end = () => deadline.abort()
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
		if (lateMs < LATE_MS || standstills === MOST_STANDSTILLS) return end()
		standstills += 1
		arm(Math.min(lateMs, ms))
	}
	const atLeast = (more: number) => {
		if (performance.now() + more > endsAtMs) arm(more)
	}
	arm(ms)
	// Every request under way listens to the same signal; that is no leak.
	setMaxListeners(0, signal)
	signal.addEventListener('abort', end, { once: true })
	try {
		return await job(deadline.signal, atLeast)
	} catch (error) {
		signal.throwIfAborted()
		throw deadline.signal.aborted ? new DeadlinePassed(`not done within ${ms} ms`) : error
	} finally {
		clearTimeout(timer)
		signal.removeEventListener('abort', end)
	}
}

/**
 * Aborted with the caller's signal, or after `ms`; for work of which all that has come by then counts.
 *
 * Not AbortSignal.any of AbortSignal.timeout: on Node 20 nothing holds the latter, and where memory is tidied before
 * its time is up it never comes.
 */
export function signalWithin(ms: number, signal: AbortSignal): AbortSignal {
	const deadline = new AbortController()
	const end = (reason: unknown) => {
		clearTimeout(timer)
		signal.removeEventListener('abort', withCaller)
		deadline.abort(reason)
	}
	const withCaller = () => end(signal.reason)
	const timer = setTimeout(() => end(new DeadlinePassed(`not done within ${ms} ms`)), ms).unref()
	setMaxListeners(0, signal)
	if (signal.aborted) withCaller()
	else signal.addEventListener('abort', withCaller, { once: true })
	return deadline.signal
}
