/** The results of `doctor`, and their form on a terminal. */

import { Help } from 'commander'
import { fitWords } from '../../base/text/outgoing.js'
import type { LimitsReport } from '../../chain/limits/limits.js'
import { roughDuration } from './advice.js'
import type { EndpointReport } from './endpointReport.js'
import {
	type AccessLists,
	accessListsInWords,
	balancesInWords,
	type ContractsReport,
	changesInWords,
	stateInWords,
} from './endpointState.js'

export interface NetworkReport {
	readonly network: string
	readonly chainId: number
	/** Whether no request names an address. Books are then kept from access lists, or not at all. */
	readonly private: boolean
	readonly watches: number
	/** How it is proved that no token log is missing; null when no watch asks for tokens. */
	readonly logs: string | null
	/** What is proved of watched contracts; null when no watch asks for `control` or `code`. */
	readonly contracts: string | null
	/** What cannot be proved with only one endpoint; null when there are several, or none works. */
	readonly alone: string | null
	/** Kinds that watches ask for and that this network cannot report, and what to do; null: none is known. */
	readonly untold: string | null
	readonly endpoints: readonly EndpointReport[]
}

/** Lines for a terminal. Untrusted text in them is not cleaned yet; the caller must do so. */
export function* linesOf(network: NetworkReport): Generator<string> {
	const { chainId, watches, logs, contracts, alone, untold, endpoints } = network
	yield `${network.network} (chain ${chainId}), ${watches} ${watches === 1 ? 'address' : 'addresses'} watched`
	for (const report of endpoints) {
		yield `  ${report.endpoint}`
		for (const [name, value] of cellsOf(report, network.private)) yield* wrapped(name, value)
	}
	const proofs = { 'token logs': logs, contracts, 'not proved': alone, 'not reported': untold }
	for (const [name, words] of Object.entries(proofs)) if (words !== null) yield* wrapped(name, words)
	yield ''
}

/** What matters of an endpoint, in one line; untrusted text in it is not cleaned yet. */
export function lineOf(report: EndpointReport): string {
	const { endpoint, error, usable, client, head, headAgeSeconds, source, balances, reasons, advice } = report
	if (error !== null) return error
	const why = [...reasons, ...advice][0]
	if (!usable) return `${endpoint} gives no traces that can be trusted${why === undefined ? '' : `: ${why}`}`
	const books = balances === 'no' ? 'no balances, so nothing is proved' : 'balances: yes'
	const about = `${client ?? 'unknown client'}, block ${head}, ${roughDuration(headAgeSeconds ?? 0)} old`
	const more = advice.length === 0 ? '' : '; `tracewatch doctor` says what to improve'
	return `${endpoint} works: ${about}; traces by ${source}; ${books}${more}`
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
		['two lists', listsInWords[report.lists]],
		['range limit', report.rangeLimit],
		['bears', limitsInWords(report.limits)],
		['trusted', report.trusted ? (report.proved ? 'yes, proved' : 'for now, not proved yet') : 'no'],
		['source', report.source ?? 'none'],
		['balances', balancesInWords[report.balances]],
		['access lists', (isPrivate ? privateListsInWords : accessListsInWords)[report.accessLists]],
		...(report.contracts === null ? [] : contractCells(report.contracts)),
		...report.reasons.map((words) => ['seen', words] as const),
		...advice,
	]
}

function limitsInWords(limits: LimitsReport | null): string {
	if (limits === null) return 'not known'
	const { requestsUnderWay, callsPerSecond, callsPerRequest } = limits
	const rate = callsPerSecond === null ? 'no limit a second seen' : `${Math.round(callsPerSecond)} calls a second`
	return `${requestsUnderWay} requests at once, ${callsPerRequest} calls in each, ${rate}; the daemon keeps learning`
}

const listsInWords: Readonly<Record<EndpointReport['lists'], string>> = {
	either: 'either (union)',
	both: 'both (intersection)',
	unknown: 'not seen; one list is asked at a time',
}

/** On a private network no balance is asked for. */
const privateListsInWords: Readonly<Record<AccessLists, string>> = {
	...accessListsInWords,
	none: 'none on this chain: no books are kept of a private network',
	checked: 'given, and they make the hash in the header: the books of a private network are kept by them',
	'not given': 'not given, though headers name them: no books are kept of a private network',
}

function contractCells({ ask, by, changes }: ContractsReport): readonly (readonly [string, string])[] {
	const named = by === 'hash' ? ', by block hash' : ', by block number, whose header is checked afterwards'
	return [
		['state', stateInWords[ask] + (ask === 'no' ? '' : named)],
		['changes', changesInWords[changes]],
	]
}

/** A fact with its name before it, wrapped at 80 columns. */
function* wrapped(name: string, value: string): Generator<string> {
	const lines = new Help().boxWrap(fitWords(value), 80 - 18).split('\n')
	for (const [at, line] of lines.entries()) yield `    ${(at === 0 ? name : '').padEnd(14)}${line}`
}
