import { isSliceOver, nextSlice } from '../../../base/waits/slices.js'
import type { TxLogs } from '../../../core/events/tokenLogs.js'
import { addTo } from '../../../core/lists.js'
import type { Hash } from '../../../model/glossary.js'
import { readReceipts, receiptAt, withOwnReceipts } from '../../blocks/readReceipts.js'
import type { Rpc } from '../../rpc/rpc.js'
import { bloomIn, type Header, malformed, type Reading, unsettled } from '../../wire/wire.js'
import { bloomOf } from './bloom.js'
import { isSame, type Log, readLogReceipt } from './wireLogs.js'

/** The transactions of the logs, by receipts that have these logs and all that their bloom names. Throws RpcError. */
export async function readHitReceipts(
	rpc: Rpc,
	found: readonly Log[],
	headers: readonly Header[],
	signal: AbortSignal,
): Promise<readonly TxLogs[]> {
	const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
	const headerAt = new Map(headers.map((header) => [header.number, header]))
	/** By hash and block, since two blocks may hold one hash. */
	const groups = new Map<string, Log[]>()
	const places = new Map<bigint, ReadonlyMap<Hash, number>>()
	/** Place of a transaction in its block; null: not in it. A block may hold thousands of transactions and logs. */
	const placeOf = (number: bigint, txHash: Hash): number | null => {
		let own = places.get(number)
		if (own === undefined) {
			own = new Map((headerAt.get(number)?.txHashes ?? []).map((one, place) => [one, place]))
			places.set(number, own)
		}
		return own.get(txHash) ?? null
	}
	for (const one of found) {
		if (isSliceOver()) await nextSlice()
		const header = headerAt.get(one.block.number)
		if (header?.hash !== one.block.hash) {
			throw unsettled({ ...reading, method: 'eth_getLogs' }, `block ${one.block.number} was replaced`)
		}
		// Celo writes logs that belong to a block itself, with the block's hash in place of a transaction's.
		if (placeOf(header.number, one.txHash) === null) continue
		addTo(groups, `${one.txHash} ${header.number}`, one)
	}
	const hits = [...groups.values()].flatMap(([first]) => first ?? [])
	const single = hits.map(({ txHash, block }) => ({ txHash, number: block.number }))
	const wanted = hits.map(({ txHash, block }) => ({ txHash, blockNumber: block.number }))
	const byHash = await readReceipts(rpc, { whole: [], single }, signal)
	const receipts = await withOwnReceipts(rpc, wanted, byHash, signal)
	const txs: TxLogs[] = []
	for (const own of groups.values()) {
		if (isSliceOver()) await nextSlice()
		const [one] = own
		if (one === undefined) continue
		const { txHash, block } = one
		const receipt = await readLogReceipt(receiptAt(receipts, txHash, block.number) ?? null, reading)
		if (receipt === null || receipt.txHash !== txHash || receipt.block.hash !== block.hash) {
			throw unsettled(reading, `${txHash} is no longer in the block that its logs name`)
		}
		const bloom = bloomIn(receipt.raw)
		if (bloom !== null && bloom !== (await bloomOf(receipt.logs))) {
			throw malformed(reading, `the receipt of ${txHash} lacks logs that its bloom names`)
		}
		const first = receipt.logs[0]?.index ?? 0n
		for (const one of own) {
			if (isSliceOver()) await nextSlice()
			const there = receipt.logs[Number(one.index - first)]
			if (there === undefined || !isSame(one, there))
				throw unsettled(reading, `the receipt of ${txHash} lacks log ${one.index}`)
		}
		const txIndex = placeOf(block.number, txHash)
		txs.push({ txHash, txIndex, block, initiator: receipt.sender, logs: receipt.logs })
	}
	return txs
}
