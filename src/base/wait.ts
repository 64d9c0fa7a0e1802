/**
 * The room is a leaf: one small thing a file, which more than one room needs and which knows nothing of any of them.
 * Here: waits that end with a signal.
 */

import { setTimeout as sleep } from 'node:timers/promises'

/** Timers hold 31 bits of milliseconds. */
const longestMs = 2 ** 31 - 1

/** Throws the signal's reason. */
export async function waitMs(ms: number, signal: AbortSignal): Promise<void> {
	await sleep(Math.min(ms, longestMs), undefined, { signal }).catch(() => signal.throwIfAborted())
}

/** Resolves when the time is over or the signal aborts; never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
	await waitMs(ms, signal).catch(() => undefined)
}
