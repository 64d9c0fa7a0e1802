/** The room asks endpoints what they can do, and prints a report. */

import { Help } from 'commander'
import { counted } from '../../base/text/counted.js'
import { fitWords } from '../../base/text/outgoing.js'
import type { Config } from '../../config/load.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { areContractsAsked, contractsUnreadInWords } from '../../core/control/unreadInWords.js'
import { logProofInWords } from '../../core/cost/logProofInWords.js'
import { MOST_BOOKS } from '../../core/ledger/books.js'
import { type NoBooks, noBooksBy, unreportedInWords } from '../../core/ledger/kindsNeedingBooks.js'
import { areTokensAsked, watchesOn } from '../../daemon/openNetwork.js'
import { type Command, configOption, exitCodes, paragraphs } from '../command.js'
import { openConfig } from '../shared/openConfig.js'
import { whileWaiting } from '../shared/progress.js'
import { witnessInWords } from './advice.js'
import { type EndpointReport, examineEndpoint } from './endpoint.js'

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
		const ask = () => Promise.all(config.networks.map((network) => examine(network, config, io.signal)))
		const networks = await whileWaiting(() => 'asking the endpoints', ask)
		if (args.values['json'] === true) io.out(JSON.stringify({ networks }, null, 2))
		else for (const network of networks) for (const line of linesOf(network)) io.out(fitWords(line))
		const without = networks.filter(({ endpoints }) => !endpoints.some(({ usable }) => usable))
		if (without.length === 0) return exitCodes.done
		const passing = without.every(({ endpoints }) => endpoints.every(({ error }) => error !== null))
		return passing ? exitCodes.tryAgain : exitCodes.failed
	},
}

/** One of the list `networks` of `doctor --json`. */
type NetworkReport = Awaited<ReturnType<typeof examine>>

async function examine(network: NetworkSettings, config: Config, signal: AbortSignal) {
	const watches = watchesOn(config.watches, network.name).size
	const asked = {
		...network,
		keepsBooks: network.keepsBooks && watches <= MOST_BOOKS,
		readsContracts: !network.isPrivate && areContractsAsked(config.watches.rules, network.name),
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
		/** How it is proved that no token log is missing; null when no watch asks for tokens. */
		logs: areTokensAsked(config.watches, network) ? logProofInWords({ ...network, endpoints: able }) : null,
		/** Why watched contracts are not read; null: they are, or no watch asks for `control` or `code`. */
		contracts: contractsUnreadInWords(config.watches.rules, network),
		/** What cannot be proved with only one endpoint; null when there are several, or none works. */
		alone: witnessInWords(able),
		/** Kinds that watches ask for and that this network cannot report, and what to do; null: none is known. */
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

/** Lines for a terminal. Untrusted text in them is not cleaned yet; the caller must do so. */
function* linesOf(network: NetworkReport): Generator<string> {
	const { chainId, watches, logs, contracts, alone, untold, endpoints } = network
	yield `${network.network} (chain ${chainId}), ${counted(watches, 'address', 'addresses')} watched`
	for (const report of endpoints) {
		yield `  ${report.endpoint}`
		for (const [name, value] of cellsOf(report)) yield* wrapped(name, value)
	}
	const proofs = { 'token logs': logs, contracts, 'not proved': alone, 'not reported': untold }
	for (const [name, words] of Object.entries(proofs)) if (words !== null) yield* wrapped(name, words)
	yield ''
}

function cellsOf(report: EndpointReport): readonly (readonly [string, string])[] {
	const advice = report.advice.map((words) => ['to do', words] as const)
	if (report.error !== null) return [['failed', report.error], ...advice]
	const { headAgeSeconds, contracts, lists } = report
	const methods = Object.entries(report.methods).filter(([, ability]) => ability !== 'unknown')
	return [
		['client', report.client ?? 'does not say'],
		['chain id', report.chainId ?? 'does not say'],
		['head', `${report.head}, ${headAgeSeconds === null ? 'without a timestamp' : `${headAgeSeconds} s old`}`],
		['tags', report.tags.join(', ') || 'neither safe nor finalized'],
		['ots level', String(report.otsLevel ?? 'none: deployments are not confirmed by it')],
		['methods', methods.map(([name, ability]) => `${name} ${ability}`).join(', ') || 'nothing to prove them by yet'],
		['two lists', lists === 'unknown' ? 'not seen; one list is asked at a time' : `match ${lists}`],
		['range limit', report.rangeLimit],
		['trusted', report.trusted ? (report.proved ? 'yes, proved' : 'for now, not proved yet') : 'no'],
		['source', report.source ?? 'none'],
		['balances', inWords.balances[report.balances]],
		['access lists', inWords.accessLists[report.accessLists]],
		...(contracts === null
			? []
			: ([
					['state', inWords.state[contracts.ask] + (contracts.by ?? '')],
					['changes', inWords.changes[contracts.changes]],
				] as const)),
		...report.reasons.map((words) => ['seen', words] as const),
		...advice,
	]
}

const inWords = {
	balances: {
		together: 'of many addresses in one question: books are kept',
		multicall: 'of many addresses in one question, by Multicall3: books are kept',
		each: 'one by one: books are kept',
		no: 'not reported: the answers of this endpoint are not proved',
		'not asked': 'not asked: no books are kept by them',
	},
	/** What rules contracts. */
	state: {
		together: 'of many contracts in one call that lends them code (state override), by block ',
		each: 'slot by slot, as it lends no code (no state override), by block ',
		no: 'of contracts not given: what rules them is reported by their events alone',
	},
	/** Of slots, where foreign code ran. */
	changes: {
		prestateTracer: 'slot by slot where foreign code ran (debug_traceTransaction with prestateTracer)',
		trace_replayTransaction: 'slot by slot where foreign code ran (trace_replayTransaction with stateDiff)',
		no: 'not given: an alert about foreign code does not say which slots it changed',
		'not known': 'no recent block has a transaction to ask about',
	},
	/** Block access lists (EIP-7928) of recent blocks. */
	accessLists: {
		none: 'none on this chain: no books are kept by them',
		checked: 'right by the hash in the header: books are kept by them',
		'not given': 'not given, though headers name them: no books are kept by them',
		wrong: 'given, but not what the header names: distrust this endpoint',
		'not known': 'could not be asked for now',
	},
} as const

/** A fact with its name before it, wrapped at 80 columns. */
function* wrapped(name: string, value: string): Generator<string> {
	const lines = new Help().boxWrap(fitWords(value), 80 - 18).split('\n')
	for (const [at, line] of lines.entries()) yield `    ${(at === 0 ? name : '').padEnd(14)}${line}`
}
