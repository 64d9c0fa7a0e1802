import type { Settings } from '../config/settings/settings.js'
import { watchesOf } from '../config/watchlists/keptWatches.js'
import { runDaemon } from '../daemon/daemon.js'
import { formatProblem, type Problem } from '../errors.js'
import type { Log } from '../model/ports.js'
import type { WatchSet } from '../model/watch.js'
import { keptWatchlists } from '../state/open.js'
import { version } from '../version.js'
import { type Command, configOption, exitCodes } from './command.js'
import { openConfig } from './open.js'
import { openLog } from './openLog.js'

export const run: Command = {
	name: 'run',
	summary: 'the daemon: polls each network on its schedule and delivers, until it is stopped',
	help: `Usage: tracewatch run [-c FILE]

Polls every network on its schedule (once at once), delivers alerts, and goes on until SIGTERM or SIGINT, which end it
at the next border with 0. SIGHUP, or saving a watchlist, reads the watchlists again; a wrong edit changes nothing and
is told in the log and to the receivers, also over a restart, for the last good ones are kept in the state.
Logs one JSON line an event to standard output (LOG_LEVEL: debug, info, warn, error; default info).

  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 stopped, 1 the state cannot be used, 78 the configuration is wrong.`,
	options: configOption,
	positionals: [0, 0],
	async run(args, io) {
		const config = await openConfig(args, io, lastGood)
		const log = openLog(io)
		if (config.refused !== undefined) sayRefused(log, config.refused)
		for (const warning of config.warnings) log.warn({}, `probably not meant: ${formatProblem(warning)}`)
		await runDaemon({ config, log, version, env: io.env, scrubber: io.scrubber, onHangup }, io.signal)
		return exitCodes.done
	},
}

/** A state that cannot be read now is no reason to say anything else than what is wrong with the watchlists. */
async function lastGood({ statePlace }: Settings): Promise<WatchSet | null> {
	try {
		const kept = await keptWatchlists(statePlace)
		return kept === null ? null : await watchesOf(kept)
	} catch {
		return null
	}
}

function sayRefused(log: Log, problems: readonly Problem[]): void {
	const words = problems.map(formatProblem).join('\n')
	log.error({ problems }, `the watchlists are wrong: started with the last good ones, kept in the state: ${words}`)
}

function onHangup(reload: () => void): () => void {
	process.on('SIGHUP', reload)
	return () => process.off('SIGHUP', reload)
}
