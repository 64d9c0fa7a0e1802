/**
 * Writes down what came of deliveries, many at once, while the next ones are already under way. What could not be
 * written (a full disk) is kept and tried again; until then its delivery stays claimed, so nobody sends it twice.
 */

import { backoffMs } from '../../base/backoff.js'
import { pause } from '../../base/wait.js'
import type { Delivery, Resolution } from '../../model/delivery.js'
import type { Log, Store } from '../../model/ports.js'

export interface Recorder {
	/** Resolves when it is on disk, `post` with it; rejects with the store's error when patience has run out. */
	record(resolution: Resolution, post?: readonly Delivery[]): Promise<void>
	/** From now on what cannot be written within `limitMs` is given up; resolves when nothing is waiting any more. */
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

/** `patienceMs`: how long a write is tried again after its first failure. */
export function createRecorder(store: Store, log: Log, patienceMs = Number.POSITIVE_INFINITY): Recorder {
	let waiting: Entry[] = []
	let running: Promise<void> | null = null
	let limitAtMs = Number.POSITIVE_INFINITY
	let nap = new AbortController()

	async function flush(): Promise<void> {
		// One turn later, so that results of the same moment share one write.
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
				if (failures > 0) log.info({}, 'the results of deliveries can be written down again')
				failures = 0
				giveUpAtMs = Number.POSITIVE_INFINITY
				for (const { done } of batch) done()
			} catch (error) {
				const nowMs = performance.now()
				if (failures === 0) {
					giveUpAtMs = nowMs + patienceMs
					log.error({ err: error }, 'the results of deliveries cannot be written down; trying again')
				}
				waiting = [...batch, ...waiting]
				const leftMs = Math.min(giveUpAtMs, limitAtMs) - nowMs
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
