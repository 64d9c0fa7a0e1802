/** The transactions of blocks whose header lists none, although its gas or its root says that there are some. */

import { RpcError } from '../../errors.js'
import type { Hash } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { Rpc } from '../rpc/rpc.js'
import { rowsIn } from '../traces/traceRows.js'
import {
	hash,
	hexOf,
	isObject,
	type Json,
	lacksTransactions,
	malformed,
	quantity,
	type Reading,
	unsettled,
} from '../wire/wire.js'
import { askAll } from './batchedCalls.js'

/** What can list the transactions of a block, the cheapest first. The call and the field that holds the hash. */
const WITNESSES = [
	{ method: 'eth_getBlockReceipts', more: [] },
	{ method: 'trace_block', more: [] },
	{ method: 'debug_traceBlockByNumber', more: [{ tracer: 'callTracer' }] },
] as const

/** The same header is read several times. */
const MOST_KEPT = 64

/**
 * Completes headers: a list that is missing, or empty against gas or root, is taken from receipts, else from traces.
 */
export function withTxLists(inner: Rpc, log: Log): Rpc {
	const kept = new Map<Hash, readonly Hash[]>()
	/** Roots of blocks without gas that turned out to be empty: some chains name an empty list otherwise. */
	const emptyRoots = new Set<unknown>()
	let isSaid = false

	async function completed(method: string, params: readonly unknown[], answer: unknown, signal: AbortSignal) {
		if (!/^eth_getBlockBy(Number|Hash)$/.test(method)) return answer
		if (!isObject(answer) || answer instanceof RpcError || !lacksTransactions(answer)) return answer
		const block = { number: quantity(answer.number), hash: hash(answer.hash) }
		if (block.number === null || block.hash === null) return answer
		const hasGas = (quantity(answer.gasUsed) ?? 0n) > 0n
		if (!hasGas && emptyRoots.has(answer.transactionsRoot)) return { ...answer, transactions: [] }
		const known = kept.get(block.hash)
		const transactions = known ?? (await listOf(inner, { number: block.number, hash: block.hash }, signal))
		kept.set(block.hash, transactions)
		for (const oldest of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(oldest)
		if (transactions.length === 0 && !hasGas) emptyRoots.add(answer.transactionsRoot)
		if (transactions.length === 0 && hasGas && !isSaid) {
			isSaid = true
			const words =
				'a header says gas and no transactions, and neither receipts nor traces name any: it is read as empty'
			log.warn({ endpoint: inner.endpoint, block: block.number }, words)
		}
		if (params[1] !== true || transactions.length === 0) return { ...answer, transactions }
		const calls = transactions.map((txHash) => ({ method: 'eth_getTransactionByHash', params: [txHash] }))
		return { ...answer, transactions: await askAll(inner, calls, signal) }
	}

	return {
		...inner,
		call: async (method, params, signal) => completed(method, params, await inner.call(method, params, signal), signal),
		async batch(calls, signal) {
			const answers = await inner.batch(calls, signal)
			const all = calls.map(async ({ method, params }, at) =>
				completed(method, params, answers[at], signal).catch((error: unknown) => {
					if (error instanceof RpcError) return error
					throw error
				}),
			)
			return Promise.all(all)
		},
	}
}

/** Throws RpcError where no witness answers, or one that may name transactions fails and none names any. */
async function listOf(
	rpc: Rpc,
	block: { readonly number: bigint; readonly hash: Hash },
	signal: AbortSignal,
): Promise<readonly Hash[]> {
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	let failure: RpcError | null = malformed(
		reading,
		`block ${block.number} lists no transactions, and nothing else does`,
	)
	for (const { method, more } of WITNESSES) {
		try {
			const answer = await rpc.call(method, [hexOf(block.number), ...more], signal)
			const named = hashesIn(answer, block, { ...reading, method })
			if (named.length > 0) return named
			failure = null
		} catch (error) {
			if (!(error instanceof RpcError)) throw error
			if (!['unsupported', 'bad-params', 'auth'].includes(error.kind)) throw error
		}
	}
	if (failure !== null) throw failure
	return []
}

/** The transactions of receipts, of rows or of traces, each once, in their order. */
function hashesIn(
	answer: unknown,
	block: { readonly number: bigint; readonly hash: Hash },
	reading: Reading,
): readonly Hash[] {
	const entries = rowsIn(answer)
	if (entries === null) throw unsettled(reading, `block ${block.number} has no list yet`)
	const named = new Set<Hash>()
	for (let at = 0; at < entries.length; at++) {
		const entry = entries.at(at)
		const { txHash, transactionHash, blockHash, type } = (isObject(entry) ? entry : {}) as Json
		if (blockHash !== undefined && hash(blockHash) !== block.hash) {
			throw unsettled(reading, `block ${block.number} was replaced`)
		}
		const own = hash(transactionHash ?? txHash)
		if (own !== null) named.add(own)
		else if (type !== 'reward') throw malformed(reading, `entry ${at} of block ${block.number} names no transaction`)
	}
	return [...named]
}
