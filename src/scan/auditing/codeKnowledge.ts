import { isKeepingState } from '../../audit/asked/askedState.js'
import { contractBack } from '../../core/control/setBackContract.js'
import { type CodeKnowledge, codesNeeded } from '../../core/events/foreignCode.js'
import { placedCode } from '../../core/events/placedCode.js'
import { isAnnounced } from '../../core/reconcile/reconcile.js'
import { RpcError } from '../../errors.js'
import type { Block, BlockRef, TxTrace } from '../../model/chain.js'
import type { CodeFacts, CodeReader, Contract, LearntCode } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { NetworkState } from '../../model/state.js'

/** The code of those that took part in a transaction. */
export interface Codes {
	/** Where it was read: after the block of the transaction, or after a later one, where that state is gone. */
	readonly at: BlockRef
	readonly isLate: boolean
	readonly after: ReadonlyMap<Address, CodeFacts>
	/** Of those without code now. */
	wasThere(address: Address): boolean
}

export interface CodesQuestion {
	readonly trace: TxTrace
	readonly block: Block
	readonly head: BlockRef
}

/**
 * Nodes keep the state of few blocks. After that the code of today is taken, since code hardly ever changes; where
 * there is none, code is taken to have been there. Throws RpcError.
 */
export async function readCodes(
	{ trace, block, head }: CodesQuestion,
	asks: (contract: Address) => boolean,
	reader: CodeReader,
	signal: AbortSignal,
): Promise<Codes> {
	const needed = codesNeeded(trace, asks)
	try {
		const after = await codesAt(needed, block, reader, signal)
		const gone = [...needed].filter((address) => !after.has(address) && !isPrecompile(address))
		const before = gone.length === 0 ? null : await reader.codes(gone, parentOf(block), signal)
		return { at: block, isLate: false, after, wasThere: (address) => before?.has(address) === true }
	} catch (error) {
		const isGone = error instanceof RpcError && error.kind === 'no-data' && !isKeepingState(block.number, head.number)
		if (!isGone) throw error
		const after = await codesAt(needed, head, reader, signal)
		return { at: head, isLate: true, after, wasThere: (address) => !isPrecompile(address) }
	}
}

/** With the code that runs instead (EIP-7702). */
async function codesAt(
	addresses: ReadonlySet<Address>,
	block: BlockRef,
	reader: CodeReader,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, CodeFacts>> {
	const found = new Map(await reader.codes(addresses, block, signal))
	const delegates = [...found.values()].flatMap(({ delegate }) => delegate ?? [])
	for (const [address, facts] of await reader.codes(delegates, block, signal)) found.set(address, facts)
	return found
}

export function parentOf({ number, parentHash }: Block): BlockRef {
	return { number: number - 1n, hash: parentHash }
}

/** The lowest 65,536 addresses are kept for precompiled contracts. */
function isPrecompile(address: Address): boolean {
	return BigInt(address) < 0x10000n
}

export type Facets = ReadonlyMap<Address, readonly LearntCode[]>

export interface Known extends Pick<CodeKnowledge, 'asks'> {
	readonly state: Pick<NetworkState, 'contracts' | 'announcements'>
	readonly codes: Codes
	/** Of the transaction. */
	readonly block: bigint
	readonly facets?: Facets
}

export function knowledgeOf({ state, codes, asks, block, facets }: Known): CodeKnowledge {
	const { contracts, announcements } = state
	return {
		asks,
		codeAt: (address) => codes.after.get(address) ?? null,
		wasThere: (address) => codes.wasThere(address),
		isInPlace(contract, code) {
			const entry = contracts.get(contract)
			return placedBefore(entry, block).has(code) || wasReported(contract, code, announcements)
		},
		singletonOf(contract) {
			const { isSafe = false, values = {} } = contracts.get(contract) ?? {}
			return isSafe ? ((values['safe.singleton'] ?? null) as Address | null) : null
		},
		learnt: (contract) => [...(contracts.get(contract)?.learnt ?? []), ...(facets?.get(contract) ?? [])],
	}
}

/** The code in known places before a block. Values of the first look count for blocks before it, too. */
function placedBefore(contract: Contract | undefined, block: bigint): ReadonlySet<Address> {
	const since = contract?.since ?? block
	const back = contract === undefined ? null : contractBack(contract, block > since ? block - 1n : since)
	return back === null ? new Set() : placedCode({ ...back, undo: [] })
}

/** Changes of code that a contract runs as its own. */
const codeChanges = new Set(['implementation', 'safe.singleton', 'facets', 'beacon'])

/** Whether an alert said that this code is the contract's own by now, or was before. */
function wasReported(contract: Address, code: Address, announcements: NetworkState['announcements']): boolean {
	return reportedChanges(contract, announcements).some(
		({ current, previous }) => current?.toLowerCase() === code || previous?.toLowerCase() === code,
	)
}

interface ReportedChange {
	readonly change?: string
	readonly previous?: string | null
	readonly current?: string | null
}

/** The alerts on the code that a contract runs as its own. */
export function reportedChanges(
	contract: Address,
	announcements: NetworkState['announcements'],
): readonly ReportedChange[] {
	return [...announcements.values()].flatMap((entry) => {
		const data: ReportedChange = entry.alerts[0]?.data ?? {}
		if (!isAnnounced(entry)) return []
		const { id } = entry
		return data.change !== undefined && codeChanges.has(data.change) && id.endsWith(contract) ? [data] : []
	})
}
