/** The room shows and changes stored state. This file: a copy of a whole state. */

import { Argument } from 'commander'
import { counted } from '../../base/text/counted.js'
import { readStatePlace } from '../../config/load.js'
import { statePlaceInWords } from '../../config/settings/statePlace.js'
import { UsageError } from '../../errors.js'
import { copyState } from '../../state/wholeState.js'
import { type Command, configOption, exitCodes, paragraphs } from '../command.js'
import { readingOf } from '../shared/openConfig.js'
import { whileWaiting } from '../shared/progress.js'

export const state: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Copies checkpoints, announced alerts, coverage, books, deliveries, open troubles, what was sent
and the last good watchlists from FROM to TO. TO must hold no state yet; FROM stays as it is.

To move: stop every tracewatch, copy, change \`state:\` in tracewatch.yaml, start.`),
			)
			.usage('copy FROM TO [-c FILE]')
			.addArgument(new Argument('<act>').choices(['copy']))
			.argument('<from>', 'a folder, a postgres:// URL, or ${NAME} as in tracewatch.yaml (in single quotes)')
			.argument('<to>', 'the same')
			.option('-c, --config <file>', `where \${NAME} is looked up beside; ${configOption[1]}`),
	async run(args, io) {
		const [, first = '', second = ''] = args.positionals
		const placeOf = (text: string) => readStatePlace(text, args.values.config, readingOf(io))
		const [from, to] = [placeOf(first), placeOf(second)]
		const [here, there] = [statePlaceInWords(from, io.cwd), statePlaceInWords(to, io.cwd)]
		if (JSON.stringify(from) === JSON.stringify(to)) throw new UsageError(`FROM and TO are both ${here}`)
		const whole = await whileWaiting(
			() => 'copying the state',
			() => copyState(from, to),
		)
		io.out(`${inWords(whole)} copied from ${here} to ${there}`)
		return exitCodes.done
	},
}

function inWords({ networks, deliveries }: Awaited<ReturnType<typeof copyState>>): string {
	const addresses = [...networks.values()].reduce((sum, { covered }) => sum + covered.size, 0)
	const many = `${counted(networks.size, 'network')}, ${counted(addresses, 'address', 'addresses')}`
	return `${many}, ${counted(deliveries.size, 'delivery', 'deliveries')}`
}
