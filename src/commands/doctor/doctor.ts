/** The room asks endpoints what they can do, and prints a report. */

import { fitWords } from '../../base/text/outgoing.js'
import type { Config } from '../../config/load.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { contractsInWords } from '../../core/control/provedInWords.js'
import { logProofInWords } from '../../core/cost/logProofInWords.js'
import { MOST_BOOKS } from '../../core/ledger/books.js'
import { type NoBooks, noBooksBy, unreportedInWords } from '../../core/ledger/kindsNeedingBooks.js'
import { areTokensAsked, watchesOn } from '../../daemon/openNetwork.js'
import { type Command, configOption, exitCodes, paragraphs } from '../command.js'
import { openConfig } from '../shared/openConfig.js'
import { whileWaiting } from '../shared/progress.js'
import { witnessInWords } from './advice.js'
import { type EndpointReport, examineEndpoint } from './endpointReport.js'
import { linesOf, type NetworkReport } from './reportLines.js'

export const doctor: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Asks each endpoint of each network some ten cheap, harmless questions, checks the answers
against each other, and prints what it can do, which source of traces is used, and what to do about each weakness.
Endpoints are shown by their host. Ends with 1 when a network has no endpoint that can be trusted.`),
			)
			.option('--json', 'one JSON object')
			.option(...configOption),
	async run(args, io) {
		const config = await openConfig(args, io)
		const count = config.networks.flatMap(({ rpc }) => rpc).length
		const networks = await whileWaiting(`asking ${count} ${count === 1 ? 'endpoint' : 'endpoints'}`, () =>
			Promise.all(config.networks.map((network) => examine(network, config, io.signal))),
		)
		if (args.values['json'] === true) io.out(JSON.stringify({ networks }, null, 2))
		else for (const network of networks) for (const line of linesOf(network)) io.out(fitWords(line))
		const without = networks.filter(({ endpoints }) => !endpoints.some(({ usable }) => usable))
		if (without.length === 0) return exitCodes.done
		const passing = without.every(({ endpoints }) => endpoints.every(({ error }) => error !== null))
		return passing ? exitCodes.tryAgain : exitCodes.failed
	},
}

async function examine(network: NetworkSettings, config: Config, signal: AbortSignal): Promise<NetworkReport> {
	const watches = watchesOn(config.watches, network.name).size
	const contracts = contractsInWords(config.watches.rules, network)
	const asked = {
		...network,
		keepsBooks: network.keepsBooks && watches <= MOST_BOOKS,
		readsContracts: contracts !== null && !network.isPrivate,
	}
	const endpoints = await Promise.all(network.rpc.map((url) => examineEndpoint(url, asked, signal)))
	const able = endpoints.filter(({ usable }) => usable).length
	const bySettings = noBooksBy(network, watches)
	const why = bySettings === null || bySettings === 'perhaps none' ? noBooksAt(network, endpoints) : bySettings
	return {
		network: network.name,
		chainId: network.chainId,
		private: network.isPrivate,
		watches,
		logs: areTokensAsked(config.watches, network) ? logProofInWords({ ...network, endpoints: able }) : null,
		contracts,
		alone: witnessInWords(able),
		untold: why === null ? null : unreportedInWords(config.watches.rules, network.name, why),
		endpoints,
	}
}

/** Why no books can be kept. Null: they can be kept, or no endpoint answered. */
function noBooksAt({ keepsBooks }: NetworkSettings, endpoints: readonly EndpointReport[]): NoBooks | null {
	const asked = endpoints.filter(({ error }) => error === null)
	if (asked.length === 0) return null
	if (keepsBooks) return asked.every(({ balances }) => balances === 'no') ? 'no balances' : null
	if (asked.some(({ accessLists }) => accessLists === 'checked' || accessLists === 'not known')) return null
	return asked.every(({ accessLists }) => accessLists === 'none') ? 'no lists' : 'lists not given'
}
