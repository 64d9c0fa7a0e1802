import { type CodeKnowledge, codesNeeded } from '../../core/events/foreignCode.js'
import { RpcError } from '../../errors.js'
import type { BlockRef, TxTrace } from '../../model/chain.js'
import type { CodeFacts, CodeReader } from '../../model/contract.js'
import type { WatchIndex } from '../../model/watch.js'

/**
 * What the chain says about the code that watches ran in a transaction. What the daemon learnt, and which values it
 * found in known places, is not asked. Null: no watch ran foreign code, or its code cannot be read.
 */
export async function codeKnowledge(
	{ trace, block }: { readonly trace: TxTrace; readonly block: BlockRef },
	watches: WatchIndex,
	reader: CodeReader | null,
	signal: AbortSignal,
): Promise<CodeKnowledge | null> {
	const needed = codesNeeded(trace, (contract) => watches.has(contract))
	if (needed.size === 0 || reader === null) return null
	const codes = new Map<string, CodeFacts>()
	try {
		for (const [address, facts] of await reader.codes(needed, block, signal)) codes.set(address, facts)
		const delegates = [...codes.values()].flatMap(({ delegate }) => delegate ?? [])
		for (const [address, facts] of await reader.codes(delegates, block, signal)) codes.set(address, facts)
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		return null
	}
	return {
		asks: (contract) => watches.has(contract),
		codeAt: (address) => codes.get(address) ?? null,
		wasThere: () => false,
		isInPlace: () => false,
		singletonOf: () => null,
		learnt: () => [],
	}
}
