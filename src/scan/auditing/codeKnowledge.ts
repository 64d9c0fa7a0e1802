import { isKeepingState } from '../../audit/asked/askedState.js'
import { signalWithin } from '../../base/waits/deadline.js'
import { contractBack } from '../../core/control/setBackContract.js'
import { type CodeKnowledge, codesNeeded, delegationTo } from '../../core/events/foreignCode.js'
import { placedCode } from '../../core/events/placedCode.js'
import { cut } from '../../core/lists.js'
import { isAnnounced } from '../../core/reconcile/reconcile.js'
import { parentOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { Accounts } from '../../model/books.js'
import type { AddressSet, Block, BlockRef, TxTrace } from '../../model/chain.js'
import type { CodeFacts, CodeReader, Contract, LearntCode } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import type { NetworkState } from '../../model/state.js'

/** The code of those that took part in a transaction. */
export interface Codes {
	/** Where it was read: after the block of the transaction, or after a later one, where that state is gone. */
	readonly at: BlockRef
	readonly isLate: boolean
	readonly after: ReadonlyMap<Address, CodeFacts>
	/** What stood at addresses without code now; null: not known which code. */
	readonly gone: ReadonlyMap<Address, CodeFacts | null>
}

export interface CodesQuestion {
	readonly trace: TxTrace
	readonly block: Block
	readonly head: BlockRef
	/** The last try: code that cannot be read is not known. Default: the error is thrown. */
	readonly isLast?: boolean
}

export interface CodePorts {
	readonly codes: CodeReader
	readonly accounts: Pick<Accounts, 'authorizationsIn'>
	readonly chain: Pick<Chain, 'walk'>
}

/** Of one transaction. 16.7 million gas, the most of one (EIP-7825), reach 6,400 addresses. */
const MOST_CODES = 10_000
/** For the codes of one transaction that are read for the last time. */
const LAST_MS = 3_000

/**
 * Nodes keep the state of few blocks. After that the code of today is taken, since code hardly ever changes; where
 * there is none, code is taken to have been there. Throws RpcError.
 */
export async function readCodes(
	{ trace, block, head, isLast = false }: CodesQuestion,
	asks: (contract: Address) => boolean,
	ports: CodePorts,
	signal: AbortSignal,
): Promise<Codes> {
	const all = [...codesNeeded(trace, asks)]
	const [needed, left] = [all.slice(0, MOST_CODES), all.slice(MOST_CODES)]
	const until = isLast ? signalWithin(LAST_MS, signal) : signal
	const isGone = (error: unknown) =>
		error instanceof RpcError && error.kind === 'no-data' && !isKeepingState(block.number, head.number)
	const mayLack = (error: unknown) => isLast && !signal.aborted && !isGone(error)
	try {
		const { found, unread } = await codesAt(
			needed,
			block,
			{ codes: ports.codes, mayLack, atOnce: isLast ? LAST_AT_ONCE : AT_ONCE },
			until,
		)
		const empty = needed.filter((address) => !found.has(address) && !unread.includes(address) && !isPrecompile(address))
		const gone = new Map<Address, CodeFacts | null>([...left, ...unread].map((address) => [address, null]))
		try {
			for (const [address, facts] of await goneIn(empty, block, ports, until)) gone.set(address, facts)
		} catch (error) {
			if (!mayLack(error)) throw error
			for (const address of empty) gone.set(address, null)
		}
		return { at: block, isLate: false, after: found, gone }
	} catch (error) {
		if (!isGone(error)) throw error
		const { found } = await codesAt(needed, head, { codes: ports.codes }, signal)
		const gone = all.filter((address) => !found.has(address) && !isPrecompile(address))
		return { at: head, isLate: true, after: found, gone: new Map(gone.map((address) => [address, null])) }
	}
}

interface CodesRead {
	readonly found: ReadonlyMap<Address, CodeFacts>
	readonly unread: readonly Address[]
}

/** Addresses that fail together; in the last try, a contract and the code that it ran. */
const AT_ONCE = 50
const LAST_AT_ONCE = 2

interface CodesReading {
	readonly codes: CodeReader
	/** What fails so is left out. Default: nothing. */
	readonly mayLack?: (error: unknown) => boolean
	readonly atOnce?: number
}

/** With the code that runs instead (EIP-7702). */
async function codesAt(
	addresses: readonly Address[],
	block: BlockRef,
	{ codes, mayLack = () => false, atOnce = AT_ONCE }: CodesReading,
	signal: AbortSignal,
): Promise<CodesRead> {
	const found = new Map<Address, CodeFacts>()
	const unread: Address[] = []
	const read = async (some: readonly Address[]) => {
		try {
			for (const [address, facts] of await codes.codes(some, block, signal)) found.set(address, facts)
		} catch (error) {
			if (!mayLack(error)) throw error
			unread.push(...some)
		}
	}
	const results = await Promise.allSettled(cut(addresses, atOnce).map(read))
	for (const result of results) if (result.status === 'rejected') throw result.reason
	const delegates = [...found.values()].flatMap(({ delegate }) => delegate ?? [])
	if (delegates.length > 0) await read(delegates.filter((address) => !found.has(address)))
	return { found, unread }
}

/**
 * Which of these had code before or within the block, though they have none after it. Since Prague code leaves only
 * with the transaction that made it (EIP-6780), or as a delegation (EIP-7702). Throws RpcError.
 */
async function goneIn(
	addresses: readonly Address[],
	block: Block,
	ports: CodePorts,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, CodeFacts | null>> {
	const gone = new Map<Address, CodeFacts | null>()
	if (addresses.length === 0) return gone
	const asked: AddressSet = new Map(addresses.map((address) => [address, null]))
	const read = { codes: ports.codes }
	if (block.takesAuthorisations !== true) {
		for (const [address, facts] of (await codesAt(addresses, parentOf(block), read, signal)).found)
			if (asked.has(address)) gone.set(address, facts)
		const span = { from: block.number, to: block.number }
		for await (const { transactions } of ports.chain.walk(span, asked, signal))
			for (const { type, from, to } of transactions.flatMap(({ frames }) => frames)) {
				const made = type === 'suicide' ? from : type === 'call' || type === 'reward' ? null : to
				if (made !== null && asked.has(made) && !gone.has(made)) gone.set(made, null)
			}
		return gone
	}
	const { block: own, signed, left } = await ports.accounts.authorizationsIn(block.number, asked, signal)
	if (own.hash !== block.hash)
		throw new RpcError(`block ${block.number} was replaced`, { kind: 'unsettled', endpoint: '' })
	const signers = left > 0 ? addresses : [...new Set(signed.map(({ authority }) => authority))]
	const before = await codesAt(signers, parentOf(block), read, signal)
	for (const address of signers) {
		const delegates = signed.flatMap(({ authority, delegate }) => (authority === address ? (delegate ?? []) : []))
		const options = [...new Set([before.found.get(address)?.delegate ?? [], delegates].flat())]
		const [only] = options
		if (only !== undefined && left === 0) gone.set(address, options.length === 1 ? delegationTo(only) : null)
		else if (left > 0) gone.set(address, null)
	}
	return gone
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
		goneAt: (address) => codes.gone.get(address),
		hasPlace: (contract) => placedBefore(contracts.get(contract), block).size > 0,
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
