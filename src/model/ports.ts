/** The ports between rooms: the followers reach the chain, the state and the receivers only through these. */

import type { Message } from './alert.js'
import type {
	AddressSet,
	Block,
	BlockRef,
	ClientOutcome,
	Head,
	Part,
	SuspectBlock,
	TxTrace,
	WalkSpan,
} from './chain.js'
import type { Delivery, DeliveryStatus, Outcome, Resolution } from './delivery.js'
import type { Address, Hash, Hex } from './glossary.js'
import type { HistoryEntry } from './history.js'
import type { Commit, Enrolment, GapMark, NetworkState, StateSummary, WatchlistCopies } from './state.js'
import type { TokenBalanceQuestion, TokenEvent, TokenWords } from './token.js'
import type { Troubles } from './trouble.js'

/** Reads the chain. Every method throws RpcError when no endpoint could answer. */
export interface Chain {
	/** The head, from the preferred healthy endpoint. */
	head(signal: AbortSignal): Promise<Head>
	/** The same head, or one that ends at the newest shown block, at least `known`; its endpoint is then asked last. */
	shownHead(head: Head, known: bigint, signal: AbortSignal): Promise<Head>
	/** Whether an endpoint gives a block's traces, and its header by number. Throws RpcError where none can be asked. */
	canRead(number: bigint, signal: AbortSignal): Promise<boolean>
	/** Null when no endpoint has it. Above the head the first answer counts, unless `hearEach` asks every endpoint. */
	block(number: bigint, signal: AbortSignal, how?: { readonly hearEach: true }): Promise<Block | null>
	/** Each endpoint's chain id is checked again at its next request: its URL may lead to another chain by now. */
	recheckChainId(): void
	/** The block that contains a transaction now; null when none does. */
	locate(txHash: Hash, signal: AbortSignal): Promise<BlockRef | null>
	/**
	 * One transaction with all its frames and all token transfers in its logs, whatever their addresses; null when no
	 * block contains it. `failureData`: revert data of a failed transaction, where the node can give it.
	 */
	transaction(
		txHash: Hash,
		signal: AbortSignal,
	): Promise<{
		readonly trace: TxTrace
		readonly block: Block
		readonly tokens: readonly TokenEvent[]
		/** For each log in order, the path of the frame that wrote it; null where the node does not give it. */
		readonly logFrames: readonly (readonly number[])[] | null
		readonly failureData: Hex | null
	} | null>
	/** By the node's index (Otterscan level 8); null without an answer within 250 ms. Throws only when aborted. */
	creator(contract: Address, signal: AbortSignal): Promise<{ readonly txHash: Hash; readonly creator: Address } | null>
	/** Whether an address has its own code now; null: not asked or not answered. Throws only when aborted. */
	isContract(address: Address, signal: AbortSignal): Promise<boolean | null>
	/** What token contracts say of themselves, each asked once; others are left out. Throws only when aborted. */
	tokenWords(contracts: ReadonlySet<Address>, signal: AbortSignal): Promise<ReadonlyMap<Address, TokenWords>>
	/**
	 * Balance of an address after a block according to the token contract, in the smallest unit (for ERC-721, the number
	 * of tokens); null where the answer cannot be decoded. Throws RpcError; `no-data` where the state is not available
	 * (any more).
	 */
	tokenBalance(question: TokenBalanceQuestion, signal: AbortSignal): Promise<bigint | null>
	/** In parts the endpoint can take, in order, without a hole, after all checks. Without `addresses`: no traces. */
	walk(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): AsyncIterable<Part>
	/** The same for blocks walked before: if possible read by another endpoint, with another client software. */
	walkAgain(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): AsyncIterable<Part>
	/** Announces a span that will be walked soon, so that reading can start. Never throws. */
	expect(span: WalkSpan, addresses: AddressSet, signal: AbortSignal): void
	close(): Promise<void>
}

/** Every source of every endpoint, each tried by itself: a failure here puts no endpoint into backoff. */
export interface BlockFallback {
	/** Asks all sources: the block as soon as one gives it, else each one's result. Throws the signal's reason. */
	tryAll(suspect: SuspectBlock, addresses: AddressSet, signal: AbortSignal): Promise<Part | readonly ClientOutcome[]>
	/** Hash of a block, from its header or the next; null: no such block. Throws RpcError when no endpoint knows it. */
	hashOf(number: bigint, signal: AbortSignal): Promise<Hash | null>
}

/** The state. Every method that writes resolves when the change is durable, and throws StateError otherwise. */
export interface Store {
	/** Copies these watchlists for a restart that finds wrong ones, unless these copies are there already. */
	keepWatchlists(copies: WatchlistCopies): Promise<void>
	/** Deliveries that have left the outbox, and are not in the history yet, oldest first. */
	unwritten(): readonly HistoryEntry[]

	/** Null before the network's first commit. */
	network(name: string): Promise<NetworkState | null>
	/** Resolves to the new state. */
	commit(change: Commit): Promise<NetworkState>
	/** Resolves to the new state. */
	enrol(network: string, change: Enrolment): Promise<NetworkState>

	/** Adds deliveries outside of a network's commit (tests, system messages). */
	post(deliveries: readonly Delivery[]): Promise<void>
	/**
	 * Claims what can be tried now: from each queue that is not claimed, up to `perQueue` pending deliveries in sending
	 * order (`urgency.ts`), up to the first that is not due and does not wait for a digest, then those beside the queue
	 * that are due, or among more than can be claimed some of these (`core/outbox/waiting.ts`). They stay claimed until
	 * resolved or released.
	 */
	claim(options: { readonly nowMs: number; readonly perQueue: number }): Promise<readonly (readonly Delivery[])[]>
	/** `post` is added in the same atomic write, as by `post()`. */
	resolve(resolutions: readonly Resolution[], post?: readonly Delivery[]): Promise<void>
	/** Releases claimed deliveries without an attempt. */
	release(ids: readonly string[]): Promise<void>
	/** When the next pending, unclaimed delivery is due; null when there is none. */
	nextDueMs(): Promise<number | null>
	/** Calls `listener` after deliveries were added; the result unsubscribes. */
	onPosted(listener: () => void): () => void

	/** In order of posting; restricted to one status or one queue where given. */
	deliveries(status?: DeliveryStatus, queue?: Pick<Delivery, 'receiver' | 'recipient'>): Promise<readonly Delivery[]>
	/** Deliveries that wait beside one queue or for its digest (`core/outbox/waiting.ts`), in sending order. */
	aside(queue: Pick<Delivery, 'receiver' | 'recipient'>): Promise<readonly Delivery[]>
	/** Makes deliveries due at `atMs`, whatever their status; held ones are sent alone. Resolves to the number found. */
	retry(ids: readonly string[], atMs: number): Promise<number>
	drop(ids: readonly string[]): Promise<number>
	/** Records an operator's mark for open gaps; accepted ones stay accepted. Resolves to the number of gaps found. */
	markGaps(network: string, numbers: readonly bigint[], mark: GapMark): Promise<number>
	/** What receivers were notified of and has not ended. */
	troubles(): Troubles
	/** `post` is added in the same atomic write. */
	changeTroubles(troubles: Troubles, post?: readonly Delivery[]): Promise<void>
	summary(): Promise<StateSummary>
	/** Number of pending deliveries about a network, by receiver. */
	waiting(network: string): Promise<ReadonlyMap<string, number>>
	close(): Promise<void>
}

/** Sends deliveries. `deliver` never throws for a failure of the receiver. */
export interface Receiver {
	readonly name: string
	/** Addresses that each get a delivery of their own; null: the receiver has no recipients. */
	readonly recipients: readonly string[] | null
	deliver(delivery: Delivery, signal: AbortSignal): Promise<Outcome>
	/** Whether one message can carry this whole digest; absent: never, each alert is sent alone. */
	readonly takesDigest?: (digest: Message) => boolean
	close(): Promise<void>
}

/** The part of a logger that the rooms use; the form is pino's. */
export interface Log {
	debug(facts: object, message: string): void
	info(facts: object, message: string): void
	warn(facts: object, message: string): void
	error(facts: object, message: string): void
	child(facts: object): Log
}

/** What the HTTP server answers. */
export interface Page {
	readonly status: number
	readonly type: string
	readonly body: string
}
