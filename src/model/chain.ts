/** What a node answers, once it was read and checked. */
import type { Address, Hash } from './glossary.js'
import type { TokenEvent, UnprovedBlock } from './token.js'

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
	/** What the consensus layer pays in it (EIP-4895), in its order; absent where the header does not say. */
	readonly withdrawals?: readonly Withdrawal[]
	/** Who made the block; absent where the header does not say. */
	readonly author?: Address
	/** The header is one of Prague or later, whose transactions may set the code of plain addresses (EIP-7702). */
	readonly takesAuthorisations?: true
	/** Of its access list (EIP-7928); absent where the header names none. */
	readonly accessListHash?: Hash
}

export interface Withdrawal {
	/** Its number over the whole chain. */
	readonly index: bigint
	readonly validatorIndex: bigint
	readonly address: Address
	readonly wei: bigint
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

/** What a walk goes over. */
export interface WalkSpan extends Span {
	/**
	 * How many blocks are asked for at once from this one on, one question after the other; null: as many as the endpoint
	 * bears, several questions at a time. What has come with more is taken all the same. Default: null.
	 */
	readonly atOnce?: (from: bigint) => number | null
}

export type FrameType = 'call' | 'create' | 'create2' | 'suicide' | 'reward'

export type CallType = 'call' | 'callcode' | 'delegatecall' | 'staticcall'

export interface Frame {
	readonly type: FrameType
	/** Null unless `type` is `call`. */
	readonly callType: CallType | null
	/** Caller, creator, or the destroyed contract. Null for a reward. */
	readonly from: Address | null
	/**
	 * Callee, created contract, heir of a self-destruct, or author of a reward. Null for a creation that left nothing.
	 */
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
	/** What its sender paid for it, by the receipt; absent where that was not asked for or does not say. */
	readonly fee?: Fee
	/**
	 * In order of `traceAddress`, depth first. Every ancestor of a frame listed is listed too: whoever reads this can
	 * judge each frame without asking again. Of a walk those that may be events for the addresses asked, and no others: a
	 * stranger's thousands of frames cost nothing from here on. Of one transaction that was asked for, all.
	 */
	readonly frames: readonly Frame[]
}

/** Charged whether a transaction fails or not. Two numbers where two rules may be in force; see `Posting`. */
export interface Fee {
	readonly payer: Address
	readonly wei: readonly [wei: bigint, orWei: bigint]
}

/** One span as the chain answered it: complete for the addresses asked, and verified against the block headers. */
export interface Part {
	readonly span: Span
	/** Header of `span.to`, read before the traces were. */
	readonly last: Block
	/** Name of the source that read it; absent where no traces were asked for. */
	readonly source?: string
	/** Host that read it; absent where no traces were asked for. */
	readonly endpoint?: string
	/** Host that read these blocks before, where that was another one: this part is a second witness. */
	readonly confirms?: string
	/** Hash of the block before `span.from`, as the header of that one says; absent where it was not asked for. */
	readonly parentHash?: Hash
	/** Headers of the blocks that `transactions` stand in, and of those that pay a withdrawal to one of the addresses. */
	readonly blocks: ReadonlyMap<bigint, Block>
	/** By block, then by index; rewards of a block last. */
	readonly transactions: readonly TxTrace[]
	/**
	 * Token transfers of the addresses, by block, index and log; their headers stand in `blocks`. Absent where logs were
	 * not asked for.
	 */
	readonly tokens?: readonly TokenEvent[]
	/** Blocks in which nothing proves that no log is missing, in order; absent: none, or a second look. */
	readonly unprovedLogs?: readonly UnprovedBlock[]
}

/** A set of addresses: a Set, or a Map from addresses. */
export interface AddressSet {
	readonly size: number
	has(address: Address): boolean
	keys(): Iterator<Address>
}

/** A block that could not be read, and blocks around it that show who can be heard at all. */
export interface Doubt {
	readonly number: bigint
	/**
	 * Before it and after it, that are no gaps: the first of each that has transactions is asked for, since an empty one
	 * proves nothing. None before it: that was seen already.
	 */
	readonly before: readonly bigint[]
	readonly after: readonly bigint[]
	/** Asked for where those do not help: whoever makes one block hostile can make the next ones so. */
	readonly furtherAfter: readonly bigint[]
	/** How long each way is waited for: everybody else may wait meanwhile, or nobody. */
	readonly wait: 'moment' | 'earnest' | 'patient'
}

/**
 * How one source of one endpoint fared at a block in doubt.
 *
 * - `fails`: it gave a block after it, and not this one. `afterGood`: it gave one before, too.
 * - `unheard`: it is down, busy or slow, or has not come to the blocks after it yet: nothing can be said.
 * - `unable`: it cannot read blocks at all.
 */
export type Fared =
	| { readonly way: string; readonly result: 'fails'; readonly afterGood: boolean; readonly why: string }
	| { readonly way: string; readonly result: 'unheard' | 'unable'; readonly why: string }
