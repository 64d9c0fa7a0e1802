/** Transactions that the answer about their block lacks, or refuses: each is asked for alone. */

import { RpcError } from '../../errors.js'
import type { AddressSet, TxTrace, UnreadTransaction } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { askAll, blockCall, isStateSync, needBlock } from '../blocks/batchedCalls.js'
import { readReceipts } from '../blocks/readReceipts.js'
import { feeIn, type Hit } from '../blocks/receipts.js'
import { misread } from '../rpc/border.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { traceOf } from '../traces/assemble.js'
import { type Header, type Reading, readReceipt, unsettled } from '../wire/wire.js'

/** The transactions of a block that have no trace; with each why it was refused, or null where it is absent. */
export interface Uncovered {
	readonly block: Header
	readonly missing: ReadonlyMap<Hash, RpcError | null>
	/** The answer named transactions that the header does not name. */
	readonly hasForeign?: boolean
}

/** How a source asks for one transaction. */
export interface AskOne {
	readonly callFor: (txHash: Hash) => RpcCall
	/** Null: nothing in it concerns the addresses. Throws RpcError. */
	readonly read: (raw: unknown, txHash: Hash, block: Header) => Promise<Hit | null>
}

interface Asking extends AskOne {
	readonly addresses: AddressSet
	/** What stays unread is returned; otherwise it is thrown. */
	readonly mayLack: boolean
	readonly reading: Reading
}

export interface ReadAlone {
	readonly hits: readonly Hit[]
	/** Failed by their receipts: they moved nothing but the fee. */
	readonly failed: readonly TxTrace[]
	readonly unread: readonly UnreadTransaction[]
}

interface Left {
	readonly block: Header
	readonly txHash: Hash
	readonly why: RpcError | null
}

/** Whether the transactions of a block may be answered one by one although the block was not. */
export function mayAskAlone({ kind, facts }: RpcError, mayLack: boolean): boolean {
	if (kind === 'too-large' || kind === 'timeout' || kind === 'malformed') return true
	if (kind === 'server') return facts.status === undefined || facts.status < 500
	// Near the head the node may soon have the block.
	return mayLack && (kind === 'no-data' || kind === 'unsettled')
}

/** The whole block was refused. */
export function refused(block: Header, why: RpcError | null): Uncovered {
	return { block, missing: new Map(block.txHashes.map((txHash) => [txHash, why])) }
}

/**
 * Reads the transactions that are missing, each alone. The one that needs no trace is Polygon's state sync, which is in
 * the header's list and which Bor does not trace. A transaction that failed by its receipt needs none either, unless
 * failed calls are reported. Throws RpcError.
 */
export async function readAlone(
	rpc: Rpc,
	uncovered: readonly Uncovered[],
	asking: Asking,
	signal: AbortSignal,
): Promise<ReadAlone> {
	const { reading, mayLack, addresses } = asking
	const left = await withoutStateSyncs(rpc, uncovered, signal)
	const moved = uncovered.filter(({ block, hasForeign }) => hasForeign || left.some((one) => one.block === block))
	await checkHeaders(rpc, moved, reading, signal)
	const nothing = uncovered.find(({ block, missing }) => isAbsent(block, missing, left))
	if (nothing !== undefined && !mayLack) {
		throw unsettled(reading, `all transactions of block ${nothing.block.number} are missing`)
	}
	const answers = await askEach(
		rpc,
		left.map(({ txHash }) => asking.callFor(txHash)),
		signal,
	)
	const hits: Hit[] = []
	const still: Left[] = []
	for (const [at, one] of left.entries()) {
		try {
			const answer = answers[at]
			if (answer instanceof RpcError) throw answer
			const hit = await asking.read(answer, one.txHash, one.block)
			if (hit !== null) hits.push(hit)
		} catch (thrown) {
			signal.throwIfAborted()
			const error = misread(thrown, reading)
			// The first refusal says more than that the method for one transaction is not there.
			still.push({ ...one, why: one.why ?? (error.kind === 'unsupported' ? null : error) })
		}
	}
	const { failed, unread } = await settledByReceipt(rpc, still, addresses, signal)
	const [first] = unread
	if (first !== undefined && !mayLack) throw unreadError(first, uncovered, reading)
	return {
		hits,
		failed,
		unread: unread.map(({ block: { number, hash }, txHash, why }) => ({
			block: { number, hash },
			txHash,
			why: why?.message ?? 'it has no trace',
			...(why !== null && isOfEndpoint(why) && { mayPass: true as const }),
		})),
	}
}

/** The answer named none of the block's transactions: the node may not have it yet. */
function isAbsent(block: Header, missing: Uncovered['missing'], left: readonly Left[]): boolean {
	if (missing.size < block.txHashes.length || !left.some((one) => one.block === block)) return false
	return [...missing.values()].every((why) => why === null)
}

function unreadError({ block, txHash, why }: Left, uncovered: readonly Uncovered[], reading: Reading): RpcError {
	if (why === null) return unsettled(reading, `transaction ${txHash} is missing`)
	const whole = uncovered.some((one) => one.block === block && one.missing.size === block.txHashes.length)
	if (whole || why.kind === 'timeout' || why.kind === 'unsettled') return why
	// The node answers for other transactions: the method is not at fault.
	const { endpoint, method } = reading
	return new RpcError(`${why.message} (transaction ${txHash})`, { kind: 'server', endpoint, method })
}

export async function withoutStateSyncs(
	rpc: Rpc,
	uncovered: readonly Uncovered[],
	signal: AbortSignal,
): Promise<readonly Left[]> {
	const all = uncovered.flatMap(({ block, missing }) =>
		[...missing].map(([txHash, why]) => ({ block, txHash, why, isOnly: missing.size === 1 })),
	)
	const maybe = all.filter(({ why, isOnly }) => why === null && isOnly)
	const calls = maybe.map(({ txHash }) => ({ method: 'eth_getTransactionByHash', params: [txHash] }))
	const answers = await askEach(rpc, calls, signal)
	const synced = new Set(maybe.flatMap(({ txHash }, at) => (isStateSync(answers[at]) ? [txHash] : [])))
	return all.filter(({ txHash }) => !synced.has(txHash))
}

/** A block that was replaced meanwhile has other transactions. */
async function checkHeaders(
	rpc: Rpc,
	uncovered: readonly Uncovered[],
	reading: Reading,
	signal: AbortSignal,
): Promise<void> {
	const answers = await askAll(
		rpc,
		uncovered.map(({ block }) => blockCall(block.number)),
		signal,
	)
	for (const [at, { block }] of uncovered.entries()) {
		const now = needBlock(answers[at], block.number, rpc.endpoint)
		if (now.hash !== block.hash) throw unsettled(reading, `block ${block.number} was replaced`)
	}
}

/** Answers and refusals in the order of the calls. Throws what is about the endpoint. */
async function askEach(rpc: Rpc, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
	if (calls.length === 0) return []
	const answers = await rpc.batch(calls, signal).catch((error: unknown) => {
		signal.throwIfAborted()
		if (!(error instanceof RpcError)) throw error
		return calls.map(() => error)
	})
	for (const answer of answers) if (answer instanceof RpcError && isAboutNow(answer)) throw answer
	return answers
}

function isAboutNow({ kind }: RpcError): boolean {
	return kind === 'network' || kind === 'rate' || kind === 'quota' || kind === 'auth'
}

function isOfEndpoint({ kind, facts }: RpcError): boolean {
	return kind === 'timeout' || (kind === 'server' && (facts.status ?? 0) >= 500)
}

async function settledByReceipt(
	rpc: Rpc,
	left: readonly Left[],
	addresses: AddressSet,
	signal: AbortSignal,
): Promise<{ readonly failed: readonly TxTrace[]; readonly unread: readonly Left[] }> {
	// Only the trace shows which calls failed.
	if (left.length === 0 || addresses.calls !== undefined) return { failed: [], unread: left }
	const single = left.map(({ txHash, block }) => ({ txHash, number: block.number }))
	const receipts = await readReceipts(rpc, { whole: [], single }, signal).catch((error: unknown) => {
		signal.throwIfAborted()
		if (!(error instanceof RpcError) || isAboutNow(error)) throw error
		return new Map<Hash, unknown>()
	})
	const failed: TxTrace[] = []
	const unread: Left[] = []
	for (const one of left) {
		const { block, txHash } = one
		const raw = receipts.get(txHash) ?? null
		const reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
		const receipt = raw === null ? null : readReceipt(raw, txHash, reading)
		if (receipt?.block.hash !== block.hash || receipt.succeeded !== false) unread.push(one)
		else failed.push({ ...traceOf({ txHash, txIndex: null, frames: [] }, block, false), ...feeIn(raw) })
	}
	return {
		failed: failed.filter(({ fee }) => fee !== undefined && addresses.has(fee.payer)),
		unread,
	}
}
