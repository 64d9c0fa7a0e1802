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
	/** Watched contracts whose state is read; absent: none. */
	readonly contracts?: ContractForecast
	/** Null: unknown. */
	readonly price: PriceOf | null
}

/** How what rules watched contracts is read. */
export interface ContractForecast {
	/** Watches that have code. */
	readonly count: number
	/** Whether one call reads many contracts; else each slot and each function is a call of its own. */
	readonly isTogether: boolean
	/** Whether blocks are named by number: then each question asks for the header, too. */
	readonly isByNumber: boolean
	/** Slots and functions that are asked, of one contract on average. */
	readonly slots: number
	readonly functions: number
	/** Functions of all beacons and admins, each once; they are asked in turn, in each poll with new blocks. */
	readonly followed: number
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
		addContracts(add, facts, reads)
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
	const readsHeaders = readsEachHeader(facts)
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
	{ logs, contracts, addresses, perList }: ForecastFacts,
	{ spans, blocks, isAgain }: Required<Pick<Spans, 'spans' | 'blocks' | 'isAgain'>>,
): void {
	const logging = contracts?.count ?? 0
	// In few blocks, headers rule out the logs of contracts; those of many contracts are not asked for by contract.
	if (blocks > WHOLE_BLOCKS && logging <= MOST_ASKED) add('eth_getLogs', spans * Math.ceil(logging / perList))
	if (logs === null) return
	if (logs.isPrivate || blocks <= WHOLE_BLOCKS || addresses > MOST_ASKED) {
		add('eth_getBlockReceipts', spans * blocks)
		return
	}
	add('eth_getLogs', spans * QUESTIONS * Math.ceil(addresses / perList))
	const most = isAgain ? 0 : mostProvedOf(logs.mostLogProofs, logs.hasWitness)
	add('eth_getBlockReceipts', spans * Math.min(blocks, most))
}

/** Headers prove that no log and no withdrawal is missing. */
function readsEachHeader({ mayBePaid, logs, contracts }: ForecastFacts): boolean {
	return mayBePaid || logs !== null || (contracts?.count ?? 0) > 0
}

/**
 * For two looks: the receipt; with lists also header and tree; with books also the balance; of a contract also what
 * rules it.
 */
function callsPerTouchedBlock(facts: ForecastFacts): Readonly<Record<string, number>> {
	const { source, balances, contracts } = facts
	if (source === null) return {}
	const calls = new Map<string, number>([['eth_getTransactionReceipt', 2]])
	const add = (method: string, count: number) => calls.set(method, (calls.get(method) ?? 0) + count)
	if (source === 'trace_filter') {
		add('trace_transaction', 1)
		if (!readsEachHeader(facts)) add('eth_getBlockByNumber', 1)
	}
	if (balances !== null) add(balances === 'each' ? 'eth_getBalance' : 'eth_call', 1)
	if (contracts !== undefined && contracts.count > 0)
		for (const [method, count] of Object.entries(contractCalls(contracts, 1, contracts.functions))) add(method, count)
	return Object.fromEntries(calls)
}

/** As in `audit/contracts/contractRotation.ts`: how many are read in turn, how often at least, and in which time. */
const MOST_IN_TURN = 100
const LONGEST_PAUSE_MS = 300_000
const ROUND_MS = 3_600_000
/** Functions of beacons and admins in one block. */
const MOST_FOLLOWED = 80
/** As in `chain/state/contractCode.ts`: what fits one call. */
const CONTRACTS_IN_CALL = 63
const FUNCTIONS_IN_CALL = 90
/** As in `core/control/places.ts`: the functions that every contract is asked for. */
const FUNCTIONS = 8

function addContracts(
	add: (method: string, count: number) => void,
	{ contracts, pollsPerDay }: ForecastFacts,
	reads: number,
): void {
	if (contracts === undefined || contracts.count === 0) return
	const { count, followed, isTogether } = contracts
	const together = Math.min(count, MOST_IN_TURN)
	const pauseMs = Math.min(LONGEST_PAUSE_MS, (ROUND_MS * MOST_IN_TURN) / count)
	const turns = Math.min(pollsPerDay, 86_400_000 / pauseMs)
	const ownFollowed = (followed / count) * together
	const turn = contractCalls(contracts, together, FUNCTIONS * together + ownFollowed)
	for (const [method, calls] of Object.entries(turn)) add(method, turns * calls)
	const asked = Math.min(followed, MOST_FOLLOWED)
	if (asked > 0) add('eth_call', reads * (isTogether ? 1 : asked))
	if (asked > 0 && contracts.isByNumber) add('eth_getBlockByNumber', reads)
}

/** The calls that read some contracts after one block. */
function contractCalls(
	{ isTogether, isByNumber, slots }: ContractForecast,
	count: number,
	functions: number,
): Readonly<Record<string, number>> {
	const asked = Math.ceil(functions / FUNCTIONS_IN_CALL)
	const inCalls = Math.ceil(count / CONTRACTS_IN_CALL)
	const headers = isByNumber ? { eth_getBlockByNumber: 1 + inCalls + asked } : {}
	return isTogether
		? { ...headers, eth_call: 1 + inCalls + asked }
		: { ...headers, eth_getCode: count, eth_getStorageAt: count * slots, eth_call: Math.round(functions) }
}

function sum(calls: Readonly<Record<string, number>>, price: PriceOf): number {
	return Object.entries(calls).reduce((total, [method, count]) => total + count * price(method), 0)
}
