/** What an endpoint gives of the state: balances, access lists, contracts, and what a transaction changed. */

import { blockCall, needBlock } from '../../chain/blocks/batchedCalls.js'
import { bloomBytes, bloomOf } from '../../chain/logs/proofs/bloom.js'
import type { Rpc, RpcCall } from '../../chain/rpc/rpc.js'
import { readAccessList } from '../../chain/state/accessList.js'
import { createBalanceReader } from '../../chain/state/balances.js'
import { createContractState } from '../../chain/state/contractState.js'
import { type Header, hexBytes, isObject } from '../../chain/wire/wire.js'
import type { TxLog } from '../../core/events/tokenLogs.js'
import { RpcError } from '../../errors.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'

/** By what balances of recent blocks can be asked for. */
export const balancesInWords = {
	together: 'of many addresses in one question: books are kept',
	multicall: 'of many addresses in one question, by Multicall3: books are kept',
	each: 'one by one: books are kept',
	no: 'not reported: the answers of this endpoint are not proved',
	'not asked': 'not asked: no books are kept by them',
} as const

/** Block access lists (EIP-7928) of recent blocks. */
export const accessListsInWords = {
	none: 'none on this chain: the books go by balances',
	checked: 'given, and they make the hash in the header: blocks are proved by them where books are kept',
	'not given': 'not given, though headers name them: the books go by balances',
	wrong: 'given, but not what the header names: distrust this endpoint',
	'not known': 'could not be asked for now',
} as const

/** How the state of contracts is read. */
export const stateInWords = {
	together: 'of many contracts in one call that lends them code (state override)',
	each: 'slot by slot, as it lends no code (no state override)',
	no: 'of contracts not given: what rules them is reported by their events alone',
} as const

/** By what the endpoint gives what one transaction changed in storage. */
export const changesInWords = {
	prestateTracer: 'slot by slot where foreign code ran (debug_traceTransaction with prestateTracer)',
	trace_replayTransaction: 'slot by slot where foreign code ran (trace_replayTransaction with stateDiff)',
	no: 'not given: an alert about foreign code does not say which slots it changed',
	'not known': 'no recent block has a transaction to ask about',
} as const

type Balances = keyof typeof balancesInWords
export type AccessLists = keyof typeof accessListsInWords

export interface ContractsReport {
	readonly ask: keyof typeof stateInWords
	/** How the block is named; `number`: its header is asked for again afterwards. Null: nothing is read. */
	readonly by: 'hash' | 'number' | null
	readonly changes: keyof typeof changesInWords
}

export interface StateReport {
	readonly balances: Balances
	/** Whether the bloom of the newest header has bits that no log of its block makes. */
	readonly blooms: 'plain' | 'extra bits' | 'not known'
	readonly accessLists: AccessLists
	/** Null: no watch asks for `control` or `code`, or the network is private. */
	readonly contracts: ContractsReport | null
}

/** Any address serves. The zero address exists on every chain. */
const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'
const FIRST_SLOT: Hash = `0x${'0'.repeat(64)}`

/** Throws only the signal's reason. */
export async function examineState(
	rpc: Rpc,
	head: bigint,
	{ keepsBooks, readsContracts }: { readonly keepsBooks: boolean; readonly readsContracts: boolean },
	signal: AbortSignal,
): Promise<StateReport> {
	const raw = await answerTo(rpc, blockCall(head), signal)
	const block = await orNull(async () => needBlock(raw, head, rpc.endpoint))
	return {
		balances: !keepsBooks ? 'not asked' : block === null ? 'no' : await balancesAt(rpc, block, signal),
		blooms: block === null ? 'not known' : await bloomsAt(rpc, block, isObject(raw) ? raw.logsBloom : null, signal),
		accessLists: block === null ? 'not known' : await accessListOf(rpc, block, signal),
		contracts: readsContracts
			? { ...(await wayOf(rpc, block, signal)), changes: await changesAt(rpc, head, signal) }
			: null,
	}
}

async function balancesAt(rpc: Rpc, block: Header, signal: AbortSignal): Promise<Balances> {
	const reader = createBalanceReader({ log: silent })
	await orNull(() => reader.read(rpc, [ZERO_ADDRESS], block, signal))
	return reader.strategyOf(rpc)?.ask ?? 'no'
}

async function bloomsAt(
	rpc: Rpc,
	{ hash }: Header,
	bloom: unknown,
	signal: AbortSignal,
): Promise<StateReport['blooms']> {
	const named = hexBytes(bloom, 256)
	const logs = await answerTo(rpc, { method: 'eth_getLogs', params: [{ blockHash: hash }] }, signal)
	if (named === null || !Array.isArray(logs) || !logs.every(isLog)) return 'not known'
	const made = bloomBytes(await bloomOf(logs))
	return bloomBytes(named).every((byte, at) => (byte & ~(made[at] ?? 0)) === 0) ? 'plain' : 'extra bits'
}

function isLog(log: unknown): log is TxLog {
	if (!isObject(log) || !Array.isArray(log.topics)) return false
	return hexBytes(log.address, 20) !== null && log.topics.every((topic) => hexBytes(topic, 32) !== null)
}

async function accessListOf(rpc: Rpc, block: Header, signal: AbortSignal): Promise<AccessLists> {
	if (block.accessListHash === undefined) return 'none'
	try {
		await readAccessList(rpc, block, signal)
		return 'checked'
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		if (error.kind === 'malformed') return 'wrong'
		return ['no-data', 'unsupported', 'bad-params'].includes(error.kind) ? 'not given' : 'not known'
	}
}

async function wayOf(
	rpc: Rpc,
	block: Header | null,
	signal: AbortSignal,
): Promise<Pick<ContractsReport, 'ask' | 'by'>> {
	const state = createContractState({ endpoints: { use: (job, until) => job(rpc, until) } })
	const question = { address: ZERO_ADDRESS, slots: [FIRST_SLOT] }
	if (block !== null) await orNull(() => state.slots([], [question], block, signal))
	return state.strategyOf(rpc) ?? { ask: 'no', by: null }
}

/** Blocks in which a transaction is looked for. */
const MOST_BLOCKS = 5n

async function changesAt(rpc: Rpc, head: bigint, signal: AbortSignal): Promise<ContractsReport['changes']> {
	const txHash = await recentTransaction(rpc, head, signal)
	if (txHash === null) return 'not known'
	const tracer = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
	const traced = await answerTo(rpc, { method: 'debug_traceTransaction', params: [txHash, tracer] }, signal)
	if (isObject(traced) && isObject(traced.pre) && isObject(traced.post)) return 'prestateTracer'
	const replay = { method: 'trace_replayTransaction', params: [txHash, ['stateDiff']] }
	const replayed = await answerTo(rpc, replay, signal)
	return isObject(replayed) && isObject(replayed.stateDiff) ? 'trace_replayTransaction' : 'no'
}

async function recentTransaction(rpc: Rpc, head: bigint, signal: AbortSignal): Promise<string | null> {
	for (let number = head; number > 0n && number > head - MOST_BLOCKS; number--) {
		const block = await answerTo(rpc, blockCall(number), signal)
		const [first] = isObject(block) && Array.isArray(block.transactions) ? block.transactions : []
		if (typeof first === 'string') return first
	}
	return null
}

/** Null: the endpoint refuses it, or does not answer. */
async function answerTo(rpc: Rpc, call: RpcCall, signal: AbortSignal): Promise<unknown> {
	const answers = await orNull(() => rpc.batch([{ ...call, isWhole: true }], signal))
	const [answer = null] = answers ?? []
	return answer instanceof RpcError ? null : answer
}

async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
	try {
		return await ask()
	} catch (error) {
		if (error instanceof RpcError) return null
		throw error
	}
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
