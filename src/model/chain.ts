/** What a node answers, after it was checked. */
import type { Address, Hash } from './glossary.js'
import type { ControlChanged } from './kind.js'
import type { TokenEvent, UnprovedBlock } from './token.js'

export interface BlockRef {
	readonly number: bigint
	readonly hash: Hash
}

export interface Block extends BlockRef {
	readonly parentHash: Hash
	/** Seconds since 1970. */
	readonly timestampS: bigint
	/** The header has no timestamp that can be read: `timestampS` is that of a block before it, or 0. */
	readonly hasNoTime?: true
	/** Hashes of its transactions, in order. */
	readonly txHashes: readonly Hash[]
	/** EIP-4895 withdrawals in the header's order; absent where the header has none. */
	readonly withdrawals?: readonly Withdrawal[]
	/** Some withdrawals of the header cannot be read or believed; `withdrawals` has the readable ones. */
	readonly hasUnreadWithdrawals?: true
	/** Author of the block; absent where the header does not name one. */
	readonly author?: Address
	/** True for a block of Prague or later, whose transactions may set the code of plain addresses (EIP-7702). */
	readonly takesAuthorisations?: true
	/** Hash of the block's access list (EIP-7928); absent where the header has none. */
	readonly accessListHash?: Hash
}

export interface Withdrawal {
	/** Withdrawal number, counted over the whole chain. */
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

/** A range of blocks, both ends included; `from <= to`. */
export interface Span {
	readonly from: bigint
	readonly to: bigint
}

export interface WalkSpan extends Span {
	/**
	 * Blocks per request from the given block on, one request at a time; null: as many as the endpoint can take, several
	 * requests at a time. Blocks that an earlier, larger request brought are used too. Default: null.
	 */
	readonly atOnce?: (from: bigint) => number | null
}

export type FrameType = 'call' | 'create' | 'create2' | 'suicide' | 'reward'

export type CallType = 'call' | 'callcode' | 'delegatecall' | 'staticcall'

export interface Frame {
	readonly type: FrameType
	/** Null unless `type` is `call`. */
	readonly callType: CallType | null
	/** Caller, creator or destroyed contract; null for a reward. */
	readonly from: Address | null
	/** Callee, created contract, heir, or author of a reward; null for a creation that left no contract. */
	readonly to: Address | null
	/** As the node reports it: value of a call (also of one that moves nothing), endowment, balance or reward. */
	readonly valueWei: bigint
	/** Path from the root frame; empty for the root and for rewards. */
	readonly traceAddress: readonly number[]
	/** The node's error text when this frame itself failed; null says nothing about its parents. */
	readonly error: string | null
	/** `block`, `uncle` or the node's own word; null unless `type` is `reward`. */
	readonly rewardType: string | null
	/** The data of a call, in lower case; cut and ended by `…` where it is too long. Absent where no kind reads it. */
	readonly input?: string
}

/** What is known about one transaction; with `txHash` null, the rewards of one block. */
export interface TxTrace {
	readonly txHash: Hash | null
	readonly txIndex: number | null
	readonly block: BlockRef
	/** From the receipt; null where the receipt was not read or has no status (before Byzantium). */
	readonly succeeded: boolean | null
	/** Fee that the sender paid, from the receipt; absent where the receipt was not read or does not give it. */
	readonly fee?: Fee
	/**
	 * In order of `traceAddress`, depth first. Every ancestor of a listed frame is listed too, so that each frame can be
	 * judged without another request. In a walk: only frames that may be events of the requested addresses, which saves
	 * the memory of thousands of unrelated ones. For one requested transaction: all.
	 */
	readonly frames: readonly Frame[]
}

/** Charged whether or not the transaction succeeds. Two amounts where two rules may be in force; see `Posting`. */
export interface Fee {
	readonly payer: Address
	readonly wei: readonly [wei: bigint, orWei: bigint]
}

/** The answer for one span: complete for the requested addresses, and verified against the block headers. */
export interface Part {
	readonly span: Span
	/** Header of `span.to`, read before the traces. */
	readonly last: Block
	/** Name of the source; absent where no traces were requested. */
	readonly source?: string
	/** Host of the endpoint; absent where no traces were requested. */
	readonly endpoint?: string
	/** Host that read these blocks before, if it was another one: this part is a second witness. */
	readonly confirms?: string
	/** Parent hash in the header of `span.from`; absent where that header was not requested. */
	readonly parentHash?: Hash
	/** Headers of the blocks of `transactions`, and of those with a withdrawal to a requested address. */
	readonly blocks: ReadonlyMap<bigint, Block>
	/** In order of block and index; the rewards of a block come last. */
	readonly transactions: readonly TxTrace[]
	/** Of the requested addresses, by block, transaction and log; headers in `blocks`. Absent: not requested. */
	readonly tokens?: readonly TokenEvent[]
	/** What logs of the requested contracts tell of who rules them, in the same order. Absent: none was requested. */
	readonly control?: readonly ControlChanged[]
	/** Blocks in which contracts of `AddressSet.logsOf` were entered, in order; absent: none. */
	readonly touched?: readonly TouchedBlock[]
	/** Blocks where a missing log cannot be excluded, in order; absent: none, or this is a second reading. */
	readonly unprovedLogs?: readonly UnprovedBlock[]
	/** Transactions that no answer gave: what happened in them is not in this part. Absent: none. */
	readonly unread?: readonly UnreadTransaction[]
	/** Why the logs of the block could not be read; absent: they were read, or not asked for. */
	readonly unreadLogs?: string
}

export interface UnreadTransaction {
	readonly block: BlockRef
	readonly txHash: Hash
	/** The node's refusal, in words. */
	readonly why: string
	/** The endpoint was too slow or failed itself, so that it says nothing about the transaction. */
	readonly mayPass?: true
}

/** A block in which contracts ran code that may write their storage. */
export interface TouchedBlock extends BlockRef {
	/** First block that it stands for; absent: it stands for itself. */
	readonly from?: bigint
	/** Transactions that entered each of them; of more than one the first two. */
	readonly contracts: ReadonlyMap<Address, readonly Hash[]>
}

/** A set of addresses; a Map with addresses as keys is one too. */
export interface AddressSet {
	readonly size: number
	has(address: Address): boolean
	keys(): Iterator<Address>
	/** Functions of these addresses whose calls are read, whatever they move; absent: none. */
	readonly calls?: CalledFunctions | undefined
	/** Contracts among them whose own logs are read, for what rules them; absent: none. */
	readonly logsOf?: ReadonlySet<Address> | undefined
	/** Code that these addresses run in their own storage and that is looked at; absent: none. */
	readonly lent?: LentCode | undefined
}

export interface LentCode {
	/** Whether it is not known that this code is ordinary for the contract. */
	isJudged(contract: Address, code: Address): boolean
}

export interface CalledFunctions {
	has(address: Address): boolean
	/** Whether calls of this function are reported. `hasFailed`: whether failed ones are. */
	isReported(address: Address, selector: string, hasFailed: boolean): boolean
}

/** A block that could not be read, with blocks around it that show which sources work. */
export interface SuspectBlock {
	readonly number: bigint
	/** Hash of the block before it: an answer with another parent is wrong. Absent: any parent is accepted. */
	readonly parentHash?: Hash
	/**
	 * Blocks before and after it that are not gaps. Of each list the first block with transactions is requested, because
	 * an empty block proves nothing. `before` is empty where a source is already known to read earlier blocks.
	 */
	readonly before: readonly bigint[]
	readonly after: readonly bigint[]
	/** Requested if those do not help: an attacker who makes one block unreadable can do the same to the next ones. */
	readonly furtherAfter: readonly bigint[]
	/**
	 * Present once the block has failed for 5 minutes. If no block after it shows that a source works, a block before it
	 * does, provided that the source also gives `later`, a block after it that may be empty (null: there is none).
	 */
	readonly longFailing?: { readonly later: bigint | null }
	/** Time limit of each source: 3 s, 30 s or 45 s (`chain/blockFallback.ts`); short while other work waits. */
	readonly wait: 'short' | 'normal' | 'long'
}

/**
 * Result of one source of one endpoint for a doubtful block.
 *
 * - `fails`: it gave a later block, but not this one. `afterGood`: it also gave an earlier one. `part`: it gave the
 *   block without some of its transactions. `everywhere`: it refuses the blocks around it alike, by what it answers.
 * - `unanswered`: it is down, busy or slow, or does not have the later blocks yet, so nothing is known.
 * - `unable`: it cannot read blocks at all.
 */
export type ClientOutcome =
	| {
			readonly client: string
			readonly result: 'fails'
			readonly afterGood: boolean
			readonly why: string
			readonly part?: Part
			readonly everywhere?: true
			/** The answer itself shows that the block is at fault: no other block has to show that the source works. */
			readonly certain?: true
	  }
	| { readonly client: string; readonly result: 'unanswered' | 'unable'; readonly why: string }
