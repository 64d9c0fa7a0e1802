import { createTimeSlices } from '../../base/timeSlices.js'
import type { TxLogs } from '../../core/tokenLogs.js'
import type { Hash } from '../../model/glossary.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import { receiptCall } from '../sources/readReceipts.js'
import { type Header, hexBytes, malformed, type Reading, unsettled } from '../wire.js'
import { bloomOf } from './bloom.js'
import { isSame, type Log, readLogReceipt } from './wireLogs.js'

/**
 * The transactions that hold the logs found, whole: each by its receipt, which must have the logs that were found, and
 * those that its bloom names. Throws RpcError.
 */
export async function readHitReceipts(
	rpc: Rpc,
	found: readonly Log[],
	headers: readonly Header[],
	signal: AbortSignal,
): Promise<readonly TxLogs[]> {
	const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
	const headerAt = new Map(headers.map((header) => [header.number, header]))
	const groups = new Map<Hash, Log[]>()
	const slices = createTimeSlices()
	const places = new Map<bigint, ReadonlyMap<Hash, number>>()
	/** Place of a transaction in its block; null: it is in none. A block may hold thousands of both. */
	const placeOf = (number: bigint, txHash: Hash): number | null => {
		let own = places.get(number)
		if (own === undefined) {
			own = new Map((headerAt.get(number)?.txHashes ?? []).map((one, place) => [one, place]))
			places.set(number, own)
		}
		return own.get(txHash) ?? null
	}
	for (const one of found) {
		if (slices.isOver()) await slices.next()
		const header = headerAt.get(one.block.number)
		if (header?.hash !== one.block.hash) {
			throw unsettled({ ...reading, method: 'eth_getLogs' }, `block ${one.block.number} was replaced`)
		}
		// Celo logs of blocks themselves, and stands the block's hash in the place of a transaction's.
		if (placeOf(header.number, one.txHash) === null) continue
		const group = groups.get(one.txHash)
		if (group === undefined) groups.set(one.txHash, [one])
		else group.push(one)
	}
	const asked = [...groups.keys()]
	const answers = await askAll(rpc, asked.map(receiptCall), signal)
	const txs: TxLogs[] = []
	for (const [at, txHash] of asked.entries()) {
		if (slices.isOver()) await slices.next()
		const receipt = await readLogReceipt(answers[at], reading, slices)
		const own = groups.get(txHash) ?? []
		const block = own[0]?.block
		if (block === undefined || receipt === null || receipt.txHash !== txHash || receipt.block.hash !== block.hash) {
			throw unsettled(reading, `${txHash} is no longer in the block that its logs name`)
		}
		const bloom = hexBytes(receipt.raw.logsBloom, 256)
		if (bloom !== null && bloom !== (await bloomOf(receipt.logs, slices))) {
			throw malformed(reading, `the receipt of ${txHash} lacks logs that its bloom names`)
		}
		const first = receipt.logs[0]?.index ?? 0n
		for (const one of own) {
			if (slices.isOver()) await slices.next()
			const there = receipt.logs[Number(one.index - first)]
			if (there === undefined || !isSame(one, there))
				throw unsettled(reading, `the receipt of ${txHash} lacks log ${one.index}`)
		}
		const txIndex = placeOf(block.number, txHash)
		txs.push({ txHash, txIndex, block, initiator: receipt.sender, logs: receipt.logs })
	}
	return txs
}
