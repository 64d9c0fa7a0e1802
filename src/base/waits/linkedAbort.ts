import { setMaxListeners } from 'node:events'
import { isLowPriority, makeLowPriority } from './priority.js'

/** A signal that is aborted with the caller's signal, or earlier by `abort`. */
export interface LinkedAbort {
	readonly signal: AbortSignal
	abort(reason?: unknown): void
	/** Removes the listener from the caller's signal. Every code path must call it. */
	release(): void
}

/**
 * Replaces AbortSignal.any: on Node 20 that leaks 57 bytes for each derived signal in the list of a long-lived parent.
 */
export function linkedAbort(caller: AbortSignal): LinkedAbort {
	const own = new AbortController()
	if (isLowPriority(caller)) makeLowPriority(own.signal)
	const follow = () => own.abort(caller.reason)
	// Every request under way listens to the same signal; a large number of listeners is no leak.
	setMaxListeners(0, caller)
	if (caller.aborted) follow()
	else caller.addEventListener('abort', follow, { once: true })
	return {
		signal: own.signal,
		abort: (reason) => own.abort(reason),
		release: () => caller.removeEventListener('abort', follow),
	}
}
