import type { AddressSet } from '../../model/chain.js'
import type { Hit } from '../blocks/receipts.js'
import type { Rpc } from '../rpc/rpc.js'
import { matters, type RowGroup } from '../traces/assemble.js'
import { type Header, malformed, unsettled } from '../wire/wire.js'
import { readAlone } from './askAlone.js'
import { scanBlock } from './scanBlock.js'
import { askTransaction } from './traceBlock.js'

interface HitBlock {
	readonly block: Header
	/** What an address filter gave of the block. */
	readonly given: readonly RowGroup[]
	readonly addresses: AddressSet
}

/** Completes what a filter found in a block by the whole block (`raw`: of `trace_block`). The two check each other. */
export async function completeByBlock(
	rpc: Rpc,
	raw: unknown,
	{ block, given, addresses }: HitBlock,
	signal: AbortSignal,
): Promise<readonly Hit[]> {
	const reading = { endpoint: rpc.endpoint, method: 'trace_block', calls: addresses.calls }
	const asked = { addresses }
	const scanned = await rpc.progress.during(() => scanBlock(raw, block, asked, reading))
	const uncovered = scanned.missing.size > 0 ? [{ ...scanned, block }] : []
	const asking = { ...askTransaction(asked, reading), addresses, mayLack: false, reading }
	const hits = [...scanned.hits, ...(await readAlone(rpc, uncovered, asking, signal)).hits]
	const rowsOf = new Map(given.map(({ txHash, rows }) => [txHash, rows]))
	// A filter may lack rewards. Drop them here too, so that both ways to complete a hit give the same result.
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
