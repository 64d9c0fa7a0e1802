/** The senders of transactions: logs do not contain them. */

import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { Address, Hash } from '../../model/glossary.js'
import { askAll } from '../blocks/batchedCalls.js'
import { receiptCall } from '../blocks/readReceipts.js'
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
	const nameless = new Set<Hash>()
	for (const { initiator, txHash } of events) if (initiator === null && txHash !== null) nameless.add(txHash)
	if (nameless.size === 0) return events
	const lacking = [...nameless]
	const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
	const answers = await askAll(rpc, lacking.map(receiptCall), signal)
	const senders = new Map<Hash, Address | null>()
	for (const [at, txHash] of lacking.entries())
		senders.set(txHash, (await readLogReceipt(answers[at], reading))?.sender ?? null)
	const named: LogEvent[] = []
	for (const event of events) {
		if (isSliceOver()) await nextSlice()
		named.push({ ...event, initiator: event.initiator ?? senders.get(event.txHash ?? '0x') ?? null })
	}
	return named
}
