import { runDemo } from '../demo/demo.js'
import { runIncidents } from '../demo/incidents.js'
import { UsageError } from '../errors.js'
import { createLog } from '../ops/log.js'
import { type Command, exitCodes } from './command.js'

export const demo: Command = {
	name: 'demo',
	summary: 'shows the main job on an embedded node, with real mail and webhooks on loopback',
	help: `Usage: tracewatch demo [incidents] [--keep] [--verbose]

Starts an embedded node, a mail server and a webhook receiver on loopback, runs the daemon on watchlists/demo.yaml,
makes real transactions and prints each alert as it arrives, and what was rightly not reported. Needs the development
packages.

\`demo incidents\` plays known thefts in their shape instead: which alert comes in which block, and how many blocks
before the coins leave.

  --keep      goes on afterwards, for transactions of your own
  --verbose   also shows the daemon's log

Exit codes: 0 every alert came and none too many, 1 not so.`,
	options: { keep: { type: 'boolean' }, verbose: { type: 'boolean' } },
	positionals: [0, 1],
	async run({ values, positionals: [story] }, io) {
		if (story !== undefined && story !== 'incidents')
			throw new UsageError(`there is no story \`${story}\`, but \`incidents\``)
		const log = createLog({
			level: values['verbose'] === true ? 'info' : 'error',
			scrubber: io.scrubber,
			destination: 2,
			pretty: io.isTty,
			journal: false,
		})
		try {
			const keep = values['keep'] === true
			if (story === 'incidents') await runIncidents({ say: io.out, log, scrubber: io.scrubber }, io.signal)
			else await runDemo({ say: io.out, log, scrubber: io.scrubber, keep }, io.signal)
		} catch (error) {
			if (!io.signal.aborted) throw error
		}
		return exitCodes.done
	},
}
