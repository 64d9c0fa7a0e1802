/** What one block moves without a frame: fees, withdrawals, the author's income, coins minted by the chain. */

import { RpcError } from '../../errors.js'
import type { Posting } from '../../model/books.js'
import type { AddressSet, BlockRef } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import { DEPOSIT, feeOf } from '../blocks/fee.js'
import { readReceipts, receiptAt, withOwnReceipts } from '../blocks/readReceipts.js'
import { needWithdrawals, withdrawalListsOf } from '../blocks/withdrawals.js'
import type { Rpc } from '../rpc/rpc.js'
import {
	address,
	hash,
	hexOf,
	isObject,
	type Json,
	malformed,
	quantity,
	type Reading,
	readBlock,
	readWithdrawals,
	unsettled,
	wholeBlock,
} from '../wire/wire.js'

interface Transaction {
	readonly hash: Hash
	readonly from: Address
	readonly raw: Json
}

export interface PostingRules {
	readonly chainId: number
	/** Read the receipts of every transaction of the block, so that the provider does not learn which matter. */
	readonly isPrivate: boolean
}

/** All postings for these addresses in this block. Throws RpcError; `no-data` where the rules of fees are not known. */
export async function readPostings(
	rpc: Rpc,
	{ chainId, isPrivate }: PostingRules,
	{ block, addresses }: { readonly block: BlockRef; readonly addresses: AddressSet },
	signal: AbortSignal,
): Promise<readonly Posting[]> {
	const method = 'eth_getBlockByNumber'
	const reading: Reading = { endpoint: rpc.endpoint, method }
	const raw = await rpc.call(method, [hexOf(block.number), true], signal)
	if (raw === null) throw noData(rpc, `it has no block ${block.number}`)
	const whole = wholeBlock(raw, block, reading)
	const transactions = whole.transactions.map((entry) => readTransaction(entry, reading))
	const author = address(whole.miner)
	const isAuthor = author !== null && addresses.has(author)

	const asked = isAuthor ? transactions : transactions.filter(({ from }) => addresses.has(from))
	const hashesOf = (list: readonly Transaction[]) => list.map((tx) => tx.hash)
	const plan = isPrivate
		? { whole: [{ number: block.number, txHashes: hashesOf(transactions) }], single: [] }
		: { whole: [], single: asked.map((tx) => ({ txHash: tx.hash, number: block.number })) }
	const wanted = asked.map((tx) => ({ txHash: tx.hash, blockNumber: block.number }))
	const receipts = await withOwnReceipts(rpc, wanted, await readReceipts(rpc, plan, signal), signal)
	const postings: Posting[] = []
	let income = 0n
	let payers = 0
	const baseFee = quantity(whole.baseFeePerGas) ?? 0n
	for (const tx of asked) {
		const receipt = receiptAt(receipts, tx.hash, block.number)
		if (!isObject(receipt) || hash(receipt.blockHash) !== block.hash) {
			throw unsettled({ ...reading, method: 'eth_getTransactionReceipt' }, `${tx.hash} is not in block ${block.number}`)
		}
		if (addresses.has(tx.from)) postings.push(...postingsOf(rpc, chainId, tx, receipt))
		const tip = (quantity(receipt.effectiveGasPrice ?? tx.raw.gasPrice) ?? 0n) - baseFee
		if (!isAuthor || tip <= 0n) continue
		income += (quantity(receipt.gasUsed) ?? 0n) * tip
		payers++
	}
	if (isAuthor && income > 0n) {
		const facts = { wei: [income, income], txHash: null, transactions: payers } as const
		postings.push({ kind: 'income', address: author, ...facts })
	}
	const lists = withdrawalListsOf(chainId)
	if (!lists.areCoins) return postings
	const header = readBlock(whole, reading)
	if (header !== null) needWithdrawals(lists, header, rpc.endpoint)
	return [...postings, ...withdrawalsOf(whole, addresses)]
}

function readTransaction(raw: unknown, reading: Reading): Transaction {
	const txHash = isObject(raw) ? hash(raw.hash) : null
	const from = isObject(raw) ? address(raw.from) : null
	if (!isObject(raw) || txHash === null || from === null)
		throw malformed(reading, 'a transaction without hash or sender')
	return { hash: txHash, from, raw }
}

function postingsOf(
	rpc: Rpc,
	chainId: number,
	{ hash: txHash, from, raw }: Transaction,
	receipt: Json,
): readonly Posting[] {
	const fee = feeOf(
		{
			...receipt,
			effectiveGasPrice: receipt.effectiveGasPrice ?? raw.gasPrice,
			type: receipt.type ?? raw.type,
			feeCurrency: raw.feeCurrency ?? receipt.feeCurrency,
		},
		chainId,
	)
	if (fee === null) throw noData(rpc, `what ${txHash} cost cannot be read from its receipt`)
	const postings: Posting[] = []
	if (fee[0] > 0n || fee[1] > 0n) {
		postings.push({ kind: 'fee', address: from, wei: [-fee[0], -fee[1]], txHash })
	}
	const mint = quantity(raw.type) === DEPOSIT ? (quantity(raw.mint) ?? 0n) : 0n
	if (mint > 0n) postings.push({ kind: 'mint', address: from, wei: [mint, mint], txHash })
	return postings
}

function withdrawalsOf(block: Json, addresses: AddressSet): readonly Posting[] {
	return readWithdrawals(block).withdrawals.flatMap(({ address: to, wei, index, validatorIndex }): Posting[] => {
		if (!addresses.has(to)) return []
		return [{ kind: 'withdrawal', address: to, wei: [wei, wei], txHash: null, withdrawal: { index, validatorIndex } }]
	})
}

function noData({ endpoint }: Rpc, why: string): RpcError {
	return new RpcError(`${endpoint}: ${why}`, { kind: 'no-data', endpoint })
}
