/** Who sent the transactions in which tokens moved: logs alone do not say. */

import { createTimeSlices } from '../../base/timeSlices.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { TokenEvent } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import { receiptCall } from '../sources/readReceipts.js'
import type { Reading } from '../wire.js'
import { readLogReceipt } from './wireLogs.js'

/** Receipts are asked for of those that lack it. Throws RpcError. */
export async function withInitiators(
	rpc: Rpc,
	tokens: readonly TokenEvent[],
	signal: AbortSignal,
): Promise<readonly TokenEvent[]> {
	const nameless = new Set<Hash>()
	for (const { initiator, txHash } of tokens) if (initiator === null) nameless.add(txHash)
	if (nameless.size === 0) return tokens
	const lacking = [...nameless]
	const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
	const answers = await askAll(rpc, lacking.map(receiptCall), signal)
	const slices = createTimeSlices()
	const senders = new Map<Hash, Address | null>()
	for (const [at, txHash] of lacking.entries())
		senders.set(txHash, (await readLogReceipt(answers[at], reading, slices))?.sender ?? null)
	const named: TokenEvent[] = []
	for (const event of tokens) {
		if (slices.isOver()) await slices.next()
		named.push({ ...event, initiator: event.initiator ?? senders.get(event.txHash) ?? null })
	}
	return named
}
