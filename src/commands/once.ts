import { rm } from 'node:fs/promises'
import { configuredIn } from '../config/settings/settings.js'
import { isHeld } from '../core/outbox/waiting.js'
import { openParts } from '../daemon/parts.js'
import { controlPath } from '../ops/controlSocket.js'
import { version } from '../version.js'
import { type Command, configOption, exitCodes } from './command.js'
import { openConfig } from './shared/openConfig.js'
import { openLog } from './shared/openLog.js'

/** Timers run `once` at an interval that the schedule does not show. */
const leastLateMs = 10 * 60_000

/** Longest that the scanner's alerts wait for the auditor; the next run continues the audit. */
const mostAuditMs = 30_000

export const once: Command = {
	declare: (command) =>
		command
			.description(
				'Polls every network up to its target, tries every due delivery once, and ends: for cron and timers. A wrong ' +
					'watchlist ends it with 78; unlike `run`, it does not go on with the last good ones.',
			)
			.option(...configOption),
	async run(args, io) {
		const config = await openConfig(args, io)
		const log = openLog(io)
		const parts = await openParts({ config, log, version, scrubber: io.scrubber, leastLateMs, runsOnce: true })
		try {
			// What a killed daemon left would stand for it in `status`.
			if (config.statePlace.kind === 'folder') await rm(controlPath(config.statePlace.dir), { force: true })
			const results = await Promise.all(
				parts.pollers.map(async (poller) => {
					let polled = await poller.tick(io.signal)
					// One of several nodes behind an endpoint may lag: the head is behind if the next poll finds it so, too.
					if (poller.status().backSinceMs !== null) polled = await poller.tick(io.signal)
					return polled === 'done' ? await poller.endAudit(mostAuditMs) : polled
				}),
			)
			const { delivered, failed, held } = await parts.deliverer.drainOnce(io.signal)
			// Left to a later run: they failed, or wait behind a delivery that failed.
			const isConfigured = configuredIn(config.receivers)
			const waiting = (await parts.store.deliveries('pending')).filter(
				(one) => isConfigured(one) && !isHeld(one),
			).length
			const { networks } = await parts.store.summary()
			const stalled = parts.pollers.filter(({ name, network: { stallAfterMs }, status }) => {
				const quietMs = Date.now() - (networks.get(name)?.updatedAtMs ?? 0)
				return status().isBackTwice && quietMs > (stallAfterMs ?? Number.POSITIVE_INFINITY)
			})
			const unfinished = results.filter((result) => result !== 'done').length + stalled.length
			log.info(
				{ networks: results.length, unfinished, delivered, failed, held, waiting },
				unfinished === 0 ? 'all networks were polled once' : 'not every network could be polled to its target',
			)
			if (results.includes('misconfigured')) return exitCodes.config
			// A full disk needs a person. Nothing is lost, but retrying alone does not help.
			if (results.includes('unwritten') || results.includes('broken')) return exitCodes.failed
			return unfinished + failed + waiting > 0 ? exitCodes.tryAgain : exitCodes.done
		} finally {
			await parts.closers.close()
		}
	},
}
