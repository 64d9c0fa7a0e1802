import type { AddressSet } from '../../model/chain.js'
import type { Rpc } from '../rpc/rpc.js'
import { matters, type RowGroup } from '../traces/assemble.js'
import { type Header, malformed, unsettled } from '../wire.js'
import { checkCoverage } from './headers.js'
import type { Hit } from './receipts.js'
import { scanBlock } from './scanBlock.js'

interface HitBlock {
	readonly block: Header
	/** What an address filter gave of it. */
	readonly given: readonly RowGroup[]
	readonly addresses: AddressSet
	readonly withSent: boolean | undefined
}

/**
 * What an address filter found in one block, completed by the whole block (`raw`, the answer to `trace_block`). The
 * block is the filter's witness: what it holds for the addresses the filter must have given, and the other way round.
 */
export async function completeByBlock(
	rpc: Rpc,
	raw: unknown,
	{ block, given, addresses, withSent }: HitBlock,
	signal: AbortSignal,
): Promise<readonly Hit[]> {
	const reading = { endpoint: rpc.endpoint, method: 'trace_block', onWork: rpc.progress.note }
	const { hits, missing } = await scanBlock(raw, block, addresses, reading, withSent)
	if (missing.length > 0) await checkCoverage(rpc, [{ block, missing }], reading, signal)
	const rowsOf = new Map(given.map(({ txHash, rows }) => [txHash, rows]))
	// A filter need not know of rewards; by which way it is completed must make no difference.
	const found = hits.filter(({ txHash }) => txHash !== null || rowsOf.has(null))
	const named = new Set(found.map(({ txHash }) => txHash))
	for (const { txHash } of given) {
		if (txHash !== null && !named.has(txHash)) throw unsettled(reading, `it lacks what touches them in ${txHash}`)
	}
	for (const { txHash, frames } of found) {
		if (txHash === null) continue
		const events = frames.filter((frame) => matters(frame, addresses)).length
		const rows = (rowsOf.get(txHash) ?? []).filter(({ frame }) => matters(frame, addresses)).length
		if (events <= rows) continue
		const what = `it left out ${events - rows} of ${events} frames of ${txHash}`
		throw malformed({ endpoint: rpc.endpoint, method: 'trace_filter' }, what)
	}
	return found
}
