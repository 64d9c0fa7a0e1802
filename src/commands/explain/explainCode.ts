import { readContracts } from '../../audit/contracts/readContracts.js'
import { contractBack } from '../../core/control/setBackContract.js'
import { type CodeKnowledge, codesNeeded } from '../../core/events/foreignCode.js'
import { placedCode } from '../../core/events/placedCode.js'
import { parentOf } from '../../core/spans.js'
import { RpcError, StateError } from '../../errors.js'
import type { Block, BlockRef, TxTrace } from '../../model/chain.js'
import type { CodeReader, Contract, ContractState } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { StatePlace } from '../../model/state.js'
import type { WatchIndex } from '../../model/watch.js'
import { type CodePorts, knowledgeOf, readCodes } from '../../scan/auditing/codeKnowledge.js'
import { peekNetwork } from '../../state/open.js'

export interface CodeQuestion {
	readonly trace: TxTrace
	readonly block: Block
	readonly head: () => Promise<BlockRef>
	readonly network: string
	readonly watches: WatchIndex
	readonly statePlace: StatePlace
}

/** `missing`: what is not known, in words. */
export interface CodeAnswer {
	readonly knowledge: CodeKnowledge | null
	readonly missing: readonly string[]
}

interface Readers extends Omit<CodePorts, 'codes'> {
	/** Null: on a private network. */
	readonly codes: CodeReader | null
	readonly contracts: ContractState | null
}

/**
 * What is known about the code that watches ran: by the chain, and by what the daemon remembered of them before the
 * block. The places of a watch that it does not remember are read from the chain.
 */
export async function codeKnowledge(
	{ trace, block, head, network, watches, statePlace }: CodeQuestion,
	{ codes, contracts, ...ports }: Readers,
	signal: AbortSignal,
): Promise<CodeAnswer> {
	const asks = (contract: Address) => watches.has(contract)
	if (codes === null || contracts === null || codesNeeded(trace, asks).size === 0)
		return { knowledge: null, missing: [] }
	const missing: string[] = []
	try {
		const read = await readCodes({ trace, block, head: await head() }, asks, { codes, ...ports }, signal)
		const remembered = await peekNetwork(statePlace, network).catch((error: unknown) => {
			if (!(error instanceof StateError)) throw error
			missing.push(`what the daemon learnt: ${error.message}`)
			return undefined
		})
		const known = new Map<Address, Contract>()
		const unknown: Address[] = []
		for (const address of new Set(trace.frames.flatMap(({ from }) => from ?? []).filter(asks))) {
			const entry = remembered?.contracts.get(address)
			if (entry === undefined) unknown.push(address)
			else known.set(address, entry)
		}
		try {
			for (const [address, entry] of await readPlaces(unknown, parentOf(block), contracts, signal))
				known.set(address, entry)
		} catch (error) {
			if (!(error instanceof RpcError)) throw error
			missing.push(`what stood in the known places of the watch: ${error.message}`)
		}
		const base = knowledgeOf({
			state: { contracts: known, announcements: new Map() },
			codes: read,
			asks,
			block: block.number,
		})
		const knowledge: CodeKnowledge = {
			...base,
			// What changed in the block itself was reported as `control`.
			isInPlace: (contract, code) =>
				base.isInPlace(contract, code) || isReportedPlace(known.get(contract), code, { block, watches, contract }),
			// Learnt in this block, it may be this very transaction that is reported.
			learnt: (contract) => base.learnt(contract).filter((one) => one.block < block.number),
		}
		return { knowledge, missing }
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		return { knowledge: null, missing: [`the codes themselves: ${error.message}`] }
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

function isReportedPlace(
	entry: Contract | undefined,
	code: Address,
	{ block, watches, contract }: { readonly block: Block; readonly watches: WatchIndex; readonly contract: Address },
): boolean {
	if (watches.get(contract)?.some(({ kinds }) => kinds.includes('control')) !== true) return false
	const after = entry === undefined ? null : contractBack(entry, block.number)
	return after !== null && placedCode(after).has(code)
}
