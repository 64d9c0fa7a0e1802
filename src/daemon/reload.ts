import { keepYoungSmall, letYoungGrow } from '../base/heapTuning.js'
import { isSliceOver, nextSlice } from '../base/waits/slices.js'
import { waitMs } from '../base/waits/wait.js'
import type { Config } from '../config/load.js'
import { followWatchlists } from '../config/watchlists/followWatchlists.js'
import { chunksOf, revisionNow } from '../config/watchlists/revision.js'
import { watchFiles } from '../config/watchlists/watchFiles.js'
import type { Watchlists } from '../config/watchlists/watchlists.js'
import { ConfigError, formatProblem } from '../errors.js'
import type { Log } from '../model/ports.js'
import type { WatchChanges, WatchSet } from '../model/watch.js'
import type { Metrics } from '../ops/metrics.js'
import type { Notifier } from '../ops/sdNotify.js'
import { CONFIG_CHANGED } from './health/health.js'
import type { Parts } from './parts.js'
import { createRefusals } from './refused.js'
import { watchingInWords } from './supervision.js'

export interface InEffect {
	watches: WatchSet
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
	readonly log: Log
	readonly inEffect: InEffect
	readonly onHangup: (reload: () => void) => () => void
}

/** Of watchlists that change each time before they are copied. */
const MOST_READINGS = 4
const READ_AGAIN_AFTER_MS = 1_000

/**
 * Reads the watchlists again at SIGHUP and when their files change. Copies good ones into the state before they take
 * effect, so that a restart would use the same, and notifies the receivers of wrong ones. All watchlists take effect,
 * or none. Resolves when the signal aborts.
 */
export async function followEdits(options: EditOptions, signal: AbortSignal): Promise<void> {
	const { config, log } = options
	const lists = followWatchlists(config)
	const { accepted, refused } = createRefusals({ ...options, ...options.parts })
	async function readAndCopied(): Promise<Watchlists> {
		for (let left = MOST_READINGS - 1; ; left--) {
			const read = await lists.load(signal)
			const hasChanged = await keepGood(options, read, left > 0)
			// The next start reads them.
			signal.throwIfAborted()
			if (!hasChanged || left === 0) return read
			await waitMs(READ_AGAIN_AFTER_MS, signal)
		}
	}
	/** `found`: the revision that is to be read, unless it was read meanwhile. */
	async function reload(cause: string, found?: string): Promise<void> {
		if (signal.aborted || found === lists.revision()) return
		options.notifier.reloading()
		keepYoungSmall()
		try {
			const read = await readAndCopied()
			await takeEffect(options, { ...read, cause })
			// Poll now, so that a new watch need not wait for the next tick.
			for (const poller of options.parts.pollers) poller.nudge(signal)
			await accepted()
		} catch (error) {
			if (signal.aborted) return
			options.notifier.ready('the watchlists are wrong: the last good ones stay in effect')
			// An unreadable file must not stop the daemon either.
			const facts = error instanceof ConfigError ? { cause, problems: error.problems } : { cause, err: error }
			const words = error instanceof Error ? error.message : String(error)
			log.error(facts, `the watchlists are wrong and change nothing; the last good ones stay in effect: ${words}`)
			// The edit may name what only the edited tracewatch.yaml has, which is noticed some seconds later.
			const settings = await revisionNow([config.path], signal)
			await refused(words.replaceAll('\n', '; '), settings !== null && settings !== config.settingsRevision)
		} finally {
			letYoungGrow()
		}
	}
	async function begin(): Promise<void> {
		if (config.refused !== undefined) return await refused(config.refused.map(formatProblem).join('; '))
		const [hasChanged] = await Promise.all([keepGood(options, config, true), accepted()])
		if (hasChanged) await reload('a watchlist changed')
	}
	/** One at a time, so that the last of several edits is the last to be kept. */
	let running = begin()
	const reloadNext = (cause: string, found?: string) => {
		running = running.then(() => reload(cause, found))
	}
	const offHangup = options.onHangup(() => reloadNext('SIGHUP'))
	const { paths, revision } = lists
	await Promise.all([
		watchFiles({ paths, revision, onChange: (found) => reloadNext('a watchlist changed', found), signal }),
		followConfig(options, signal),
	])
	offHangup()
	await running
}

type GoodFiles = Pick<Watchlists, 'watchlistFiles' | 'contents' | 'revision'>

/**
 * Copies good watchlists for a restart that finds wrong ones. Goes on after the signal to stop: the next start may need
 * them. Warns where there is no copy, but not of files that have changed if the caller reads them again. Resolves to
 * whether they have changed since they were read; never rejects.
 */
async function keepGood(
	{ parts: { store }, log }: EditOptions,
	{ watchlistFiles: watchlists, contents, revision }: GoodFiles,
	readsAgain: boolean,
): Promise<boolean> {
	const files = contents.flatMap(({ path, digest }) => (digest === null ? [] : [{ path, digest }]))
	const digests = new Map(files.map(({ path, digest }) => [path, digest]))
	const { signal } = new AbortController()
	let hasChanged = false
	async function* chunks(path: string) {
		try {
			yield* chunksOf({ path, digest: digests.get(path) ?? null }, signal)
		} catch (error) {
			hasChanged = true
			throw error
		}
	}
	try {
		await store.keepWatchlists({ revision, watchlists, files, chunks })
	} catch (error) {
		if (!hasChanged || !readsAgain) log.warn({ err: error }, NOT_COPIED)
	}
	return hasChanged
}

const NOT_COPIED =
	'the watchlists in effect cannot be copied into the state: a restart that finds wrong ones would use an earlier ' +
	'copy, or none. To do: make room or start the database, then send SIGHUP'

async function takeEffect(
	{ config, parts, metrics, notifier, log, inEffect }: EditOptions,
	{ cause, watches, watchlistFiles, addressFiles }: Watchlists & { readonly cause: string },
): Promise<void> {
	const changes = await changesOf(inEffect.watches, watches)
	parts.setWatches(watches)
	Object.assign(inEffect, { watches, loadedAtMs: Date.now(), changed: changes })
	countWatches(metrics, config, watches)
	metrics.reloadAt.setToCurrentTime()
	log.info(
		{ cause, watches: watches.length, files: watchlistFiles.length + addressFiles.length, ...changes },
		'watchlists are read again and in effect',
	)
	notifier.ready(`${watchingInWords(watches.length)}; the last reload ${inWords(changes)}`)
}

/** A reload does not apply an edited tracewatch.yaml: notes and logs that a restart is needed. */
async function followConfig({ config, inEffect, log }: EditOptions, signal: AbortSignal): Promise<void> {
	const { path, settingsRevision } = config
	let known = settingsRevision
	const onChange = (revision: string) => {
		known = revision
		inEffect.isConfigChanged = revision !== settingsRevision
		if (inEffect.isConfigChanged) log.warn({ file: path }, CONFIG_CHANGED)
	}
	await watchFiles({ paths: () => [path], revision: () => known, onChange, signal })
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
