/**
 * The room puts the parts together (`parts.ts`) and runs them. This file covers the daemon from start to stop,
 * `networkPoller.ts` the polls of one network, `health.ts` and `vitals.ts` the supervision.
 */

import { steadyClock } from '../base/waits/steadyClock.js'
import type { Config } from '../config/load.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { statePlaceInWords } from '../config/settings/statePlace.js'
import { followWatchlists } from '../config/watchlists/followWatchlists.js'
import { watchFiles } from '../config/watchlists/watchFiles.js'
import { formatProblem } from '../errors.js'
import type { Log } from '../model/ports.js'
import { serveControl } from '../ops/controlSocket.js'
import { createMetrics } from '../ops/metrics.js'
import type { Scrubber } from '../ops/scrub.js'
import { createNotifier } from '../ops/sdNotify.js'
import { createActivity } from '../pages/activity.js'
import { pageAt } from '../pages/pages.js'
import type { PollReport } from '../scan/poll.js'
import { openHistory } from '../state/open.js'
import { answerControl } from './controlAnswer.js'
import { createFailingReceivers } from './health/failingReceivers.js'
import { createHealth } from './health/health.js'
import { createVitals } from './health/vitals.js'
import { receiversOf } from './openNetwork.js'
import { createPageFacts, createPageNotes, recall } from './pageFacts.js'
import { openParts } from './parts.js'
import type { NetworkPoller } from './polling/networkPoller.js'
import { startSchedule } from './polling/schedule.js'
import { createKeepGood, createRefusals } from './refused.js'
import { countWatches, createReload, type InEffect } from './reload.js'
import { startService, watchingInWords } from './supervision.js'

export interface DaemonOptions {
	readonly config: Config
	readonly log: Log
	readonly version: string
	readonly env: NodeJS.ProcessEnv
	readonly scrubber: Pick<Scrubber, 'clean'>
	/** Called after each successful poll. */
	readonly onReport?: (network: string, report: PollReport) => void
	/** Registers a handler for SIGHUP; returns a function that unregisters it. */
	readonly onHangup: (reload: () => void) => () => void
}

/** How often the state is checked for notices that another instance has ended. */
const lookMs = 10_000

/**
 * Runs the daemon until the signal aborts. Each network polls on its schedule, the deliverer runs in parallel, and
 * edited watchlists take effect by themselves. Resolves when everything is written and closed. Throws StateError when
 * it cannot start.
 */
export async function runDaemon(options: DaemonOptions, signal: AbortSignal): Promise<void> {
	const { config, log, version, env, scrubber, onHangup } = options
	const notifier = createNotifier({ env, pid: process.pid, log, scrubber })
	const namesOf = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name)
	const [networkNames, receiverNames] = [namesOf(config.networks), namesOf(config.receivers)]
	const metrics = createMetrics({
		...{ version, networks: networkNames, receivers: receiverNames },
		summary: () => parts.store.summary(),
	})
	const startedAtMs = Date.now()
	const activity = createActivity(Date.now)
	const notes = createPageNotes(activity)
	const failing = createFailingReceivers(Date.now, steadyClock)
	const parts = await openParts({
		...options,
		observer: {
			reported(network, report) {
				metrics.polled(network, { ...report, atMs: Date.now() })
				vitals.reported(network, report)
				activity.lagged(network, Number(report.target > report.checkpoint ? report.target - report.checkpoint : 0n))
				options.onReport?.(network, report)
			},
			scanned: (network, checkpoint) => vitals.scanned(network, checkpoint),
			audited: (network, report) => metrics.audited(network, report),
			failed: (network) => metrics.pollFailed(network),
			skipped: (network) => metrics.pollSkipped(network),
			stoodBy: (network) => vitals.stoodBy(network),
			requested(network, request) {
				metrics.requested(network, request)
				if (request.result === 'ok') activity.requested(network, request.endpoint)
			},
			provedLogs: (network, proofs) => metrics.provedLogs(network, proofs),
			attempted(receiver, outcome) {
				metrics.attempted(receiver, outcome.result)
				activity.attempted(receiver, outcome)
				failing.attempted(receiver, outcome)
			},
			noted: notes.note,
		},
	})
	const { store, troubles, pollers, recipientsOf, closers } = parts
	const inEffect: InEffect = {
		watches: config.watches,
		loadedAtMs: startedAtMs,
		isRefused: config.refused !== undefined,
	}
	const lists = followWatchlists(config)
	const vitals = createVitals({
		networks: config.networks,
		pollers,
		receiversOf: (network) => receiversOf(inEffect.watches, network),
		recipientsOf,
		store,
		troubles,
		clock: Date.now,
		steady: steadyClock,
		log,
		onChange: (network, stalled) => metrics.stalled(network, stalled),
	})
	try {
		const { networks, receivers, watches, statePlace } = config
		const summary = () => store.summary()
		const health = createHealth({
			...{ config, pollers, vitals, summary, failing },
			isRefused: () => inEffect.isRefused,
		})
		// Only a folder needs the control channel: with a database, commands write to the state themselves.
		if (statePlace.kind === 'folder') {
			closers.add(await serveControl(statePlace.dir, answerControl(store, health, scrubber.clean)))
		}
		const history = config.http === null || config.historyMs === 0 ? null : await openHistory(statePlace, Date.now)
		if (history !== null) closers.add(() => history.close())
		if (config.http !== null) void recall({ store, history, activity, untilMs: startedAtMs, log })
		const pageFacts = createPageFacts({
			...{ config, version, startedAtMs, store, history, health, activity, notes },
			inEffect: () => inEffect,
		})
		const pages = (path: string, params: URLSearchParams) => pageAt(path, params, pageFacts)
		await startService({ ...options, pollers, vitals, health, pages, metrics, notifier, summary, closers })
		countWatches(metrics, config, watches)

		const following: Promise<void>[] = []
		const schedules = networks.map((network, index) => {
			const poller = pollers[index]
			if (poller === undefined) throw new Error(`no poller for network ${network.name}`)
			const own = log.child({ network: network.name })
			const job = {
				name: network.name,
				run: async () => void (await poller.tick(signal)),
			}
			const schedule = startSchedule(network.schedule, job, own)
			following.push(wakeByHeads(network, poller, own, signal))
			return schedule
		})
		const delivering = parts.deliverer.run(signal)
		const refusals = createRefusals({
			config,
			recipientsOf,
			store,
			troubles,
			log,
			receiversOf: (name) => receiversOf(inEffect.watches, name),
		})
		const looking = setInterval(() => void refusals.look(), lookMs)
		closers.add(() => clearInterval(looking))
		const keepGood = createKeepGood(statePlace, log, signal)
		if (config.refused === undefined) {
			void keepGood({ ...config, files: config.watchlistFiles })
			void refusals.accepted(watches.length)
		} else {
			metrics.reloaded(false)
			void refusals.refused(lists.revision(), config.refused.map(formatProblem).join('; '))
		}
		const reload = createReload({ config, lists, parts, metrics, notifier, log, inEffect, refusals, keepGood }, signal)
		const offHangup = onHangup(() => void reload('SIGHUP'))
		const watching = watchFiles({
			paths: lists.paths,
			revision: lists.revision,
			onChange: () => void reload('a watchlist changed'),
			signal,
		})
		const minding = watchFiles({ paths: () => [config.path], onChange: () => warnOfChange(config, log), signal })
		log.info(
			{
				version,
				networks: networks.length,
				watches: watches.length,
				receivers: receivers.length,
				state: statePlaceInWords(statePlace),
			},
			'tracewatch is running',
		)
		notifier.ready(watchingInWords(watches.length))

		await untilAborted(signal)
		log.info({}, 'stopping: polls end at their next border')
		notifier.stopping()
		offHangup()
		await Promise.all(schedules.map((schedule) => schedule.stop()))
		await Promise.all([delivering, watching, minding, ...following, ...pollers.map((poller) => poller.idle())])
	} finally {
		await closers.close()
	}
	log.info({}, 'stopped')
}

/** Polls a network at each new head if one of its endpoints announces heads; the schedule stays in effect. */
async function wakeByHeads(
	{ ws }: NetworkSettings,
	poller: NetworkPoller,
	log: Log,
	signal: AbortSignal,
): Promise<void> {
	if (ws.length === 0) return
	// Load the WebSocket code only where an endpoint uses it.
	const { followHeads } = await import('../chain/heads/newHeads.js')
	try {
		await followHeads({ urls: ws, onHead: () => poller.nudge(signal), log }, signal)
	} catch (error) {
		log.error({ err: error }, 'new heads are no longer followed; polling continues on its schedule')
	}
}

/** Warn that the configuration changed on disk: a successful reload of the watchlists does not apply it. */
function warnOfChange({ path }: Config, log: Log): void {
	log.warn({ file: path }, 'the configuration has changed, which takes effect with a restart; `tracewatch check` first')
}

function untilAborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve()
		else signal.addEventListener('abort', () => resolve(), { once: true })
	})
}
