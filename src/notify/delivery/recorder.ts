/**
 * Records the results of deliveries in batches, while the next attempts run. A result that cannot be written (full
 * disk) is kept and retried; until then its delivery stays claimed, so that it is not sent twice.
 */

import { backoffMs } from '../../base/waits/backoff.js'
import { pause } from '../../base/waits/wait.js'
import { StateError } from '../../errors.js'
import type { Delivery, Resolution } from '../../model/delivery.js'
import type { Log, Store } from '../../model/ports.js'

export interface Recorder {
	/**
	 * Resolves when the resolution and `post` are durable; rejects with the store's error after `patienceMs`, at once
	 * where another instance has taken over.
	 */
	record(resolution: Resolution, post?: readonly Delivery[]): Promise<void>
	/** Gives up writes that do not succeed within `limitMs` from now; resolves when none is waiting. */
	finish(limitMs: number): Promise<void>
}

interface Entry {
	readonly resolution: Resolution
	readonly post: readonly Delivery[]
	readonly done: () => void
	readonly failed: (error: unknown) => void
}

const firstWaitMs = 500
const mostWaitMs = 30_000

/** `patienceMs`: how long a write is retried after its first failure. */
export function createRecorder(store: Store, log: Log, patienceMs = Number.POSITIVE_INFINITY): Recorder {
	let waiting: Entry[] = []
	let running: Promise<void> | null = null
	let limitAtMs = Number.POSITIVE_INFINITY
	let nap = new AbortController()

	async function flush(): Promise<void> {
		// Waits one microtask, so that results that arrive together share one write.
		await Promise.resolve()
		let failures = 0
		let giveUpAtMs = Number.POSITIVE_INFINITY
		while (waiting.length > 0) {
			const batch = waiting
			waiting = []
			try {
				const resolutions = batch.map(({ resolution }) => resolution)
				await store.resolve(
					resolutions,
					batch.flatMap(({ post }) => post),
				)
				if (failures > 0) log.info({}, 'the results of deliveries can be recorded again')
				failures = 0
				giveUpAtMs = Number.POSITIVE_INFINITY
				for (const { done } of batch) done()
			} catch (error) {
				const nowMs = performance.now()
				if (failures === 0) {
					giveUpAtMs = nowMs + patienceMs
					log.error({ err: error }, 'the results of deliveries cannot be recorded; trying again')
				}
				waiting = [...batch, ...waiting]
				const isLost = error instanceof StateError && error.reason === 'lost'
				const leftMs = isLost ? 0 : Math.min(giveUpAtMs, limitAtMs) - nowMs
				if (leftMs <= 0) {
					for (const { failed } of waiting.splice(0)) failed(error)
					break
				}
				failures += 1
				await pause(Math.min(backoffMs(failures, firstWaitMs, mostWaitMs), leftMs), nap.signal)
			}
		}
		running = null
	}

	return {
		record: (resolution, post = []) =>
			new Promise((done, failed) => {
				waiting.push({ resolution, post, done, failed })
				running ??= flush()
			}),
		async finish(limitMs) {
			limitAtMs = performance.now() + limitMs
			nap.abort()
			nap = new AbortController()
			await running
		},
	}
}
