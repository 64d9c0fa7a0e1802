/** Receipts of transactions whose blocks are known: a whole block of them where that is cheaper than one by one. */

import { areReceiptsCheaperTogether } from '../../core/cost/cost.js'
import { RpcError } from '../../errors.js'
import type { Hash } from '../../model/glossary.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { hash, hexOf, isObject, quantity } from '../wire/wire.js'
import { askAll } from './batchedCalls.js'

export interface Wanted {
	/** Null: rewards, which have no receipt. */
	readonly txHash: Hash | null
	readonly blockNumber: bigint
	/** The number of transactions in its block, exact or estimated. */
	readonly ofTransactions: number
}

export function receiptCall(txHash: string): RpcCall {
	return { method: 'eth_getTransactionReceipt', params: [txHash] }
}

/** Endpoints that do not give the receipts of a block at once. */
const withoutBlocks = new WeakSet<Rpc>()

/** Which blocks of receipts to read whole, and which receipts one by one. */
export interface ReceiptPlan {
	readonly whole: readonly { readonly number: bigint; readonly txHashes: readonly Hash[] }[]
	readonly single: readonly Single[]
}

interface Single {
	readonly txHash: Hash
	/** Of its block. */
	readonly number: bigint
}

/** By transaction, as the node sent them; null where it has none (yet). They are not checked. Throws RpcError. */
export async function readReceipts(
	rpc: Rpc,
	{ whole, single }: ReceiptPlan,
	signal: AbortSignal,
): Promise<ReadonlyMap<Hash, unknown>> {
	const [ofBlocks, receipts] = await Promise.all([readWholeBlocks(rpc, whole, signal), rpcAnswers(rpc, single, signal)])
	return new Map([...ofBlocks, ...(await orOfBlocks(rpc, single, receipts, signal))])
}

async function rpcAnswers(rpc: Rpc, single: readonly Single[], signal: AbortSignal): Promise<readonly unknown[]> {
	if (single.length === 0) return []
	return rpc
		.batch(
			single.map(({ txHash }) => receiptCall(txHash)),
			signal,
		)
		.catch((error: unknown) => {
			signal.throwIfAborted()
			if (!(error instanceof RpcError) || !isOfIndex(error)) throw error
			return single.map(() => error)
		})
}

/** The node may lack its index of transactions, or still make it ("transaction indexing is in progress"). */
function isOfIndex(answer: unknown): boolean {
	if (!(answer instanceof RpcError)) return answer === null
	const { kind, facts } = answer
	return kind === 'no-data' || (kind === 'server' && (facts.status ?? 200) < 500)
}

/** The answers by hash; where the node's index has none, the receipts of the block. Throws the first refusal. */
export async function orOfBlocks(
	rpc: Rpc,
	single: readonly Single[],
	answers: readonly unknown[],
	signal: AbortSignal,
): Promise<ReadonlyMap<Hash, unknown>> {
	const lacking = new Set(single.flatMap(({ number }, at) => (isOfIndex(answers[at]) ? [number] : [])))
	const numbers = withoutBlocks.has(rpc) ? [] : [...lacking]
	const ofBlocks = new Map((await askBlocks(rpc, numbers, signal)).flatMap((answer) => [...receiptsIn(answer)]))
	return new Map(
		single.map(({ txHash }, at) => {
			const answer = isOfIndex(answers[at]) ? (ofBlocks.get(txHash) ?? answers[at]) : answers[at]
			if (answer instanceof RpcError) throw answer
			return [txHash, answer] as const
		}),
	)
}

export async function readWholeBlocks(
	rpc: Rpc,
	whole: ReceiptPlan['whole'],
	signal: AbortSignal,
): Promise<ReadonlyMap<Hash, unknown>> {
	const numbers = whole.map(({ number }) => number)
	const answers = await askBlocks(rpc, numbers, signal)
	const receipts = new Map<Hash, unknown>()
	/** Receipts missing in a block's answer are asked for one by one; those answers count. */
	const left: Hash[] = []
	for (const [at, { txHashes }] of whole.entries()) {
		const given = receiptsIn(answers[at])
		for (const txHash of txHashes) {
			const receipt = given.get(txHash)
			if (receipt === undefined) left.push(txHash)
			else receipts.set(txHash, receipt)
		}
	}
	const again = await askAll(rpc, left.map(receiptCall), signal)
	for (const [at, txHash] of left.entries()) receipts.set(txHash, again[at])
	return receipts
}

export type Answers = ReadonlyMap<string, unknown>

/** The answers; for a receipt of another block (on Celo and Cronos two hold one hash), the one of the block. */
export async function withOwnReceipts(
	rpc: Rpc,
	hits: readonly Pick<Wanted, 'txHash' | 'blockNumber'>[],
	answers: Answers,
	signal: AbortSignal,
): Promise<Answers> {
	const numbers = new Set<bigint>()
	for (const { txHash, blockNumber } of hits) {
		const receipt = txHash === null ? null : answers.get(txHash)
		if (isObject(receipt) && quantity(receipt.blockNumber) !== blockNumber) numbers.add(blockNumber)
	}
	if (numbers.size === 0) return answers
	const found = new Map(answers)
	const blocks = await askBlocks(rpc, [...numbers], signal)
	for (const [at, number] of [...numbers].entries())
		for (const [txHash, receipt] of receiptsIn(blocks[at])) found.set(placeOf(txHash, number), receipt)
	return found
}

export function receiptAt(answers: Answers, txHash: Hash, blockNumber: bigint): unknown {
	return answers.get(placeOf(txHash, blockNumber)) ?? answers.get(txHash)
}

function placeOf(txHash: Hash, blockNumber: bigint): string {
	return `${txHash} ${blockNumber}`
}

/** In a request of their own: a plan may lack this method and have all others. */
async function askBlocks(rpc: Rpc, numbers: readonly bigint[], signal: AbortSignal): Promise<readonly unknown[]> {
	if (numbers.length === 0) return []
	const calls = numbers.map((number) => ({ method: 'eth_getBlockReceipts', params: [hexOf(number)] }))
	const failed = (error: unknown): readonly unknown[] => {
		signal.throwIfAborted()
		if (!(error instanceof RpcError)) throw error
		return numbers.map(() => error)
	}
	const answers = await rpc.batch(calls, signal).catch(failed)
	if (answers.some((one) => one instanceof RpcError && isLasting(one))) withoutBlocks.add(rpc)
	return answers
}

function isLasting({ kind }: RpcError): boolean {
	return kind === 'unsupported' || kind === 'auth' || kind === 'bad-params'
}

/** Chooses whole blocks where they take fewer calls than single receipts. */
export function planReceipts(rpc: Rpc, wanted: readonly Wanted[]): ReceiptPlan {
	const blocks = new Map<bigint, { readonly ofTransactions: number; readonly txHashes: Set<Hash> }>()
	for (const { txHash, blockNumber, ofTransactions } of wanted) {
		if (txHash === null) continue
		const own = blocks.get(blockNumber) ?? { ofTransactions, txHashes: new Set() }
		blocks.set(blockNumber, own)
		own.txHashes.add(txHash)
	}
	const whole: { number: bigint; txHashes: readonly Hash[] }[] = []
	const single: Single[] = []
	for (const [number, { ofTransactions, txHashes }] of blocks) {
		const isCheaper = areReceiptsCheaperTogether(txHashes.size, ofTransactions)
		if (isCheaper && !withoutBlocks.has(rpc)) whole.push({ number, txHashes: [...txHashes] })
		else single.push(...[...txHashes].map((txHash) => ({ txHash, number })))
	}
	return { whole, single }
}

function receiptsIn(answer: unknown): ReadonlyMap<Hash, unknown> {
	const given = new Map<Hash, unknown>()
	if (!Array.isArray(answer)) return given
	for (const receipt of answer) {
		const txHash = isObject(receipt) ? hash(receipt.transactionHash) : null
		if (txHash !== null) given.set(txHash, receipt)
	}
	return given
}
