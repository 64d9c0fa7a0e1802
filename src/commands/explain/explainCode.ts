import { readContracts } from '../../audit/contracts/readContracts.js'
import { contractBack } from '../../core/control/setBackContract.js'
import { type CodeKnowledge, codesNeeded } from '../../core/events/foreignCode.js'
import { placedCode } from '../../core/events/placedCode.js'
import { parentOf } from '../../core/spans.js'
import type { Block, BlockRef, TxTrace } from '../../model/chain.js'
import type { CodeReader, Contract, ContractState } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { NetworkState } from '../../model/state.js'
import type { WatchIndex } from '../../model/watch.js'
import { type CodePorts, knowledgeOf, readCodes } from '../../scan/auditing/codeKnowledge.js'

export interface CodeQuestion {
	readonly trace: TxTrace
	readonly block: Block
	readonly head: () => Promise<BlockRef>
	readonly watches: WatchIndex
	/** What the daemon remembers of the network; undefined where there is no state. */
	readonly remembered: () => Promise<Pick<NetworkState, 'contracts'> | undefined>
}

interface Readers extends Omit<CodePorts, 'codes'> {
	/** Null: on a private network. */
	readonly codes: CodeReader | null
	readonly contracts: ContractState | null
}

/**
 * What is known about the code that watches ran: by the chain, and by what the daemon remembered of them before the
 * block. The places of a watch that it does not remember are read from the chain. Null: no foreign code ran, or the
 * network is private. Throws RpcError.
 */
export async function codeKnowledge(
	{ trace, block, head, watches, remembered }: CodeQuestion,
	{ codes, contracts, ...ports }: Readers,
	signal: AbortSignal,
): Promise<CodeKnowledge | null> {
	const asks = (contract: Address) => watches.has(contract)
	if (codes === null || contracts === null || codesNeeded(trace, asks).size === 0) return null
	const read = await readCodes({ trace, block, head: await head() }, asks, { codes, ...ports }, signal)
	const { contracts: learnt = new Map<Address, Contract>() } = (await remembered()) ?? {}
	const callers = [...new Set(trace.frames.flatMap(({ from }) => from ?? []).filter(asks))]
	const unknown = callers.filter((address) => !learnt.has(address))
	const known = new Map([...learnt, ...(await readPlaces(unknown, parentOf(block), contracts, signal))])
	const state = { contracts: known, announcements: new Map() }
	const base = knowledgeOf({ state, codes: read, asks, block: block.number })
	return {
		...base,
		// What changed in the block itself was reported as `control`.
		isInPlace(contract, code) {
			if (base.isInPlace(contract, code)) return true
			const entry = known.get(contract)
			const after = entry === undefined ? null : contractBack(entry, block.number)
			const isReported = watches.get(contract)?.some(({ kinds }) => kinds.includes('control')) === true
			return isReported && after !== null && placedCode(after).has(code)
		},
		// Learnt in this block, it may be this very transaction that is reported.
		learnt: (contract) => base.learnt(contract).filter((one) => one.block < block.number),
	}
}

/** As at a first look. */
async function readPlaces(
	addresses: readonly Address[],
	at: BlockRef,
	contracts: ContractState,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, Contract>> {
	const questions = addresses.map((address) => ({ address, known: null, reads: [] }))
	const readings = await readContracts(questions, at, contracts, signal)
	return new Map(
		[...readings].flatMap(([address, { codeHash, isSafe, values }]) =>
			codeHash === null ? [] : [[address, { since: at.number, readAt: at.number, codeHash, isSafe, values }] as const],
		),
	)
}
