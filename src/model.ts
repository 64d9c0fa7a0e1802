/**
 * The glossary. These words are used alike in code, logs and documents.
 *
 * - watchlist: a YAML file.
 * - watch: one address with its options, from one watchlist.
 * - head: the newest block a node knows; target: head less confirmations.
 * - checkpoint: the last block scanned; settled: the last block that was looked at a second time.
 * - span: a range of blocks, both ends included.
 * - frame: one call, creation or self-destruct inside a transaction, or one reward of a block.
 * - event: what really happened on chain; alert: event × watched address.
 * - receiver: where alerts go; delivery: alert × receiver (× recipient of a mail), with its attempts.
 * - lane: the deliveries of one receiver and recipient, carried out in order.
 * - cover: from which block on an address is watched; backfill: a span scanned for some addresses apart from the rest.
 *
 * Amounts and block numbers are `bigint`, in wei and blocks. Addresses and hashes are lower case hex with `0x`.
 * Everything here is plain, readonly data or a port; there is no code in this file. It is longer than others on purpose:
 * whoever reads it knows every word and every border of the program, and need not look for them in twenty places.
 */

export type Hex = `0x${string}`
/** 20 bytes, lower case. */
export type Address = Hex
/** 32 bytes, lower case. */
export type Hash = Hex

// ---- The chain -----------------------------------------------------------------------------------------------

export interface BlockRef {
	readonly number: bigint
	readonly hash: Hash
}

export interface Block extends BlockRef {
	readonly parentHash: Hash
	/** Seconds since 1970. */
	readonly timestampS: bigint
	/** Hashes of its transactions, in order. */
	readonly txHashes: readonly Hash[]
}

export interface Head {
	readonly latest: Block
	/** Number of the newest block with this tag; null where the node does not know the tag. */
	readonly safe: bigint | null
	readonly finalized: bigint | null
}

/** A range of blocks; both ends are included; `from <= to`. */
export interface Span {
	readonly from: bigint
	readonly to: bigint
}

export type FrameType = 'call' | 'create' | 'create2' | 'suicide' | 'reward'
export type CallType = 'call' | 'callcode' | 'delegatecall' | 'staticcall'

export interface Frame {
	readonly type: FrameType
	/** Null unless `type` is `call`. */
	readonly callType: CallType | null
	/** Caller, creator, or the destroyed contract. Null for a reward. */
	readonly from: Address | null
	/** Callee, created contract, heir of a self-destruct, or author of a reward. Null for a creation that left nothing. */
	readonly to: Address | null
	/** As the node says it: value of a call (also of one that moves nothing), endowment, balance, reward. */
	readonly valueWei: bigint
	/** Path from the root frame; empty for the root and for rewards. */
	readonly traceAddress: readonly number[]
	/** The node's own text when this frame failed itself; null says nothing of its parents. */
	readonly error: string | null
	/** `block`, `uncle` or what the node calls it; null unless `type` is `reward`. */
	readonly rewardType: string | null
}

/** What is known of one transaction (or, with `txHash` null, the rewards of one block). */
export interface TxTrace {
	readonly txHash: Hash | null
	readonly txIndex: number | null
	readonly block: BlockRef
	/** From the receipt; null where it was not asked for or does not say (before Byzantium). */
	readonly succeeded: boolean | null
	/**
	 * In order of `traceAddress`, depth first. Every ancestor of a frame listed is listed too: whoever reads this can
	 * judge each frame without asking again.
	 */
	readonly frames: readonly Frame[]
}

/** One span as the chain told it: complete for the addresses asked, and verified against the block headers. */
export interface Part {
	readonly span: Span
	/** Header of `span.to`, read before the traces were. */
	readonly last: Block
	/** Name of the source that read it; absent where no traces were asked for. */
	readonly source?: string
	/** Hash of the block before `span.from`, as the header of that one says; absent where it was not asked for. */
	readonly parentHash?: Hash
	/** Headers of the blocks that `transactions` stand in. */
	readonly blocks: ReadonlyMap<bigint, Block>
	/** By block, then by index; rewards of a block last. */
	readonly transactions: readonly TxTrace[]
}

/** A set of addresses: a Set, or a Map from addresses. */
export interface AddressSet {
	readonly size: number
	has(address: Address): boolean
	keys(): Iterator<Address>
}

/** Facts come in through this port. Every method throws RpcError when no endpoint could answer. */
export interface Chain {
	/** The head, from the most preferred endpoint that is healthy. */
	head(signal: AbortSignal): Promise<Head>
	/** The header of a block; null when the node has no block of that number. */
	block(number: bigint, signal: AbortSignal): Promise<Block | null>
	/**
	 * Where a transaction stands now; null when it is in no block.
	 */
	locate(txHash: Hash, signal: AbortSignal): Promise<BlockRef | null>
	/**
	 * One transaction with all its frames, whatever they moved; null when it is in no block. `failureData` is what it
	 * reverted with, where it failed and the node can tell.
	 */
	transaction(
		txHash: Hash,
		signal: AbortSignal,
	): Promise<{ readonly trace: TxTrace; readonly block: Block; readonly failureData: Hex | null } | null>
	/**
	 * Who made a contract and in which transaction, as the node's own index has it (Otterscan level 8); null where the node
	 * does not say. Never throws but for an abort.
	 */
	creator(contract: Address, signal: AbortSignal): Promise<{ readonly txHash: Hash; readonly creator: Address } | null>
	/**
	 * Reads a span, cut into parts of a size that the endpoint can bear, in order, without a gap. A part is yielded only
	 * when nothing about it is in doubt. `addresses` may be empty: then no traces are asked for.
	 */
	walk(span: Span, addresses: AddressSet, signal: AbortSignal): AsyncIterable<Part>
	close(): Promise<void>
}

// ---- What happened, and who is told ----------------------------------------------------------------------------

export type Kind = 'transfer' | 'deployment'
export type Direction = 'in' | 'out' | 'self'
export type Finality = 'latest' | 'safe' | 'finalized'

export interface ChainEvent {
	readonly kind: Kind
	readonly frameType: FrameType
	readonly from: Address | null
	readonly to: Address
	readonly valueWei: bigint
	/** The transaction's hash; for a reward the block's. */
	readonly txHash: Hash
	readonly txIndex: number | null
	readonly traceAddress: readonly number[]
	/** `root`, `0_1_2`, or `reward_0` for the first reward of a block. */
	readonly trace: string
	readonly block: BlockRef
}

/** One address of one watchlist with its options. */
export interface Watch {
	readonly network: string
	readonly address: Address
	readonly label: string | null
	readonly tags: readonly string[]
	readonly kinds: readonly Kind[]
	readonly direction: 'in' | 'out' | 'both'
	/** Transfers below are not told; at least 1. Deployments are told whatever they carry. */
	readonly minValueWei: bigint
	readonly receivers: readonly string[]
	/** Null: from the first block after the watch was first seen. */
	readonly fromBlock: bigint | null
	/** Name of the watchlist file, without its folder. */
	readonly watchlist: string
	/** When its alerts are held back; absent: never. */
	readonly silences?: readonly Silence[]
}

/** A time in which alerts are held back, not lost. `from` is included, `to` is not. */
export type Silence =
	| { readonly kind: 'once'; readonly fromMs: number; readonly toMs: number }
	| {
			readonly kind: 'weekly'
			/** On which it begins: 1 is Monday, 7 is Sunday. Not empty. */
			readonly weekdays: readonly number[]
			/** Minute of the day by the clock on the wall, 0 to 1439. */
			readonly fromMinute: number
			/** 0 to 1440; at or before `fromMinute` it is that of the next day. */
			readonly toMinute: number
			/** IANA name, such as Europe/Berlin. */
			readonly timezone: string
	  }

/** Watches of one network by address, each list in the order of the watchlists. */
export type WatchIndex = ReadonlyMap<Address, readonly Watch[]>

/** `data` of a webhook's envelope: text and JSON numbers only. The fields are those of the public contract. */
export interface AlertData {
	readonly id: string
	readonly network: string
	readonly chainId: number
	readonly blockNumber: number
	readonly blockHash: Hash
	readonly blockTimestamp: string
	readonly txHash: Hash
	readonly txIndex: number | null
	readonly traceAddress: readonly number[]
	readonly kind: Kind
	readonly frameType: FrameType
	readonly category: 'external' | 'internal'
	readonly from: string | null
	readonly to: string
	readonly contractAddress?: string
	/** The creator as `ots_getContractCreator` names it, where the node could be asked and agreed. */
	readonly creatorConfirmed?: boolean
	readonly valueWei: string
	readonly value: string
	readonly asset: string
	readonly watch: AlertWatch
	/** Label of the other side, where that is watched too. */
	readonly counterpartyLabel?: string
	readonly direction: Direction
	readonly finality: Finality
	readonly detectedAt: string
	/** Seconds from the block's timestamp to its detection. */
	readonly lagSeconds: number
	readonly late: boolean
	/** Why it is late, in a few words; absent when it is not. */
	readonly lateReason?: string
	readonly links?: { readonly tx: string; readonly from?: string; readonly to: string; readonly block: string }
}

export interface AlertWatch {
	readonly address: string
	readonly label: string | null
	readonly tags: readonly string[]
	readonly watchlist: string
}

export type AlertType = 'alert.transfer' | 'alert.deployment'

/** An alert for some receivers. Watches of one address in two watchlists make two, with the same id and no receiver in common. */
export interface Alert {
	readonly type: AlertType
	readonly data: AlertData
	readonly receivers: readonly string[]
}

export type MessageType =
	| AlertType
	| 'alert.removed'
	| 'alert.digest'
	| 'system.stalled'
	| 'system.recovered'
	| 'system.undelivered'
	| 'test'

/** What a receiver gets: the Standard Webhooks envelope. `data.deliveryId` equals the delivery's id. */
export interface Message {
	readonly type: MessageType
	/** ISO 8601 UTC; the same over retries. */
	readonly timestamp: string
	readonly data: MessageData
}

export type MessageData = MessageContent & {
	readonly deliveryId: string
	readonly test?: true
	/** Name of the receiver that refused this for good, where a fallback is told instead of it. */
	readonly insteadOf?: string
}

export type MessageContent = AlertData | DigestData | SystemData | UndeliveredData

/** `data` of `alert.digest`: many alerts in one message. */
export interface DigestData {
	readonly id: string
	/** In the order in which they would have come one by one; at least two. */
	readonly alerts: readonly DigestedAlert[]
	/** When the first of them was held back by a silence, and when they were let go; absent where there was none. ISO 8601 UTC. */
	readonly held?: { readonly from: string; readonly to: string }
}

/** As it would have come by itself: one that came so too has the same `deliveryId`. */
export interface DigestedAlert {
	readonly type: AlertType | 'alert.removed'
	readonly timestamp: string
	readonly data: AlertData & { readonly deliveryId: string; readonly insteadOf?: string }
}

/** `data` of `system.stalled` and `system.recovered`. */
export interface SystemData {
	readonly id: string
	readonly network: string
	readonly chainId: number
	readonly checkpoint: number | null
	readonly head: number | null
	/** One sentence for a person. */
	readonly reason: string
}

/** `data` of `system.undelivered`: a receiver takes nothing, or refuses what it is sent. It goes to that receiver's fallback. */
export interface UndeliveredData {
	readonly id: string
	readonly receiver: string
	/** One mail address of the receiver, where it is about that one; else null. */
	readonly recipient: string | null
	/** `parked`: its deliveries wait until somebody has mended something. `dead`: some are given up, each of which follows by itself. */
	readonly state: 'parked' | 'dead'
	/** How many deliveries to the receiver are in that state, or about to be, at this moment. */
	readonly count: number
	/** What the other side says, without secrets. */
	readonly reason: string
	/** ISO 8601 UTC. */
	readonly since: string
}

// ---- The state -------------------------------------------------------------------------------------------------

/** An alert told, kept while its block may still leave the chain, so that it can be withdrawn. */
export interface Told {
	readonly id: string
	readonly block: BlockRef
	readonly txHash: Hash
	readonly alerts: readonly Alert[]
	/** Even: told; odd: withdrawn. Counts what was said under this id, and tells repeated deliveries apart. */
	readonly turn: number
}

/** What a poll saw beside what it did; shown by `status`, and nothing depends on it. */
export interface Seen {
	readonly head: number
	/** Source of the last span read; absent before the first. */
	readonly source?: string
}

export interface Cover {
	/** First block for watches without `from_block`: the one after the head at which the address was first seen. */
	readonly since: bigint
	/** Lowest block from which on the address was ever covered. */
	readonly from: bigint
	/** Checkpoint when the address left the watchlists; null while it is watched. */
	readonly leftAt: bigint | null
	/** What was still to be scanned for it when it left. */
	readonly owed: readonly Span[]
}

/** Blocks to be scanned for some addresses only; `span` is what remains. */
export interface Backfill {
	readonly id: string
	readonly span: Span
	readonly addresses: readonly Address[]
}

export interface NetworkState {
	readonly chainId: number
	readonly checkpoint: BlockRef
	/** `settled.number <= checkpoint.number`. */
	readonly settled: BlockRef
	/** By alert id; until a commit forgets them. */
	readonly told: ReadonlyMap<string, Told>
	readonly covers: ReadonlyMap<Address, Cover>
	readonly backfills: readonly Backfill[]
}

/** `held`: kept back by a digest or a silence, from which it is let go together with others. Only `pending` ones are tried. */
export type DeliveryStatus = 'pending' | 'held' | 'parked' | 'dead'
export type HeldBy = 'digest' | 'silence'

export interface Delivery {
	/** Equals `webhook-id`; no full stop in it; deterministic. */
	readonly id: string
	readonly receiver: string
	/** Mail address; null where the receiver has no recipients. */
	readonly recipient: string | null
	readonly message: Message
	/** Id of the delivery that this one answers (a removal its alert); null otherwise. */
	readonly answers: string | null
	readonly createdAtMs: number
	readonly status: DeliveryStatus
	readonly attempts: number
	readonly nextAttemptAtMs: number
	/** Last failure in words, scrubbed; null before the first. */
	readonly lastError: string | null
	/** Only while it is held. */
	readonly heldBy?: HeldBy
	/** Goes out by itself, whatever digests and silences say. */
	readonly alone?: true
}

/** One atomic step of a network: all of it is on disk, or nothing is. Absent fields stay as they are. */
export interface Commit {
	readonly network: string
	readonly chainId: number
	readonly checkpoint?: BlockRef
	readonly settled?: BlockRef
	/** Told entries at or below this block are forgotten. */
	readonly forgetTo?: bigint
	/** Entries that are new or changed. */
	readonly told?: readonly Told[]
	readonly seen?: Seen
	/** How far a backfill has come; reaching its end removes it. */
	readonly backfill?: { readonly id: string; readonly scannedTo: bigint }
	/** Appended in this order; an id already pending, parked or dead is not added again. */
	readonly deliveries?: readonly Delivery[]
}

/** Changes of coverage; written apart from commits, so that a poll's write does not grow with the number of watches. */
export interface Enrolment {
	/** New or changed covers. */
	readonly covers: ReadonlyMap<Address, Cover>
	/** All backfills from now on; null when they are as before. */
	readonly backfills: readonly Backfill[] | null
}

export type Resolution =
	| { readonly id: string; readonly result: 'delivered' }
	| {
			readonly id: string
			readonly result: 'retry' | 'parked' | 'dead'
			readonly error: string
			/** Only for `retry`. */
			readonly nextAttemptAtMs: number
	  }
	/** Not tried: kept back until then, or until somebody says otherwise. */
	| { readonly id: string; readonly result: 'held'; readonly by: HeldBy; readonly untilMs: number }
	/** These take its place, in this order; ids that are there already are not added again. */
	| { readonly id: string; readonly result: 'apart'; readonly into: readonly Delivery[] }

/** Memory: one port. Every method that writes resolves when the change is durable, and throws StateError when it is not. */
export interface Store {
	/**
	 * Takes, or keeps, the right to poll a network; false while another instance has it. It is kept up until `cede` or `close`,
	 * for as long as this instance runs; `commit` and `enrol` throw StateError `lost` once another has taken it over. Ask before
	 * each poll. A state that only one instance can have open answers true.
	 */
	hold(network: string): Promise<boolean>
	/** Gives the right back for others to try: this instance cannot poll that network now. */
	cede(network: string): Promise<void>

	/** Null before the network's first commit. */
	network(name: string): Promise<NetworkState | null>
	commit(change: Commit): Promise<void>
	enrol(network: string, change: Enrolment): Promise<void>

	/** Adds deliveries that belong to no network's step (tests, system messages). */
	post(deliveries: readonly Delivery[]): Promise<void>
	/**
	 * Takes what can be tried now: for each lane whose first pending delivery is due and that nobody else holds, up to
	 * `perLane` pending ones in order. They stay taken until resolved or released.
	 */
	claim(options: { readonly nowMs: number; readonly perLane: number }): Promise<readonly (readonly Delivery[])[]>
	/** `post` is added in the same atomic write, as `post` adds. */
	resolve(resolutions: readonly Resolution[], post?: readonly Delivery[]): Promise<void>
	/**
	 * Puts held deliveries into one, which takes the place of the first. False, and nothing is changed, when one of them is held no
	 * more.
	 */
	merge(ids: readonly string[], digest: Delivery): Promise<boolean>
	/** Gives claimed deliveries back untried. */
	release(ids: readonly string[]): Promise<void>
	/** When the next pending, unclaimed delivery falls due; null when there is none. */
	nextDueMs(): Promise<number | null>
	/** Calls back after deliveries were added; the result stops that. */
	onPosted(listener: () => void): () => void

	/** In order of posting; of one status only, where one is named. */
	deliveries(status?: DeliveryStatus): Promise<readonly Delivery[]>
	/** Makes deliveries due then, whatever their status; one that was held goes out alone. Resolves to how many were found. */
	retry(ids: readonly string[], atMs: number): Promise<number>
	drop(ids: readonly string[]): Promise<number>
	summary(): Promise<StateSummary>
	close(): Promise<void>
}

/** Where the state is kept. */
export type StatePlace =
	/** `dir` is an absolute path. */
	| { readonly kind: 'folder'; readonly dir: string }
	/** `postgres://user:password@host:port/database`: a secret. */
	| { readonly kind: 'postgres'; readonly url: string }

export interface StateSummary {
	readonly networks: ReadonlyMap<string, NetworkSummary>
	readonly receivers: ReadonlyMap<string, ReceiverSummary>
}

export interface NetworkSummary {
	readonly chainId: number
	readonly checkpoint: BlockRef
	readonly settled: BlockRef
	readonly backfills: readonly Backfill[]
	/** When the checkpoint was last written. */
	readonly updatedAtMs: number
	/** At the last commit that told it. */
	readonly seen?: Seen
}

export interface ReceiverSummary {
	readonly pending: number
	readonly held: number
	readonly parked: number
	readonly dead: number
	/** Since the state was made; a digest counts as the alerts in it. */
	readonly delivered: number
	readonly lastDeliveredAtMs: number | null
}

// ---- The way out -----------------------------------------------------------------------------------------------

/** What came of one attempt; whoever saw the answer says whether another can help. */
export type Outcome =
	| { readonly result: 'delivered' }
	| { readonly result: 'retry'; readonly reason: string; readonly afterMs?: number }
	/** Nothing more can be sent until a person has mended something. */
	| { readonly result: 'parked'; readonly reason: string }
	/** This one message will never be taken. */
	| { readonly result: 'dead'; readonly reason: string }

/** A channel is one method. It never throws for a failure of the other side. */
export interface Receiver {
	readonly name: string
	/** Addresses that each get a delivery of their own; null: the receiver is one. */
	readonly recipients: readonly string[] | null
	deliver(delivery: Delivery, signal: AbortSignal): Promise<Outcome>
	/** Whether all of this digest can be told in one message; absent: it takes none, and is told each alert by itself. */
	readonly takesDigest?: (digest: Message) => boolean
	close(): Promise<void>
}

// ---- Settings --------------------------------------------------------------------------------------------------

export type Confirmations = number | 'safe' | 'finalized'

/** A network as the core needs it; the config room's settings extend it. */
export interface Network {
	readonly name: string
	readonly chainId: number
	readonly confirmations: Confirmations
	/** Blocks after which a block is taken as settled; `finalized`: as the node says. */
	readonly settle: number | 'finalized'
	readonly symbol: string
	readonly decimals: number
	/** Without a slash at the end; null: no links. */
	readonly explorer: string | null
}

/** The part of a logger that the rooms use; pino's own form. */
export interface Log {
	debug(facts: object, message: string): void
	info(facts: object, message: string): void
	warn(facts: object, message: string): void
	error(facts: object, message: string): void
	child(facts: object): Log
}

/** Wall clock in milliseconds since 1970; tests bring their own. */
export type Clock = () => number
