/** The questions of `doctor` about watched contracts: how their state can be read, and what a transaction changed. */

import { listedSlots, readContracts } from '../../audit/contracts/readContracts.js'
import { blockCall, needBlock } from '../../chain/blocks/batchedCalls.js'
import type { Rpc, RpcCall } from '../../chain/rpc/rpc.js'
import { hashesCall, readHashes } from '../../chain/state/contractCode.js'
import { createContractState } from '../../chain/state/contractState.js'
import { hexBytes, hexOf, isObject } from '../../chain/wire/wire.js'
import { placeOf } from '../../core/control/places.js'
import type { ContractForecast } from '../../core/cost/forecast.js'
import { RpcError } from '../../errors.js'
import type { BlockRef } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'

/** What an endpoint gives of watched contracts. */
export interface ContractsReport {
	/** `together`: code is lent to many contracts in one call (state override). `each`: slot by slot. */
	readonly ask: 'together' | 'each' | 'no'
	/** How the block is named; `number`: its header is asked for again afterwards. Null: nothing is read. */
	readonly by: 'hash' | 'number' | null
	/** The method that gives what one transaction changed in storage. `not known`: no recent block has a transaction. */
	readonly changes: 'prestateTracer' | 'trace_replayTransaction' | 'no' | 'not known'
	/** Watches that have code; counted of the first 2,000 that ask for it, and estimated beyond them. */
	readonly contracts: number
}

/** Watches that are asked for their code. */
const MOST_ASKED = 2_000
/** Contracts that are read, to know what polls will ask of such ones. */
const MOST_READ = 50

/** Throws only the signal's reason. */
export async function examineContracts(
	rpc: Rpc,
	head: bigint,
	addresses: readonly Address[],
	signal: AbortSignal,
): Promise<{ readonly report: ContractsReport; readonly forecast: ContractForecast | null }> {
	const changes = await changesAt(rpc, head, signal)
	const none = { report: { ask: 'no', by: null, changes, contracts: 0 }, forecast: null } as const
	const state = createContractState({ endpoints: { use: async (job, until) => await job(rpc, until) } })
	try {
		const block = needBlock(await answerTo(rpc, blockCall(head), signal), head, rpc.endpoint)
		const way = await wayOf(rpc, block, signal)
		if (way === null) return none
		const asked = addresses.slice(0, MOST_ASKED)
		const hashes = asked.length === 0 ? new Map() : await state.codeHashes(asked, block, signal)
		const count = asked.length === 0 ? 0 : Math.round((hashes.size * addresses.length) / asked.length)
		const sampled = [...hashes].slice(0, MOST_READ)
		const questions = sampled.map(([address, codeHash]) => ({ address, codeHash, known: null, reads: [] }))
		const readings = [...(await readContracts(questions, block, state, signal)).values()]
		const forecast = forecastOf(readings, count, way)
		return { report: { ...way, changes, contracts: count }, forecast }
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		return none
	}
}

interface Way {
	readonly ask: 'together' | 'each'
	readonly by: 'hash' | 'number'
}

/** As `createContractState` finds it out. */
async function wayOf(rpc: Rpc, { number, hash }: BlockRef, signal: AbortSignal): Promise<Way | null> {
	const blocks = { hash: { blockHash: hash }, number: hexOf(number) }
	for (const by of ['hash', 'number'] as const) {
		const lent = { method: 'eth_call', params: hashesCall([ZERO_ADDRESS], blocks[by]) }
		if (readHashes(await answerTo(rpc, lent, signal), 1) !== null) return { ask: 'together', by }
	}
	for (const by of ['hash', 'number'] as const) {
		const slot = { method: 'eth_getStorageAt', params: [ZERO_ADDRESS, hexOf(0n), blocks[by]] }
		if (hexBytes(await answerTo(rpc, slot, signal)) !== null) return { ask: 'each', by }
	}
	return null
}

function forecastOf(
	readings: readonly { readonly values: Readonly<Record<string, unknown>> }[],
	count: number,
	{ ask, by }: Way,
): ContractForecast {
	const each = (all: number) => (readings.length === 0 ? 0 : all / readings.length)
	const kinds = readings.flatMap(({ values }) => Object.keys(values).map(placeOf))
	// Many proxies share an admin, which is asked once.
	const asked = readings.flatMap(({ values }) =>
		Object.keys(values).flatMap((name) => {
			const { through } = placeOf(name)
			return through === null ? [] : [`${values[through]} ${name}`]
		}),
	)
	const members = kinds.filter(({ member }) => member !== null).length
	const functions = kinds.filter(({ slot, member }) => slot === null && member === null).length
	return {
		count,
		isTogether: ask === 'together',
		isByNumber: by === 'number',
		slots: listedSlots + each(members),
		functions: each(functions),
		followed: Math.round(each(new Set(asked).size) * count),
	}
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
	try {
		const [answer] = await rpc.batch([{ ...call, isWhole: true }], signal)
		return answer instanceof RpcError ? null : answer
	} catch (error) {
		if (error instanceof RpcError) return null
		throw error
	}
}

/** Any address serves. */
const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'
