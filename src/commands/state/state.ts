/** The room shows and changes stored state. This file: a whole state as JSON. */

import { PlainError, UsageError } from '../../errors.js'
import { fillPlace, readDocument, readPlace, textOf, writeDocument } from '../../state/wholeState.js'
import { type Command, configOption, exitCodes } from '../command.js'
import { openConfig } from '../shared/openConfig.js'
import { whileWaiting } from '../shared/progress.js'

export const state: Command = {
	name: 'state',
	summary: 'writes the whole state as one document, or reads one',
	help: `Usage: tracewatch state export [FILE] [-c FILE]
       tracewatch state import FILE [-c FILE]

export  writes checkpoints, announced alerts, coverage, deliveries and open troubles as one JSON
        document, to FILE or standard output
import  puts such a document where \`state:\` points to: a folder or a database that holds no state yet

To move between a folder and a database: stop every tracewatch, export, change \`state:\`, import, start. Export also
works beside a running tracewatch, as a copy to keep; what happens later is not in it.

  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 done, 1 export found no state, import found one already, or the state cannot be used, 2 wrong usage,
78 the configuration is wrong.`,
	options: configOption,
	positionals: [1, 2],
	async run(args, io) {
		const [act, file] = args.positionals
		if (act !== 'export' && act !== 'import') throw new UsageError(`\`state\` takes export or import, not \`${act}\``)
		if (act === 'import' && file === undefined) throw new UsageError('`state import` needs the FILE to bring in')
		const { statePlace } = await openConfig(args, io)
		if (act === 'import' && file !== undefined) {
			const whole = await whileWaiting(`reading ${file}`, () => readDocument(file))
			await whileWaiting('bringing it in', () => fillPlace(statePlace, whole, Date.now))
			io.out(`${inWords(whole)} imported`)
			return exitCodes.done
		}
		const whole = await whileWaiting('reading the state', () => readPlace(statePlace, Date.now))
		if (whole === null) throw new PlainError('there is no state yet: nothing was ever polled')
		if (file !== undefined) {
			await whileWaiting(`writing ${file}`, () => writeDocument(file, whole))
			io.out(`${inWords(whole)} written to ${file}`)
			return exitCodes.done
		}
		const text = textOf(whole).trimEnd()
		// Standard output replaces secrets, and would also change a text of the state that equals one.
		if (io.scrubber.clean(text) !== text)
			throw new PlainError('the state holds a text that is also a secret of the configuration: name a FILE to write to')
		io.out(text)
		return exitCodes.done
	},
}

function inWords({ state, coverage }: Awaited<ReturnType<typeof readDocument>>): string {
	const addresses = [...coverage.values()].reduce((sum, { covered }) => sum + covered.size, 0)
	const counts = [
		[state.networks.size, 'network', 'networks'],
		[addresses, 'address', 'addresses'],
		[state.deliveries.size, 'delivery', 'deliveries'],
	] as const
	return counts.map(([count, one, many]) => `${count} ${count === 1 ? one : many}`).join(', ')
}
