/** The borders of the rooms: `watch` reaches the chain, the state and the receivers through these alone. */

import type { Message } from './alert.js'
import type { AddressSet, Block, BlockRef, Doubt, Fared, Head, Part, TxTrace, WalkSpan } from './chain.js'
import type { Delivery, DeliveryStatus, Outcome, Resolution } from './delivery.js'
import type { Address, Hash, Hex } from './glossary.js'
import type { Commit, Enrolment, GapMark, NetworkState, StateSummary } from './state.js'
import type { TokenBalanceQuestion, TokenEvent, TokenWords } from './token.js'

/** Facts come in through this port. Every method throws RpcError when no endpoint could answer. */
export interface Chain {
	/** The head, from the most preferred endpoint that is healthy. */
	head(signal: AbortSignal): Promise<Head>
	/** The header of a block; null when no endpoint has a block of that number. */
	block(number: bigint, signal: AbortSignal): Promise<Block | null>
	/**
	 * Where a transaction stands now; null when it is in no block.
	 */
	locate(txHash: Hash, signal: AbortSignal): Promise<BlockRef | null>
	/**
	 * One transaction with all its frames, whatever they moved, and the token transfers that its logs tell of, whoever
	 * they concern; null when it is in no block. `failureData` is what it reverted with, where it failed and the node can
	 * tell.
	 */
	transaction(
		txHash: Hash,
		signal: AbortSignal,
	): Promise<{
		readonly trace: TxTrace
		readonly block: Block
		readonly tokens: readonly TokenEvent[]
		/** Path of the frame that wrote each of its logs, in their order; null where the node does not tell. */
		readonly logFrames: readonly (readonly number[])[] | null
		readonly failureData: Hex | null
	} | null>
	/**
	 * Who made a contract and in which transaction, as the node's own index has it (Otterscan level 8); null where the
	 * node does not say within a quarter of a second: no alert waits longer for it. Never throws but for an abort.
	 */
	creator(contract: Address, signal: AbortSignal): Promise<{ readonly txHash: Hash; readonly creator: Address } | null>
	/**
	 * Whether an address has code of its own now; null where it is not asked or not answered. Throws only when aborted.
	 */
	isContract(address: Address, signal: AbortSignal): Promise<boolean | null>
	/**
	 * What contracts of tokens say of themselves, each asked once; those that were not asked, or did not answer, are left
	 * out. Never throws but for an abort.
	 */
	tokenWords(contracts: ReadonlySet<Address>, signal: AbortSignal): Promise<ReadonlyMap<Address, TokenWords>>
	/**
	 * What a token's contract says that an address has after a block, in the smallest unit (of ERC-721: how many); null
	 * where it says nothing that can be understood. Throws RpcError; `no-data` where the state is not there (any more).
	 */
	tokenBalance(question: TokenBalanceQuestion, signal: AbortSignal): Promise<bigint | null>
	/**
	 * Reads a span, cut into parts of a size that the endpoint can bear, in order, without a gap. A part is yielded only
	 * when nothing about it is in doubt. `addresses` may be empty: then no traces are asked for.
	 */
	walk(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): AsyncIterable<Part>
	/**
	 * The same for blocks that were walked before: read by another endpoint than then, by another client if there is one,
	 * where the network has several.
	 */
	walkAgain(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): AsyncIterable<Part>
	/** This span will be walked soon, for these addresses: its reading may begin. Never throws. */
	expect(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): void
	close(): Promise<void>
}

/** Every source of every endpoint, each by itself: what one cannot do puts no endpoint to rest. */
export interface Tries {
	/**
	 * Asks for one block by all of them; resolves to the block as soon as one gives it, else to how each fared. Throws
	 * the signal's reason.
	 */
	tryAll(doubt: Doubt, addresses: AddressSet, signal: AbortSignal): Promise<Part | readonly Fared[]>
	/**
	 * The hash of a block, as its header or the header after it says; null where there is none. Throws RpcError when
	 * nobody could tell.
	 */
	hashOf(number: bigint, signal: AbortSignal): Promise<Hash | null>
}

/**
 * Memory: one port. Every method that writes resolves when the change is durable, and throws StateError when it is not.
 */
export interface Store {
	/**
	 * Takes, or keeps, the right to poll a network; false while another instance has it. It is kept up until
	 * `releaseLease` or `close`, for as long as this instance runs; `commit` and `enrol` throw StateError `lost` once
	 * another has taken it over. Ask before each poll. A state that only one instance can have open answers true.
	 */
	acquireLease(network: string): Promise<boolean>
	/** Gives the right back for others to try: this instance cannot poll that network now. */
	releaseLease(network: string): Promise<void>

	/** Null before the network's first commit. */
	network(name: string): Promise<NetworkState | null>
	/** Resolves to the state that it made. */
	commit(change: Commit): Promise<NetworkState>
	/** Resolves to the state that it made. */
	enrol(network: string, change: Enrolment): Promise<NetworkState>

	/** Adds deliveries that belong to no network's step (tests, system messages). */
	post(deliveries: readonly Delivery[]): Promise<void>
	/**
	 * Takes what can be tried now: for each queue that nobody else holds, up to `perQueue` pending ones in order, as far
	 * as the first that is not due; what is set aside and not due is passed over. They stay taken until resolved or
	 * released.
	 */
	claim(options: { readonly nowMs: number; readonly perQueue: number }): Promise<readonly (readonly Delivery[])[]>
	/** `post` is added in the same atomic write, as `post` adds. */
	resolve(resolutions: readonly Resolution[], post?: readonly Delivery[]): Promise<void>
	/**
	 * Puts held deliveries into one, which takes the place of the first. False, and nothing is changed, when one of them
	 * is held no more.
	 */
	merge(ids: readonly string[], digest: Delivery): Promise<boolean>
	/** Gives claimed deliveries back untried. */
	release(ids: readonly string[]): Promise<void>
	/** When the next pending, unclaimed delivery falls due; null when there is none. */
	nextDueMs(): Promise<number | null>
	/** Calls back after deliveries were added; the result stops that. */
	onPosted(listener: () => void): () => void

	/** In order of posting; of one status only, and of one queue only, where they are named. */
	deliveries(status?: DeliveryStatus, queue?: Pick<Delivery, 'receiver' | 'recipient'>): Promise<readonly Delivery[]>
	/** Of one queue, what is set aside (`core/aside.ts`), in order of posting. */
	aside(queue: Pick<Delivery, 'receiver' | 'recipient'>): Promise<readonly Delivery[]>
	/**
	 * Makes deliveries due then, whatever their status; one that was held goes out alone. Resolves to how many were
	 * found.
	 */
	retry(ids: readonly string[], atMs: number): Promise<number>
	drop(ids: readonly string[]): Promise<number>
	/**
	 * Notes what a person says of open gaps of a network, whoever polls it; what is accepted already stays so. Resolves
	 * to how many were found.
	 */
	markGaps(network: string, numbers: readonly bigint[], mark: GapMark): Promise<number>
	summary(): Promise<StateSummary>
	/** How many deliveries that tell of a network are pending, held or parked, by receiver. */
	waiting(network: string): Promise<ReadonlyMap<string, number>>
	close(): Promise<void>
}

/** A channel is one method. It never throws for a failure of the other side. */
export interface Receiver {
	readonly name: string
	/** Addresses that each get a delivery of their own; null: the receiver is one. */
	readonly recipients: readonly string[] | null
	deliver(delivery: Delivery, signal: AbortSignal): Promise<Outcome>
	/** Whether all of this digest goes into one message; absent: it takes none, and is sent each alert by itself. */
	readonly takesDigest?: (digest: Message) => boolean
	close(): Promise<void>
}

/** The part of a logger that the rooms use; pino's own form. */
export interface Log {
	debug(facts: object, message: string): void
	info(facts: object, message: string): void
	warn(facts: object, message: string): void
	error(facts: object, message: string): void
	child(facts: object): Log
}
