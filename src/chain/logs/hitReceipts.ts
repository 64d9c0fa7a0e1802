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
	for (const one of found) {
		const header = headerAt.get(one.block.number)
		if (header?.hash !== one.block.hash) {
			throw unsettled({ ...reading, method: 'eth_getLogs' }, `block ${one.block.number} was replaced`)
		}
		// Celo logs of blocks themselves, and stands the block's hash in the place of a transaction's.
		if (!header.txHashes.includes(one.txHash)) continue
		const group = groups.get(one.txHash)
		if (group === undefined) groups.set(one.txHash, [one])
		else group.push(one)
	}
	const asked = [...groups.keys()]
	const answers = await askAll(rpc, asked.map(receiptCall), signal)
	return asked.map((txHash, at): TxLogs => {
		const receipt = readLogReceipt(answers[at], reading)
		const own = groups.get(txHash) ?? []
		const block = own[0]?.block
		if (block === undefined || receipt === null || receipt.txHash !== txHash || receipt.block.hash !== block.hash) {
			throw unsettled(reading, `${txHash} is no longer in the block that its logs name`)
		}
		const bloom = hexBytes(receipt.raw.logsBloom, 256)
		if (bloom !== null && bloom !== bloomOf(receipt.logs)) {
			throw malformed(reading, `the receipt of ${txHash} lacks logs that its bloom names`)
		}
		const first = receipt.logs[0]?.index ?? 0n
		const lost = own.find((one) => {
			const there = receipt.logs[Number(one.index - first)]
			return there === undefined || !isSame(one, there)
		})
		if (lost !== undefined) throw unsettled(reading, `the receipt of ${txHash} lacks log ${lost.index}`)
		const txIndex = headerAt.get(block.number)?.txHashes.indexOf(txHash) ?? null
		return { txHash, txIndex, block, initiator: receipt.sender, logs: receipt.logs }
	})
}
