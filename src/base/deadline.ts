/** Jobs that end: with the caller's signal, or when their time is up. */

import { setMaxListeners } from 'node:events'

/** The time was up before the job was done. */
export class DeadlinePassed extends Error {
	override readonly name = 'DeadlinePassed'
}

/**
 * Runs a job with a signal that is aborted with the caller's or after `ms`; the job may ask for at least so much time
 * from now on. Throws DeadlinePassed, or the reason of the caller's signal, whatever the job made of it.
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
	let timer = setTimeout(end, ms)
	let endsAtMs = performance.now() + ms
	const atLeast = (more: number) => {
		if (performance.now() + more <= endsAtMs) return
		clearTimeout(timer)
		timer = setTimeout(end, more)
		endsAtMs = performance.now() + more
	}
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
