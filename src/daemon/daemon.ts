/**
 * The room puts the parts together (`parts.ts`) and runs them: this file from the start to the end, `networkPoller.ts`
 * the polls of one network, `health.ts` and `vitals.ts` whether all is well.
 */

import { setLogger } from 'node-cron'
import { followHeads } from '../chain/heads/newHeads.js'
import type { Config } from '../config/load.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { statePlaceInWords } from '../config/settings/statePlace.js'
import { type Following, followWatchlists } from '../config/watchlists/follow.js'
import { watchFiles } from '../config/watchlists/reload.js'
import { ConfigError } from '../errors.js'
import type { Log } from '../model/ports.js'
import type { WatchSet } from '../model/watch.js'
import { type ControlReply, type ControlRequest, serveControl } from '../ops/control.js'
import { cronLogger } from '../ops/log.js'
import { createMetrics, type Metrics } from '../ops/metrics.js'
import type { Scrubber } from '../ops/scrub.js'
import { createNotifier, type Notifier } from '../ops/sdNotify.js'
import type { PollReport } from '../watch/poll.js'
import { createHealth } from './health.js'
import type { NetworkPoller } from './networkPoller.js'
import { openParts, type Parts } from './parts.js'
import { startSchedule } from './schedule.js'
import { startService } from './service.js'
import { createVitals } from './vitals.js'

export interface DaemonOptions {
	readonly config: Config
	readonly log: Log
	readonly version: string
	readonly env: NodeJS.ProcessEnv
	readonly scrubber: Pick<Scrubber, 'clean'>
	/** After each poll that ended well. */
	readonly onReport?: (network: string, report: PollReport) => void
	/** Registers what SIGHUP does; the result takes it back. */
	readonly onHangup: (reload: () => void) => () => void
}

/**
 * The daemon, until the signal aborts: every network polls on its schedule, the deliverer works beside them, and edited
 * watchlists take effect by themselves. Resolves when all is written and closed. Throws StateError when it cannot
 * start.
 */
export async function runDaemon(options: DaemonOptions, signal: AbortSignal): Promise<void> {
	const { config, log, version, env, scrubber, onHangup } = options
	setLogger(cronLogger(log))
	const notifier = createNotifier({ env, pid: process.pid, log, scrubber })
	const metrics = createMetrics({ version, summary: () => parts.store.summary() })
	const parts = await openParts({
		...options,
		observer: {
			reported(network, report) {
				metrics.polled(network, { ...report, atMs: Date.now() })
				vitals.reported(network, report)
				options.onReport?.(network, report)
			},
			failed: (network) => metrics.pollFailed(network),
			skipped: (network) => metrics.pollSkipped(network),
			stoodBy: (network) => vitals.stoodBy(network),
			requested: (network, request) => metrics.requested(network, request),
			attempted: (receiver, { result }) => metrics.attempted(receiver, result),
		},
	})
	const { store, pollers, recipientsOf, closers } = parts
	const inEffect: InEffect = { watches: config.watches, isRefused: false }
	const lists = followWatchlists(config)
	const vitals = createVitals({
		networks: config.networks,
		pollers,
		receiversOf: (network) => receiversOf(inEffect.watches, network),
		recipientsOf,
		store,
		clock: Date.now,
		log,
		onChange: (network, stalled) => metrics.stalled(network, stalled),
	})
	try {
		const { networks, receivers, watches, statePlace } = config
		const summary = () => store.summary()
		const health = createHealth({ config, pollers, vitals, summary, isRefused: () => inEffect.isRefused })
		// A database takes word from anyone.
		if (statePlace.kind === 'folder') {
			const answer = async (request: ControlRequest): Promise<ControlReply> => {
				if (request.act === 'health') {
					const { ok, reason } = await health()
					return { health: { ok, reason } }
				}
				const { act, ids } = request
				return { count: act === 'retry' ? await store.retry(ids, Date.now()) : await store.drop(ids) }
			}
			closers.add(await serveControl(statePlace.dir, answer))
		}
		await startService({ ...options, pollers, vitals, health, metrics, notifier, summary, closers })
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
		const reload = createReload({ config, lists, parts, metrics, notifier, log, inEffect }, signal)
		const offHangup = onHangup(() => void reload('SIGHUP'))
		const watching = watchFiles({
			paths: lists.paths,
			revision: lists.revision,
			onChange: () => void reload('a watchlist changed'),
			signal,
		})
		const minding = watchFiles({ paths: () => [config.path], onChange: () => tellChanged(config, log), signal })
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
		notifier.ready(`watching ${watches.length} addresses on ${networks.length} networks`)

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

/** Polls a network at each new head, where it has an endpoint that tells of them; its schedule goes on beside. */
async function wakeByHeads(
	{ ws }: NetworkSettings,
	poller: NetworkPoller,
	log: Log,
	signal: AbortSignal,
): Promise<void> {
	if (ws.length === 0) return
	try {
		await followHeads({ urls: ws, onHead: () => poller.nudge(signal), log }, signal)
	} catch (error) {
		log.error({ err: error }, 'new heads are not followed any more; polling goes on by its schedule')
	}
}

/** Else a reload that succeeds would seem to have taken it in. */
function tellChanged({ path }: Config, log: Log): void {
	log.warn({ file: path }, 'the configuration has changed, which takes effect with a restart; `tracewatch check` first')
}

/** What the networks are watched with. */
interface InEffect {
	watches: WatchSet
	/** The files as last read were wrong; the watches are those from before. */
	isRefused: boolean
}

interface ReloadParts {
	readonly config: Config
	readonly lists: Following
	readonly parts: Parts
	readonly metrics: Metrics
	readonly notifier: Notifier
	readonly log: Log
	readonly inEffect: InEffect
}

/** Reads the watchlists anew: all of them take effect at the next border, or none. One at a time. */
function createReload({ config, lists, parts, metrics, notifier, log, inEffect }: ReloadParts, signal: AbortSignal) {
	let running: Promise<void> = Promise.resolve()
	async function reload(cause: string): Promise<void> {
		if (signal.aborted) return
		notifier.reloading()
		try {
			const { watches, files, addressFiles } = await lists.load(signal)
			parts.setWatches(watches)
			inEffect.watches = watches
			inEffect.isRefused = false
			countWatches(metrics, config, watches)
			metrics.reloaded(true)
			log.info(
				{ cause, watches: watches.length, files: files.length + addressFiles.length },
				'watchlists are read again and in effect',
			)
			notifier.ready(`watching ${watches.length} addresses`)
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
		}
	}
	return (cause: string) => {
		running = running.then(() => reload(cause))
		return running
	}
}

function countWatches(metrics: Metrics, { networks }: Config, watches: WatchSet): void {
	for (const { name } of networks) metrics.watching(name, watches.networks.get(name)?.length ?? 0)
}

function receiversOf(watches: WatchSet, network: string): readonly string[] {
	const own = watches.rules.filter((rules) => rules.network === network)
	return [...new Set(own.flatMap(({ receivers }) => receivers))]
}

function untilAborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve()
		else signal.addEventListener('abort', () => resolve(), { once: true })
	})
}
