import { setLogger } from 'node-cron'
import type { Config } from '../config/load.js'
import { watchFiles } from '../config/reload.js'
import { loadWatchlists, watchlistPaths } from '../config/watchlists.js'
import { ConfigError } from '../errors.js'
import type { Log } from '../model.js'
import { serveControl } from '../ops/control.js'
import { cronLogger } from '../ops/log.js'
import type { PollReport } from '../watch/poll.js'
import { openParts, type Parts } from './parts.js'
import { startSchedule } from './schedule.js'

export interface DaemonOptions {
	readonly config: Config
	readonly log: Log
	readonly version: string
	/** After each poll that ended well. */
	readonly onReport?: (network: string, report: PollReport) => void
	/** Registers what SIGHUP does; the result takes it back. */
	readonly onHangup: (reload: () => void) => () => void
}

/**
 * The daemon, until the signal aborts: every network polls on its schedule, the deliverer works beside them, and edited
 * watchlists take effect by themselves. Resolves when all is written and closed. Throws StateError when it cannot start.
 */
export async function runDaemon(options: DaemonOptions, signal: AbortSignal): Promise<void> {
	const { config, log, version, onHangup } = options
	setLogger(cronLogger(log))
	const parts = await openParts(options)
	try {
		const { networks, receivers, watches, stateDir } = config
		parts.closers.add(
			await serveControl(stateDir, ({ act, ids }) =>
				act === 'retry' ? parts.store.retry(ids, Date.now()) : parts.store.drop(ids),
			),
		)
		log.info(
			{ version, networks: networks.length, watches: watches.length, receivers: receivers.length, state: stateDir },
			'tracewatch is running',
		)
		const schedules = networks.map((network, index) => {
			const round = parts.rounds[index]
			if (round === undefined) throw new Error(`no round for network ${network.name}`)
			const job = {
				name: network.name,
				run: async () => void (await round.tick(signal)),
				onOverlap: () => round.skip(),
			}
			return startSchedule(network.schedule, job, log.child({ network: network.name }))
		})
		const delivering = parts.deliverer.run(signal)

		const reload = reloader(config, parts, log, signal)
		const offHangup = onHangup(() => void reload('SIGHUP'))
		const watching = watchFiles({
			paths: () => watchlistPaths(config.watchlists),
			onChange: () => void reload('a watchlist changed'),
			signal,
		})

		await untilAborted(signal)
		log.info({}, 'stopping: polls end at their next border')
		offHangup()
		await Promise.all(schedules.map((schedule) => schedule.stop()))
		await Promise.all([delivering, watching, ...parts.rounds.map((round) => round.tick(signal))])
	} finally {
		await parts.closers.close()
	}
	log.info({}, 'stopped')
}

/** Reads the watchlists anew: all of them take effect at the next border, or none. One at a time. */
function reloader(config: Config, parts: Parts, log: Log, signal: AbortSignal) {
	let running: Promise<void> = Promise.resolve()
	async function reload(cause: string): Promise<void> {
		if (signal.aborted) return
		try {
			const { watches, files } = await loadWatchlists(config)
			parts.setWatches(watches)
			log.info({ cause, watches: watches.length, files: files.length }, 'watchlists are read again and in effect')
			// At once, so that a new watch is first seen now and not at the next tick.
			for (const round of parts.rounds) void round.tick(signal)
		} catch (error) {
			if (!(error instanceof ConfigError)) throw error
			log.error(
				{ cause, problems: error.problems },
				`the watchlists are wrong and change nothing; the last good ones stay in effect: ${error.message}`,
			)
		}
	}
	return (cause: string) => {
		running = running.then(() => reload(cause))
		return running
	}
}

function untilAborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve()
		else signal.addEventListener('abort', () => resolve(), { once: true })
	})
}
