import { runDaemon } from '../daemon/daemon.js'
import { formatProblem } from '../errors.js'
import { openWatchlistCopies } from '../state/open.js'
import { version } from '../version.js'
import { type Command, configOption, exitCodes, paragraphs } from './command.js'
import { openConfig } from './shared/openConfig.js'
import { openLog } from './shared/openLog.js'

export const run: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Polls every network at the start and then on its schedule, and delivers alerts, until SIGTERM
or SIGINT: it then stops after the current step, with 0. SIGHUP, or saving a watchlist, reads the watchlists again. A
wrong edit changes nothing: the last good watchlists stay in effect, also after a restart, and the log and the
receivers say so.

Logs one JSON object a line to standard output (LOG_LEVEL: debug, info, warn, error; default info); text on a terminal
and, unless LOG_FORMAT is json, in the journal.`),
			)
			.option(...configOption),
	async run(args, io) {
		const config = await openConfig(args, io, ({ statePlace }) => openWatchlistCopies(statePlace))
		const log = openLog(io)
		const { refused: problems } = config
		if (problems !== undefined) {
			const words = problems.map(formatProblem).join('\n')
			log.error({ problems }, `the watchlists are wrong: started with the last good ones, kept in the state: ${words}`)
		}
		for (const warning of config.warnings) log.warn({}, `warning: ${formatProblem(warning)}`)
		await runDaemon({ config, log, version, env: io.env, scrubber: io.scrubber, onHangup }, io.signal)
		return exitCodes.done
	},
}

function onHangup(reload: () => void): () => void {
	process.on('SIGHUP', reload)
	return () => process.off('SIGHUP', reload)
}
