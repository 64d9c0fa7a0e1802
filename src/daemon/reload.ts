import { keepYoungSmall, letYoungGrow } from '../base/heapTuning.js'
import { isSliceOver, nextSlice } from '../base/waits/slices.js'
import type { Config } from '../config/load.js'
import { type Following, followWatchlists } from '../config/watchlists/followWatchlists.js'
import { fileDigest } from '../config/watchlists/revision.js'
import { watchFiles } from '../config/watchlists/watchFiles.js'
import { ConfigError, formatProblem } from '../errors.js'
import type { Log } from '../model/ports.js'
import type { WatchChanges, WatchSet } from '../model/watch.js'
import type { Metrics } from '../ops/metrics.js'
import type { Notifier } from '../ops/sdNotify.js'
import { CONFIG_CHANGED } from './health/health.js'
import type { Notices } from './health/notices.js'
import { receiversOf } from './openNetwork.js'
import type { Parts } from './parts.js'
import { createKeepGood, createRefusals, type KeepGood, type Refusals } from './refused.js'
import { watchingInWords } from './supervision.js'

/** The watchlists in effect. */
export interface InEffect {
	watches: WatchSet
	/** When they were read. */
	loadedAtMs: number
	/** The files as last read are invalid; earlier watches stay in effect. */
	isRefused: boolean
	/** tracewatch.yaml on disk is another one than this program has read. */
	isConfigChanged: boolean
	/** What the last reload changed; absent before the first. */
	changed?: WatchChanges
}

export interface EditOptions {
	readonly config: Config
	readonly parts: Parts
	readonly metrics: Metrics
	readonly notifier: Notifier
	readonly notices: Notices
	readonly log: Log
	readonly inEffect: InEffect
	/** Registers a handler for SIGHUP; returns a function that unregisters it. */
	readonly onHangup: (reload: () => void) => () => void
}

/**
 * Reads the watchlists again at SIGHUP and when their files change. Keeps a copy of good ones, and notifies the
 * receivers of wrong ones. Resolves when the signal aborts.
 */
export async function followEdits(options: EditOptions, signal: AbortSignal): Promise<void> {
	const { config, parts, metrics, notices, log, inEffect } = options
	const { store } = parts
	const lists = followWatchlists(config)
	const receiversNow = (network: string) => receiversOf(inEffect.watches, network)
	const refusals = createRefusals({ config, store, notices, receiversOf: receiversNow })
	const keepGood = createKeepGood(config.statePlace, store.fence, log)
	if (config.refused === undefined) {
		void keepGood({ ...config, files: config.watchlistFiles })
		void refusals.accepted(config.watches.length)
	} else {
		metrics.reloadOk.set(0)
		void refusals.refused(config.refused.map(formatProblem).join('; '))
	}
	const reload = createReload({ ...options, lists, refusals, keepGood }, signal)
	const offHangup = options.onHangup(() => void reload('SIGHUP'))
	const { paths, revision } = lists
	await Promise.all([
		watchFiles({ paths, revision, onChange: () => void reload('a watchlist changed'), signal }),
		followConfig(options, signal),
	])
	offHangup()
	await keepGood(null)
}

/** A reload does not apply an edited tracewatch.yaml: notes and logs that a restart is needed. */
async function followConfig({ config: { path }, inEffect, log }: EditOptions, signal: AbortSignal): Promise<void> {
	try {
		const first = await fileDigest(path, signal)
		const note = async () => {
			inEffect.isConfigChanged = (await fileDigest(path, signal)) !== first
			if (inEffect.isConfigChanged) log.warn({ file: path }, CONFIG_CHANGED)
		}
		await watchFiles({ paths: () => [path], onChange: () => void note().catch(() => undefined), signal })
	} catch (error) {
		if (!signal.aborted) throw error
	}
}

interface ReloadParts extends Omit<EditOptions, 'onHangup'> {
	readonly lists: Following
	readonly refusals: Refusals
	readonly keepGood: KeepGood
}

/** Returns a function that reads the watchlists again. All of them take effect, or none. Reloads run one at a time. */
function createReload(
	{ config, lists, parts, metrics, notifier, log, inEffect, refusals, keepGood }: ReloadParts,
	signal: AbortSignal,
) {
	let running: Promise<void> = Promise.resolve()
	async function reload(cause: string): Promise<void> {
		if (signal.aborted) return
		notifier.reloading()
		keepYoungSmall()
		try {
			const read = await lists.load(signal)
			const { watches, files, addressFiles } = read
			const changes = await changesOf(inEffect.watches, watches)
			parts.setWatches(watches)
			inEffect.watches = watches
			inEffect.loadedAtMs = Date.now()
			inEffect.isRefused = false
			inEffect.changed = changes
			void keepGood(read)
			countWatches(metrics, config, watches)
			metrics.reloadOk.set(1)
			metrics.reloadAt.setToCurrentTime()
			log.info(
				{ cause, watches: watches.length, files: files.length + addressFiles.length, ...changes },
				'watchlists are read again and in effect',
			)
			notifier.ready(`${watchingInWords(watches.length)}; the last reload ${inWords(changes)}`)
			void refusals.accepted(watches.length)
			// Poll now, so that a new watch need not wait for the next tick.
			for (const poller of parts.pollers) poller.nudge(signal)
		} catch (error) {
			if (signal.aborted) return
			inEffect.isRefused = true
			metrics.reloadOk.set(0)
			notifier.ready('the watchlists are wrong: the last good ones stay in effect')
			// An unreadable file must not stop the daemon either.
			const facts = error instanceof ConfigError ? { cause, problems: error.problems } : { cause, err: error }
			const words = error instanceof Error ? error.message : String(error)
			log.error(facts, `the watchlists are wrong and change nothing; the last good ones stay in effect: ${words}`)
			await refusals.refused(words.replaceAll('\n', '; '))
		} finally {
			letYoungGrow()
		}
	}
	return (cause: string) => {
		running = running.then(() => reload(cause))
		return running
	}
}

const mostNamed = 20

/** Addresses, by network, that only the new watches or only the old ones contain. */
async function changesOf(before: WatchSet, after: WatchSet): Promise<WatchChanges> {
	const [added, addedWatches] = await missingFrom(before, after)
	const [removed, removedWatches] = await missingFrom(after, before)
	return { added, removed, addedWatches, removedWatches }
}

async function missingFrom(others: WatchSet, watches: WatchSet): Promise<readonly [number, readonly string[]]> {
	let count = 0
	const named: string[] = []
	for (const [network, { index }] of watches.networks) {
		const other = others.networks.get(network)?.index
		for (const address of index.keys()) {
			if (isSliceOver()) await nextSlice()
			if (other?.has(address) === true) continue
			count += 1
			if (named.length >= mostNamed) continue
			const label = index.get(address)?.find((watch) => watch.label !== null)?.label
			named.push(`${network} ${address}${label == null ? '' : ` (${label})`}`)
		}
	}
	return [count, named]
}

function inWords({ added, removed }: WatchChanges): string {
	return added + removed === 0 ? 'changed no address' : `added ${added} and removed ${removed}`
}

export function countWatches(metrics: Metrics, { networks }: Config, watches: WatchSet): void {
	for (const { name } of networks) metrics.watches.set({ network: name }, watches.networks.get(name)?.length ?? 0)
}
