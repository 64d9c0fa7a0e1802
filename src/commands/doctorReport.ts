/** What `doctor` found out, and how a terminal shows it. */

import type { LimitsReport } from '../chain/endpoints/limits.js'
import { roughDuration } from '../core/doctor.js'
import { forecastInWords, type NetworkForecast } from './doctorForecast.js'

export interface NetworkReport {
	readonly network: string
	readonly chainId: number
	/** Nobody is asked about an address: books are kept by access lists, or not at all. */
	readonly private: boolean
	readonly watches: number
	/** What proves that no log of a token is missing; null where nobody is told of tokens. */
	readonly logs: string | null
	/** What no proof finds out with one endpoint alone; null where more can be asked, or none. */
	readonly alone: string | null
	/** Kinds that watches name and that cannot be told here, and what to do; null: none that is known. */
	readonly untold: string | null
	/** Of the endpoint that is used; null when none is. */
	readonly forecast: NetworkForecast | null
	/** The same as in the forecast. */
	readonly callsPerDay: number | null
	readonly endpoints: readonly EndpointReport[]
}

export interface EndpointReport {
	readonly endpoint: string
	/** Why it could not be asked; null when it was. */
	readonly error: string | null
	readonly usable: boolean
	readonly client: string | null
	readonly chainId: string | null
	readonly head: number | null
	readonly headAgeSeconds: number | null
	/** On average of the last hundreds of blocks; null where that was not seen. */
	readonly secondsPerBlock: number | null
	readonly otsLevel: number | null
	readonly methods: Readonly<Record<string, string>>
	/** What both address lists in one question mean. */
	readonly lists: 'either' | 'both' | 'unknown'
	readonly rangeLimit: string
	/** What it was seen to bear, in this look; the daemon goes on learning. Null when it was not asked. */
	readonly limits: LimitsReport | null
	readonly tags: readonly string[]
	readonly trusted: boolean
	readonly proved: boolean
	/** The source of traces that is used; null when there is none. */
	readonly source: string | null
	readonly balances: Balances
	readonly accessLists: AccessLists
	/** Transactions of recent blocks may carry delegations (EIP-7702). */
	readonly takesAuthorisations: boolean
	/** Recent blocks may pay withdrawals of staked coins. */
	readonly mayPayWithdrawals: boolean
	readonly reasons: readonly string[]
	readonly advice: readonly string[]
}

/** How balances of recent blocks can be asked for. */
export type Balances = 'together' | 'multicall' | 'each' | 'no' | 'not asked'

/**
 * Block access lists (EIP-7928) of recent blocks. `none`: the headers name none. `checked`: given, and what was given
 * makes the hash in the header. `not given`: headers name them, and the endpoint has none; `wrong`: one that does not
 * make the hash.
 */
export type AccessLists = 'none' | 'checked' | 'not given' | 'wrong' | 'not known'

/** For a terminal; the other side's words in it are not fit for one yet. */
export function* linesOf(network: NetworkReport): Generator<string> {
	const { chainId, watches, logs, alone, untold, forecast, endpoints } = network
	yield `${network.network} (chain ${chainId}), ${watches} ${watches === 1 ? 'address' : 'addresses'} watched`
	for (const report of endpoints) {
		yield `  ${report.endpoint}`
		for (const [name, value] of cellsOf(report, network.private)) for (const line of wrapped(name, value)) yield line
	}
	if (logs !== null) yield* wrapped('token logs', logs)
	if (alone !== null) yield* wrapped('not proved', alone)
	if (untold !== null) yield* wrapped('not told', untold)
	if (forecast !== null) {
		for (const [name, words] of forecastInWords(forecast)) yield* wrapped(name, words)
	}
	yield ''
}

function cellsOf(report: EndpointReport, isPrivate: boolean): readonly (readonly [string, string])[] {
	const advice = report.advice.map((words) => ['to do', words] as const)
	if (report.error !== null) return [['failed', report.error], ...advice]
	const methods = Object.entries(report.methods).filter(([, ability]) => ability !== 'unknown')
	return [
		['client', report.client ?? 'does not say'],
		['chain id', report.chainId ?? 'does not say'],
		['head', `${report.head}, ${roughDuration(report.headAgeSeconds ?? 0)} old`],
		['tags', report.tags.length === 0 ? 'neither safe nor finalized' : report.tags.join(', ')],
		['ots level', report.otsLevel === null ? 'none: deployments are not confirmed by it' : String(report.otsLevel)],
		['methods', methods.map(([name, ability]) => `${name} ${ability}`).join(', ') || 'nothing to prove them by yet'],
		[
			'two lists',
			{ either: 'either (union)', both: 'both (intersection)', unknown: 'not seen; one list is asked at a time' }[
				report.lists
			],
		],
		['range limit', report.rangeLimit],
		['bears', bearsInWords(report.limits)],
		['trusted', report.trusted ? (report.proved ? 'yes, proved' : 'for now, not proved yet') : 'no'],
		['source', report.source ?? 'none'],
		['balances', balancesInWords[report.balances]],
		['access lists', (isPrivate ? privateListsInWords : accessListsInWords)[report.accessLists]],
		...report.reasons.map((words) => ['seen', words] as const),
		...advice,
	]
}

function bearsInWords(limits: LimitsReport | null): string {
	if (limits === null) return 'not known'
	const { requestsUnderWay, callsPerSecond, callsPerRequest } = limits
	const rate = callsPerSecond === null ? 'no limit a second seen' : `${Math.round(callsPerSecond)} calls a second`
	return `${requestsUnderWay} requests at once, ${callsPerRequest} calls in each, ${rate}; the daemon goes on learning`
}

const balancesInWords: Readonly<Record<Balances, string>> = {
	together: 'of many addresses in one question: books are kept',
	multicall: 'of many addresses in one question, by Multicall3: books are kept',
	each: 'one by one: books are kept',
	no: 'not told: what this endpoint tells is not proved',
	'not asked': 'not asked: no books are kept by them',
}

const accessListsInWords: Readonly<Record<AccessLists, string>> = {
	none: 'none on this chain: the books go by balances',
	checked: 'given, and they make the hash in the header: blocks are proved by them where books are kept',
	'not given': 'not given, though headers name them: the books go by balances',
	wrong: 'given, but not what the header names: distrust this endpoint',
	'not known': 'could not be asked for now',
}

/** Where nobody is asked for a balance. */
const privateListsInWords: Readonly<Record<AccessLists, string>> = {
	...accessListsInWords,
	none: 'none on this chain: no books are kept of a private network',
	checked: 'given, and they make the hash in the header: the books of a private network are kept by them',
	'not given': 'not given, though headers name them: no books are kept of a private network',
}

/** A fact with its name before it, in lines of at most 80 columns. */
function* wrapped(name: string, value: string): Generator<string> {
	const width = 80 - 18
	let line = ''
	let first = true
	for (const word of value.split(' ')) {
		if (line !== '' && line.length + 1 + word.length > width) {
			yield `    ${(first ? name : '').padEnd(14)}${line}`
			first = false
			line = word
		} else line = line === '' ? word : `${line} ${word}`
	}
	yield `    ${(first ? name : '').padEnd(14)}${line}`
}
