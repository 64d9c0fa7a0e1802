/**
 * The room puts the parts together (`parts.ts`) and runs them. This file covers the daemon from start to stop,
 * `networkPoller.ts` the polls of one network, `health/` the supervision.
 */

import { once } from 'node:events'
import { linkedAbort } from '../base/waits/linkedAbort.js'
import { steadyClock } from '../base/waits/steadyClock.js'
import { type Config, readCopies } from '../config/load.js'
import { statePlaceInWords } from '../config/settings/statePlace.js'
import { followWatchlists } from '../config/watchlists/followWatchlists.js'
import { ConfigError, type StateError } from '../errors.js'
import type { Log } from '../model/ports.js'
import type { Health } from '../model/trouble.js'
import { serveControl } from '../ops/controlSocket.js'
import { createMetrics } from '../ops/metrics.js'
import { createNotifier } from '../ops/sdNotify.js'
import { pageAt } from '../pages/pages.js'
import { openHistory, openWatchlistCopies } from '../state/open.js'
import { answerControl } from './controlAnswer.js'
import { createFront } from './front.js'
import { createHealth, NO_SUMMARY } from './health/health.js'
import { createVitals } from './health/vitals.js'
import { createObserver } from './observer.js'
import { receiversOf } from './openNetwork.js'
import { createPageFacts } from './pageFacts.js'
import { openParts, type Parts, type PartsOptions } from './parts.js'
import type { ConfiguredPoller } from './polling/networkPoller.js'
import { startSchedule } from './polling/schedule.js'
import { countWatches, followEdits, type InEffect } from './reload.js'
import { startService, watchingInWords } from './supervision.js'

export interface DaemonOptions extends Pick<PartsOptions, 'config' | 'log' | 'version' | 'scrubber'> {
	readonly env: NodeJS.ProcessEnv
	/** Registers a handler for SIGHUP; returns a function that unregisters it. */
	readonly onHangup: (reload: () => void) => () => void
}

/**
 * Runs the daemon until the signal aborts. Each network polls on its schedule, the deliverer runs in parallel, and
 * edited watchlists take effect by themselves. Resolves when everything is written and closed. Throws StateError when
 * it cannot start.
 */
export async function runDaemon(options: DaemonOptions, stop: AbortSignal): Promise<void> {
	// Ends also when another instance has taken over; the service manager then starts this one again, to stand by.
	const ending = linkedAbort(stop)
	let lost: StateError | null = null
	try {
		await runUntil(options, ending.signal, (error) => {
			lost = error
			ending.abort()
		})
	} catch (error) {
		if (!stop.aborted || lost !== null) throw lost ?? error
		// Stopped while it stood by.
		if (error !== stop.reason && !(error instanceof Error && error.name === 'AbortError')) throw error
	} finally {
		ending.release()
	}
	if (lost !== null) throw lost
	options.log.info({}, 'stopped')
}

async function runUntil(
	options: DaemonOptions,
	signal: AbortSignal,
	onLost: (error: StateError) => void,
): Promise<void> {
	const { config: loaded, log, version, env, scrubber } = options
	const { networks, receivers, statePlace } = loaded
	const notifier = createNotifier({ env, pid: process.pid, log, scrubber })
	let opened: Parts | null = null
	let judge: (() => Promise<Health>) | null = null
	const metrics = createMetrics({
		version,
		networks: networks.map(({ name }) => name),
		receivers: receivers.map(({ name }) => name),
		summary: async () => (await opened?.store.summary()) ?? NO_SUMMARY,
		health: async () => (await judge?.()) ?? null,
	})
	const front = createFront({ ...options, metrics })
	const startedAtMs = Date.now()
	const observer = createObserver({ metrics, vitals: () => vitals })
	// For the service manager an instance that stands by is up, and alive.
	let aliveMs: number | null = null
	const onWait = async (away: StateError | null) => {
		const nowMs = steadyClock()
		if (aliveMs === null) notifier.ready('standing by: another instance has the state')
		if (aliveMs === null || nowMs - aliveMs >= (notifier.watchdogMs ?? 0) / 3) {
			notifier.watchdog()
			aliveMs = nowMs
		}
		await front.standBy(away)
	}
	// Until edits are followed, SIGHUP does not end the process.
	const offHangup = options.onHangup(() => undefined)
	const parts = await openParts({ ...options, observer, standBy: { signal, onWait }, onLost }).catch(async (error) => {
		offHangup()
		await front.close()
		throw error
	})
	opened = parts
	const { store, troubles, pollers, closers } = parts
	closers.add(() => front.close())
	const config = aliveMs === null ? loaded : await readAgain(loaded, signal)
	const { watches } = config
	parts.setWatches(watches)
	const inEffect: InEffect = {
		watches,
		loadedAtMs: aliveMs === null ? startedAtMs : Date.now(),
		isRefused: config.refused !== undefined,
		isConfigChanged: false,
	}
	const vitals = createVitals({
		...{ pollers, troubles, log, clock: Date.now, steady: steadyClock },
		known: (await store.summary()).networks,
		receiversOf: (network) => receiversOf(inEffect.watches, network),
		onChange: (network, stalled) => metrics.stalled.set({ network }, stalled ? 1 : 0),
	})
	try {
		const summary = () => store.summary()
		const health = createHealth({ config, pollers, vitals, summary, inEffect, troubles })
		judge = health
		// Only a folder needs the control channel: with a database, commands write to the state themselves.
		if (statePlace.kind === 'folder') {
			closers.add(await serveControl(statePlace.dir, answerControl(store, health, scrubber.clean)))
		}
		const history =
			config.http === null || config.historyMs === 0 ? null : await openHistory(statePlace, store.unwritten)
		if (history !== null) closers.add(() => history.close())
		const pageFacts = createPageFacts({
			...{ config, version, startedAtMs, store, history, health, observer },
			inEffect: () => inEffect,
		})
		const pages = (path: string, params: URLSearchParams) => pageAt(path, params, pageFacts)
		await front.serve({ health, pages })
		startService({ ...options, pollers, vitals, health, notifier, summary, closers })
		countWatches(metrics, config, watches)
		const polling = pollers.map((poller) => pollUntilAborted(poller, log, signal))
		const delivering = parts.deliverer.run(signal)
		const following = followEdits({ ...options, config, parts, metrics, notifier, inEffect }, signal)
		offHangup()
		const counts = { networks: networks.length, watches: watches.length, receivers: receivers.length }
		log.info({ version, ...counts, state: statePlaceInWords(statePlace) }, 'tracewatch is running')
		notifier.ready(watchingInWords(watches.length))

		await untilAborted(signal)
		log.info({}, 'stopping: each poll finishes its current part')
		notifier.stopping()
		await Promise.all([...polling, delivering, following])
	} finally {
		await closers.close()
	}
}

/**
 * With the watchlists as they are after a time of standing by. Instead of wrong ones, as at a start, the last good
 * ones: the other instance may have kept them.
 */
async function readAgain(config: Config, signal: AbortSignal): Promise<Config> {
	const { refused: _, ...settings } = config
	try {
		return { ...settings, ...(await followWatchlists(config).load(signal)) }
	} catch (error) {
		// Only a stop ends the reading otherwise.
		if (!(error instanceof ConfigError)) return config
		const watches = await readCopies(() => openWatchlistCopies(config.statePlace), config, error).catch(() => null)
		// Without a revision, they are read again as soon as edits are followed.
		return { ...config, watches: watches ?? config.watches, refused: error.problems, revision: '' }
	}
}

/** Polls a network on its schedule and at new heads. Resolves after the signal, when no poll is running. */
async function pollUntilAborted(poller: ConfiguredPoller, log: Log, signal: AbortSignal): Promise<void> {
	const { name, network } = poller
	const own = log.child({ network: name })
	const schedule = startSchedule(network.schedule, { name, run: async () => void (await poller.tick(signal)) }, own)
	const following = wakeByHeads(poller, own, signal)
	await untilAborted(signal)
	await schedule.stop()
	await following
	await poller.idle()
}

/** Polls a network at each new head if one of its endpoints announces heads; the schedule stays in effect. */
async function wakeByHeads(poller: ConfiguredPoller, log: Log, signal: AbortSignal): Promise<void> {
	const { ws } = poller.network
	if (ws.length === 0) return
	// Load the WebSocket code only where an endpoint uses it.
	const { followHeads } = await import('../chain/heads/newHeads.js')
	try {
		await followHeads({ urls: ws, onHead: () => poller.nudge(signal), log }, signal)
	} catch (error) {
		log.error({ err: error }, 'new heads are no longer followed; polling continues on its schedule')
	}
}

async function untilAborted(signal: AbortSignal): Promise<void> {
	if (!signal.aborted) await once(signal, 'abort')
}
