/** Forecasts the calls that watching one network makes to its first endpoint in a day, and their cost. */

import { LEAST_TURNS, MOST_IN_MULTICALL, MOST_TOGETHER, MOST_TURNS, shareOfRound } from '../ledger/books.js'
import { areBlocksCheaper, inCalls, mostProvedOf, nothingKnown, type PriceOf } from './cost.js'

export interface ForecastFacts {
	/** The source of traces that is used; null when there is none. */
	readonly source: string | null
	/** Whether the source may also read whole blocks of rows. */
	readonly hasWholeBlocks: boolean
	readonly pollsPerDay: number
	readonly blocksPerDay: number
	readonly addresses: number
	/** Addresses in one list. */
	readonly perList: number
	/** Whether one request covers both senders and recipients. */
	readonly together: boolean
	/** How many of `safe` and `finalized` the endpoint knows. */
	readonly tags: number
	/** Whether new blocks reach up to the head. */
	readonly isToHead: boolean
	/** Whether many blocks settle at a time, as with `finalized`. */
	readonly settlesInJumps: boolean
	/** How balances are requested; null: they are not. */
	readonly balances: 'together' | 'multicall' | 'each' | null
	/** Access lists (EIP-7928) used to check books near the head. `alone`: on a private network. */
	readonly accessLists?: 'beside balances' | 'alone'
	/** Whether each block near the head is also read with its transactions, because a watch asks for delegations. */
	readonly readsTransactions?: boolean
	/** Whether blocks may contain withdrawals: then no header is skipped. */
	readonly mayBePaid: boolean
	/** How token logs are read; null: they are not. */
	readonly logs: LogForecast | null
	/** Null: unknown. */
	readonly price: PriceOf | null
}

export interface LogForecast {
	/** Reads whole blocks, even when many come at once. */
	readonly isPrivate: boolean
	/**
	 * How many of 500 blocks are read whole at most to prove that no log is missing, if their headers do not exclude it;
	 * null: the cost decides.
	 */
	readonly mostLogProofs: number | null
	/** Whether another endpoint is asked for the same logs. */
	readonly hasWitness: boolean
}

export interface Forecast {
	/** Calls by method, if no block touches a watch. */
	readonly calls: Readonly<Record<string, number>>
	readonly callsPerDay: number
	readonly creditsPerDay: number | null
	/** Additional, for each block in which one transaction touches a watch. */
	readonly perTouchedBlock: { readonly calls: number; readonly credits: number | null }
}

/** Ethereum's epoch, in blocks. */
const JUMP = 32
const TIP = 3
/** Same value as in `audit/delegations/authorizations.ts`. */
const MOST_READ = 16
/** The client version is requested every ten minutes; the probe, every four hours, takes about thirty calls. */
const CHECKS: Readonly<Record<string, number>> = {
	web3_clientVersion: 144,
	eth_getBlockByNumber: 6 * 20,
	trace_block: 6 * 4,
}

export function forecastOf(facts: ForecastFacts): Forecast {
	const { source, pollsPerDay, blocksPerDay, addresses, tags, isToHead, settlesInJumps, balances, price } = facts
	const calls = new Map<string, number>(Object.entries(CHECKS))
	const add = (method: string, count: number) => calls.set(method, (calls.get(method) ?? 0) + count)
	const header = 'eth_getBlockByNumber'
	add(header, pollsPerDay * (1 + tags))
	const reads = Math.min(pollsPerDay, blocksPerDay)
	const blocksPerRead = blocksPerDay / reads
	// With one new block, the head's parent hash shows whether the checkpoint still stands.
	if (blocksPerRead > 1) add(header, reads)
	if (source !== null && addresses > 0) {
		addSpans(add, facts, { spans: reads, blocks: blocksPerRead, isTip: isToHead && blocksPerRead <= TIP, isToHead })
		const jump = settlesInJumps ? Math.max(JUMP, blocksPerRead) : blocksPerRead
		addSpans(add, facts, { spans: blocksPerDay / jump, blocks: jump, isTip: false, isToHead: false, isAgain: true })
		if (facts.readsTransactions === true && isToHead && blocksPerRead <= MOST_READ) add(header, blocksPerDay)
		const turns = turnsAPoll(addresses, blocksPerRead, reads)
		if (facts.accessLists !== undefined && blocksPerRead <= MOST_READ) add('eth_getBlockAccessList', blocksPerDay)
		if (facts.accessLists === 'alone' && blocksPerRead <= MOST_READ) {
			add(header, blocksPerDay)
			add('eth_getBlockReceipts', blocksPerDay)
		}
		if (balances === 'together') add('eth_call', reads * Math.ceil(turns / MOST_TOGETHER))
		if (balances === 'multicall') add('eth_call', reads * Math.ceil(turns / MOST_IN_MULTICALL))
		if (balances === 'each') add('eth_getBalance', reads * turns)
	}
	const rounded = Object.fromEntries([...calls].map(([method, count]) => [method, Math.round(count)]))
	const touched = callsPerTouchedBlock(facts)
	return {
		calls: rounded,
		callsPerDay: sum(rounded, inCalls),
		creditsPerDay: price && sum(rounded, price),
		perTouchedBlock: { calls: sum(touched, inCalls), credits: price && sum(touched, price) },
	}
}

function turnsAPoll(addresses: number, blocks: number, pollsPerDay: number): number {
	const share = shareOfRound(blocks, 86_400_000 / pollsPerDay)
	return Math.min(addresses, MOST_TURNS, Math.max(LEAST_TURNS, Math.ceil(addresses * share)))
}

interface Spans {
	readonly spans: number
	readonly blocks: number
	readonly isTip: boolean
	/** Whether the header of the last block is known. */
	readonly isToHead: boolean
	/** Whether this is the second look: its logs were proved at the first look. */
	readonly isAgain?: boolean
}

function addSpans(
	add: (method: string, count: number) => void,
	facts: ForecastFacts,
	{ spans, blocks, isTip, isToHead, isAgain = false }: Spans,
): void {
	const { source, hasWholeBlocks, addresses, perList, together, price } = facts
	const lists = Math.ceil(addresses / perList)
	const readsHeaders = facts.mayBePaid || facts.logs !== null
	const question = { blocks, lists, together, readsHeaders }
	const isWhole = isTip || areBlocksCheaper(question, nothingKnown, price ?? inCalls)
	const known = isToHead ? spans : 0
	if (source === 'trace_filter' && !(hasWholeBlocks && isWhole)) {
		add('eth_getBlockByNumber', spans * (readsHeaders ? blocks : Math.min(2, blocks)) - known)
		add('trace_filter', spans * lists * (together ? 1 : 2))
		addLogs(add, facts, { spans, blocks, isAgain })
		return
	}
	add('eth_getBlockByNumber', spans * blocks - known)
	add(source === 'debug_traceBlockByNumber' ? source : 'trace_block', spans * blocks)
	addLogs(add, facts, { spans, blocks, isAgain })
}

/** As in `chain/logs/tokenReader.ts`: up to three blocks are read whole, more are read by topics. */
const WHOLE_BLOCKS = 3
const MOST_ASKED = 3_000
const QUESTIONS = 3

function addLogs(
	add: (method: string, count: number) => void,
	{ logs, addresses, perList }: ForecastFacts,
	{ spans, blocks, isAgain }: Required<Pick<Spans, 'spans' | 'blocks' | 'isAgain'>>,
): void {
	if (logs === null) return
	if (logs.isPrivate || blocks <= WHOLE_BLOCKS || addresses > MOST_ASKED) {
		add('eth_getBlockReceipts', spans * blocks)
		return
	}
	add('eth_getLogs', spans * QUESTIONS * Math.ceil(addresses / perList))
	const most = isAgain ? 0 : mostProvedOf(logs.mostLogProofs, logs.hasWitness)
	add('eth_getBlockReceipts', spans * Math.min(blocks, most))
}

/** For two looks: the receipt; with lists also header and tree; with books also the balance. */
function callsPerTouchedBlock({ source, balances, mayBePaid, logs }: ForecastFacts): Readonly<Record<string, number>> {
	if (source === null) return {}
	const header = mayBePaid || logs !== null ? {} : { eth_getBlockByNumber: 1 }
	const byList = source === 'trace_filter' ? { ...header, trace_transaction: 1 } : {}
	const book = balances === null ? {} : { [balances === 'each' ? 'eth_getBalance' : 'eth_call']: 1 }
	return { eth_getTransactionReceipt: 2, ...byList, ...book }
}

function sum(calls: Readonly<Record<string, number>>, price: PriceOf): number {
	return Object.entries(calls).reduce((total, [method, count]) => total + count * price(method), 0)
}
