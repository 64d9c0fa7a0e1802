import { keepYoungSmall, letYoungGrow } from '../base/v8Habits.js'
import type { Config } from '../config/load.js'
import type { Following } from '../config/watchlists/follow.js'
import { ConfigError } from '../errors.js'
import type { Log } from '../model/ports.js'
import type { WatchSet } from '../model/watch.js'
import type { Metrics } from '../ops/metrics.js'
import type { Notifier } from '../ops/sdNotify.js'
import type { Parts } from './parts.js'
import type { KeepGood, Refusals } from './refused.js'
import { watchingInWords } from './service.js'

/** What the networks are watched with. */
export interface InEffect {
	watches: WatchSet
	/** When they were read. */
	loadedAtMs: number
	/** The files as last read were wrong; the watches are those from before. */
	isRefused: boolean
}

export interface ReloadParts {
	readonly config: Config
	readonly lists: Following
	readonly parts: Parts
	readonly metrics: Metrics
	readonly notifier: Notifier
	readonly log: Log
	readonly inEffect: InEffect
	readonly refusals: Refusals
	readonly keepGood: KeepGood
}

/** Reads the watchlists anew: all of them take effect at the next border, or none. One at a time. */
export function createReload(
	{ config, lists, parts, metrics, notifier, log, inEffect, refusals, keepGood }: ReloadParts,
	signal: AbortSignal,
) {
	let running: Promise<void> = Promise.resolve()
	async function reload(cause: string): Promise<void> {
		if (signal.aborted) return
		notifier.reloading()
		keepYoungSmall()
		try {
			const { watches, files, addressFiles, revision } = await lists.load(signal)
			parts.setWatches(watches)
			inEffect.watches = watches
			inEffect.loadedAtMs = Date.now()
			inEffect.isRefused = false
			void keepGood(watches, revision)
			countWatches(metrics, config, watches)
			metrics.reloaded(true)
			log.info(
				{ cause, watches: watches.length, files: files.length + addressFiles.length },
				'watchlists are read again and in effect',
			)
			notifier.ready(watchingInWords(watches.length))
			void refusals.accepted(watches.length)
			// At once, so that a new watch is first seen now and not at the next tick.
			for (const poller of parts.pollers) poller.nudge(signal)
		} catch (error) {
			if (signal.aborted) return
			inEffect.isRefused = true
			metrics.reloaded(false)
			notifier.ready('the watchlists are wrong: the last good ones stay in effect')
			// A file that cannot be read is no reason to stop either.
			const facts = error instanceof ConfigError ? { cause, problems: error.problems } : { cause, err: error }
			const words = error instanceof Error ? error.message : String(error)
			log.error(facts, `the watchlists are wrong and change nothing; the last good ones stay in effect: ${words}`)
			await refusals.refused(lists.revision(), words.replaceAll('\n', '; '))
		} finally {
			letYoungGrow()
		}
	}
	return (cause: string) => {
		running = running.then(() => reload(cause))
		return running
	}
}

export function countWatches(metrics: Metrics, { networks }: Config, watches: WatchSet): void {
	for (const { name } of networks) metrics.watching(name, watches.networks.get(name)?.length ?? 0)
}
