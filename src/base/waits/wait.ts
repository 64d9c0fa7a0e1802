/** The room holds what waits, and what limits or yields: deadlines, backoff, slots, clocks. This file: waits. */

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** The longest delay of a timer: 31 bits of milliseconds. */
const longestMs = 2 ** 31 - 1

/** Waits `ms`. Throws the signal's reason when it is aborted. */
export async function waitMs(ms: number, signal: AbortSignal): Promise<void> {
	await sleep(Math.min(ms, longestMs), undefined, { signal }).catch(() => signal.throwIfAborted())
}

/** Waits `ms` or until the signal is aborted; never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
	await waitMs(ms, signal).catch(() => undefined)
}

/**
 * Waits for a promise that other callers also wait for. Throws the signal's reason when the signal is aborted first.
 */
export function unlessAborted<T>(turn: Promise<T>, signal: AbortSignal): Promise<T> {
	// Every request under way listens to the same signal; a large number of listeners is no leak.
	setMaxListeners(0, signal)
	signal.throwIfAborted()
	return new Promise((resolve, reject) => {
		const abort = () => reject(signal.reason)
		signal.addEventListener('abort', abort, { once: true })
		turn.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
	})
}

/** Waits until the promise is resolved, at most `ms`. */
export async function atMost(done: Promise<unknown>, ms: number): Promise<void> {
	let timer: NodeJS.Timeout | undefined
	const enough = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, ms)
	})
	await Promise.race([done, enough])
	clearTimeout(timer)
}
