/**
 * Records what came of attempts. A write that fails (full disk) is tried again; until then its deliveries stay claimed,
 * so that nothing is sent twice. The store joins writes that arrive together.
 */

import { backoffMs } from '../../base/waits/backoff.js'
import { pause } from '../../base/waits/wait.js'
import { StateError } from '../../errors.js'
import type { Delivery, Resolution } from '../../model/delivery.js'
import type { Log, Store } from '../../model/ports.js'

export type Recorder = ReturnType<typeof createRecorder>

const FIRST_WAIT_MS = 500
const MOST_WAIT_MS = 30_000

/** `patienceMs`: how long a write is retried after its first failure. */
export function createRecorder(store: Store, log: Log, patienceMs = Number.POSITIVE_INFINITY) {
	let isTroubled = false
	let limitAtMs = Number.POSITIVE_INFINITY
	let nap = new AbortController()

	return {
		/**
		 * Resolves when all of it is durable, in one write; rejects with the store's error after `patienceMs`, at once
		 * where another instance has taken over.
		 */
		async record(resolutions: readonly Resolution[], post: readonly Delivery[] = []): Promise<void> {
			let giveUpAtMs = Number.POSITIVE_INFINITY
			for (let failures = 0; ; ) {
				try {
					await store.resolve(resolutions, post)
					if (isTroubled) log.info({}, 'the results of deliveries can be recorded again')
					isTroubled = false
					return
				} catch (error) {
					const nowMs = performance.now()
					if (failures === 0) giveUpAtMs = nowMs + patienceMs
					if (!isTroubled) log.error({ err: error }, 'the results of deliveries cannot be recorded; trying again')
					isTroubled = true
					const isLost = error instanceof StateError && error.reason === 'lost'
					const leftMs = isLost ? 0 : Math.min(giveUpAtMs, limitAtMs) - nowMs
					if (leftMs <= 0) throw error
					failures += 1
					await pause(Math.min(backoffMs(failures, FIRST_WAIT_MS, MOST_WAIT_MS), leftMs), nap.signal)
				}
			}
		},
		/** Gives up writes that do not succeed within `limitMs` from now. */
		finish(limitMs: number): void {
			limitAtMs = performance.now() + limitMs
			nap.abort()
			nap = new AbortController()
		},
	}
}
