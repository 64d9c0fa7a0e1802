import { runDemo } from '../demo/demo.js'
import { createLog } from '../ops/log.js'
import { type Command, exitCodes } from './command.js'

export const demo: Command = {
	name: 'demo',
	summary: 'shows the main job on an embedded node, with real mail and webhooks on loopback',
	help: `Usage: tracewatch demo [--keep] [--verbose]

Starts an embedded node, a mail server and a webhook receiver on loopback, runs the daemon on watchlists/demo.yaml,
makes real transactions and prints each alert as it arrives, and what was rightly not told. Needs the development
packages.

  --keep      goes on afterwards, for transactions of your own
  --verbose   also shows the daemon's log

Exit codes: 0 every alert came and none too many, 1 not so.`,
	options: { keep: { type: 'boolean' }, verbose: { type: 'boolean' } },
	positionals: [0, 0],
	async run({ values }, io) {
		const log = createLog({
			level: values['verbose'] === true ? 'info' : 'error',
			scrubber: io.scrubber,
			destination: 2,
			pretty: io.isTty,
			journal: false,
		})
		try {
			const keep = values['keep'] === true
			await runDemo({ say: io.out, log, scrubber: io.scrubber, keep }, io.signal)
		} catch (error) {
			if (!io.signal.aborted) throw error
		}
		return exitCodes.done
	},
}
