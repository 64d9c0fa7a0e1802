/** The senders of transactions: logs do not contain them. */

import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { Address, Hash } from '../../model/glossary.js'
import { readReceipts } from '../blocks/readReceipts.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Reading } from '../wire/wire.js'
import type { LogEvent } from './eventsIn.js'
import { readLogReceipt } from './proofs/wireLogs.js'

/** Reads receipts for the events that lack their initiator. Throws RpcError. */
export async function withInitiators(
	rpc: Rpc,
	events: readonly LogEvent[],
	signal: AbortSignal,
): Promise<readonly LogEvent[]> {
	const nameless = new Map<Hash, bigint>()
	for (const { initiator, txHash, block } of events)
		if (initiator === null && txHash !== null) nameless.set(txHash, block.number)
	if (nameless.size === 0) return events
	const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
	const single = [...nameless].map(([txHash, number]) => ({ txHash, number }))
	const receipts = await readReceipts(rpc, { whole: [], single }, signal)
	const senders = new Map<Hash, Address | null>()
	for (const [txHash, raw] of receipts) senders.set(txHash, (await readLogReceipt(raw, reading))?.sender ?? null)
	const named: LogEvent[] = []
	for (const event of events) {
		if (isSliceOver()) await nextSlice()
		named.push({ ...event, initiator: event.initiator ?? senders.get(event.txHash ?? '0x') ?? null })
	}
	return named
}
