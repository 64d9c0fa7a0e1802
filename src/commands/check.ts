import { counted } from '../base/text/counted.js'
import { describeConfig } from '../config/describe.js'
import { checkWatchlists, findConfig } from '../config/load.js'
import { ConfigError, formatProblem } from '../errors.js'
import { type Command, configOption, exitCodes, paragraphs } from './command.js'
import { openConfig, readingOf } from './shared/openConfig.js'
import { whileWaiting } from './shared/progress.js'
import { withSudoHint } from './shared/sudoHint.js'

export const check: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Reads the configuration and all watchlists as \`run\` does, and prints in plain words who is
notified of what. Nothing is contacted and nothing is written. Whatever is wrong is printed at once, each as
file:line:column: message. No secret is printed: endpoints and servers stand by their host only.`),
			)
			.option('--watchlists', 'the watchlists alone, as a reload reads them; needs no secret')
			.option('--all', 'names every watch; default: of a watchlist with more than 200 only the first 10')
			.option(...configOption),
	async run(args, io) {
		try {
			if (args.values.watchlists === true) {
				const path = findConfig(args.values.config, io.cwd)
				const read = () => checkWatchlists(path, readingOf(io))
				const count = await whileWaiting(() => 'reading the watchlists', read)
				io.out(`the watchlists are right: ${counted(count, 'watch', 'watches')}`)
				return exitCodes.done
			}
			const config = await openConfig(args, io)
			for (const warning of config.warnings) io.err(`warning: ${formatProblem(warning)}`)
			for (const line of describeConfig(config, io.cwd, args.values.all === true)) io.out(line)
			return exitCodes.done
		} catch (error) {
			if (!(error instanceof ConfigError)) throw error
			const { problems } = error
			const lines = [...problems.map(formatProblem), `configuration is wrong: ${counted(problems.length, 'problem')}`]
			for (const line of withSudoHint(lines.join('\n')).split('\n')) io.err(line)
			return exitCodes.config
		}
	},
}
