/** Watched contracts: what rules each of them, as last read from the state. */

import type { BlockRef } from './chain.js'
import type { Address, Hash, Hex } from './glossary.js'
import type { SlotChange } from './ownFields.js'

/** A watch that has code. */
export interface Contract {
	/** Block of the first look: what was in force then is known, and is not reported. */
	readonly since: bigint
	/** First block whose events are reported, though it stands before the first look; absent: the one after that. */
	readonly logsFrom?: bigint
	/** Last block after which the values were read. */
	readonly readAt: bigint
	/** EXTCODEHASH; for a delegated account (EIP-7702), of `0xef0100` and the delegate. */
	readonly codeHash: Hash
	/** It was proved to be a Safe, and is treated as one from then on. */
	readonly isSafe: boolean
	/**
	 * The values in force, by place: a public name such as `implementation`, `safe.owner 0x…`, `slot 7` or `governor()`.
	 * Lower case: 20 bytes for an address, 32 for everything else. Zero is left out.
	 */
	readonly values: ContractValues
	/** What changed at or above the lowest block that may still leave the chain, the latest last; absent: nothing. */
	readonly undo?: readonly ContractUndo[]
	/** Foreign code that was reported once, and is ordinary from then on; absent: none. */
	readonly learnt?: readonly LearntCode[]
	/** Absent: none. */
	readonly runs?: readonly CodeRuns[]
}

/** A watched contract of which nothing is read now, or not all. */
export interface UnreadContract {
	readonly address: Address
	/** Completes `0x… is not read: …`. */
	readonly why: string
	readonly forMs: number
}

export type ContractValues = Readonly<Record<string, Hex>>

/** What held before a block, so that it can be put back if the block leaves the chain. */
export interface ContractUndo {
	readonly block: bigint
	/** Empty text: the place had no value. */
	readonly values: Readonly<Record<string, Hex | ''>>
	/** Absent: unchanged. */
	readonly codeHash?: Hash
	/** True: it was proved to be a Safe in this block. */
	readonly becameSafe?: true
}

/** Reads contracts after exactly one block. Every method throws RpcError; `no-data` where the state is gone. */
export interface ContractState {
	/** EXTCODEHASH of those that have code. */
	codeHashes(addresses: readonly Address[], block: BlockRef, signal: AbortSignal): Promise<ReadonlyMap<Address, Hash>>
	/** Words in storage, zero included; one that is left out was not read. `common`: slots read of every contract. */
	slots(
		common: readonly Hash[],
		questions: readonly SlotQuestion[],
		block: BlockRef,
		signal: AbortSignal,
	): Promise<ReadonlyMap<Address, ReadonlyMap<Hash, Hash>>>
	/** Links of lists in mappings, as words of their slots: one of each or more, in one call for all where it can be. */
	links(
		questions: readonly ListQuestion[],
		block: BlockRef,
		signal: AbortSignal,
	): Promise<ReadonlyMap<Address, ReadonlyMap<Hash, Hash>>>
	/** The word that each function without arguments answers, by its signature; what fails is left out. */
	getters(
		questions: readonly GetterQuestion[],
		block: BlockRef,
		signal: AbortSignal,
	): Promise<ReadonlyMap<Address, ReadonlyMap<string, Hash>>>
}

export interface ContractStates extends ContractState {
	/** Asks another endpoint than the one that answered last, where there is one. */
	readonly other: ContractState
}

export interface SlotQuestion {
	readonly address: Address
	/** Besides the common ones. */
	readonly slots: readonly Hash[]
}

/** A list whose members are keys of a mapping, each with the next one as its value. */
export interface ListQuestion {
	readonly address: Address
	/** Number of the mapping. */
	readonly mapping: bigint
	/** The first link is the value of this key. */
	readonly from: Address
}

export interface GetterQuestion {
	readonly address: Address
	/** `governor()`. */
	readonly signatures: readonly string[]
}

/** Code that ran in the context of the watch: caller and callee, each by address and code hash. */
export interface LearntCode {
	readonly block: bigint
	readonly caller: Address
	readonly callerHash: Hash
	readonly callee: Address
	readonly calleeHash: Hash
	/** First four bytes of what the code was given, empty where there are fewer; absent: not known. */
	readonly selector?: string
	/** The caller handed its whole input on to code that no known place holds: the first such pair was not reported. */
	readonly forwarded?: true
}

/** How often foreign code ran in the storage of a watch. */
export interface CodeRuns {
	readonly code: Address
	/** Other code at the same address is counted anew. Null: not known. */
	readonly codeHash: Hash | null
	/** Timestamp from which the next day counts, in seconds. */
	readonly sinceS: number
	/** Alerts until then, less one for each day that passed. */
	readonly reported: number
	/** Runs since the last alert. */
	readonly held: number
}

/** What is known about code. */
export interface CodeFacts {
	readonly hash: Hash
	/** Address whose code runs instead (EIP-7702); null: it is no delegation. */
	readonly delegate: Address | null
	/** Addresses that stand in it as constants: linked libraries, targets of clones, immutables. */
	readonly constants: ReadonlySet<Address>
}

/** Reads code and storage. Every question names an address or a transaction. */
export interface CodeReader {
	/** Code after exactly this block; addresses without code are left out. Throws RpcError. */
	codes(addresses: Iterable<Address>, block: BlockRef, signal: AbortSignal): Promise<ReadonlyMap<Address, CodeFacts>>
	/** What `facetAddresses()` of a diamond (EIP-2535) answers after this block; empty: it is none, or no answer came. */
	facets(address: Address, block: BlockRef, signal: AbortSignal): Promise<readonly Address[]>
	/** What a transaction changed in the storage of an address, without names; null: no endpoint tells it in 3 s. */
	changedBy(txHash: Hash, address: Address, signal: AbortSignal): Promise<readonly SlotChange[] | null>
}
