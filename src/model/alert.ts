/** What happened, and the messages that say so. */

import type { BlockRef, FrameType } from './chain.js'
import type { Address, Hash } from './glossary.js'
import type { TokenData, TokenEvent } from './token.js'
import type { Direction, EventKind, Kind } from './watch.js'

export type Finality = 'latest' | 'safe' | 'finalized'

/** What happened on chain, as frames tell it or as logs do. */
export type ChainEvent = FrameEvent | TokenEvent

export interface FrameEvent {
	readonly kind: EventKind
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
	/** Who sent the transaction; null where there is none, or the node does not say. */
	readonly initiator: Address | null
}

/** `data` of a webhook's envelope: text and JSON numbers only. The fields are those of the public contract. */
export interface AlertData extends Partial<UnexplainedData> {
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
	/** Of what no frame tells: the kind, `balance` of what is unexplained, `log` of a token. */
	readonly frameType: FrameType | 'withdrawal' | 'delegation' | 'income' | 'balance' | 'log'
	readonly category: 'external' | 'internal'
	readonly from: string | null
	readonly to: string
	readonly contractAddress?: string
	/** Who sent the transaction, where it is known. */
	readonly initiator?: string
	/** The creator as `ots_getContractCreator` names it, where the node could be asked and agreed. */
	readonly creatorConfirmed?: boolean
	/** Absent for a token, which has no wei. */
	readonly valueWei?: string
	/** Null for a token whose decimals are not known. */
	readonly value: string | null
	/** Null for a token that has no symbol. */
	readonly asset: string | null
	/** Of an alert of kind `token`. */
	readonly token?: TokenData
	/** Whom ERC-1155 names as the one who moved it, where that is not `from`. */
	readonly operator?: string
	/** Of a flood of unknown tokens, or of nothing: how many more came to the watch in this block, which are not told. */
	readonly more?: number
	/** The other side is made to be taken for somebody else. */
	readonly lookalike?: Lookalike
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
	/** Of a withdrawal: its number over the whole chain, and the validator's. Decimal. */
	readonly index?: string
	readonly validatorIndex?: string
	/** Of a delegation: whose code runs from now on, and before; null: none, or not known (see `confirmed`). */
	readonly delegate?: string | null
	readonly previous?: string | null
	/** Of a delegation: false: it was signed and is in the chain; whether it changed the code was not asked. */
	readonly confirmed?: boolean
	/** Of a delegation: what was signed; null where only the state shows it. Chain id 0 holds on every chain. */
	readonly authorisation?: { readonly chainId: number; readonly nonce: number } | null
	/** Of income: how many transactions paid it. */
	readonly transactions?: number
	/** Of a crossing: the balance in wei and in whole coins, and the threshold in whole coins. */
	readonly balanceWei?: string
	readonly balance?: string
	readonly threshold?: string
	readonly crossed?: 'below' | 'above'
	readonly links?: { readonly tx: string; readonly from?: string; readonly to: string; readonly block: string }
}

/** Only of an unexplained balance: what it was, is, and what explains of it. Amounts are signed decimal text in wei. */
export interface UnexplainedData {
	/** The smallest span found; `fromBlock` is the first block in it. */
	readonly fromBlock: number
	readonly toBlock: number
	/** Before `fromBlock`, and after `toBlock`. */
	readonly openingWei: string
	readonly closingWei: string
	/** What all that is known of moved. */
	readonly explainedWei: string
	/** closing − opening − explained. */
	readonly differenceWei: string
	/** The same in whole coins, signed. */
	readonly difference: string
	/** Hosts that were asked. */
	readonly endpoints: readonly string[]
	readonly reason: string
}

/** Whom an address imitates: one that the watch has paid, or another watch. */
export interface Lookalike {
	/** EIP-55. */
	readonly of: string
	readonly label: string | null
	/** Hex digits that agree at the front, and at the end. */
	readonly prefix: number
	readonly suffix: number
}

export interface AlertWatch {
	readonly address: string
	readonly label: string | null
	readonly tags: readonly string[]
	readonly watchlist: string
}

export type AlertType = `alert.${Kind}`

/**
 * An alert for some receivers. Watches of one address in two watchlists make two, with the same id and no receiver in
 * common.
 */
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
	| 'system.gap'
	| 'system.refused'
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
	/** Name of the receiver that refused this for good, where this is sent to its fallback instead. */
	readonly insteadOf?: string
}

export type MessageContent = AlertData | DigestData | SystemData | UndeliveredData

/** `data` of `alert.digest`: many alerts in one message. */
export interface DigestData {
	readonly id: string
	/** In the order in which they would have come one by one; at least two. */
	readonly alerts: readonly DigestedAlert[]
	/**
	 * When the first of them was held back by a silence, and when they were let go; absent where there was none. ISO 8601
	 * UTC.
	 */
	readonly held?: { readonly from: string; readonly to: string }
}

/** As it would have come by itself: one that came so too has the same `deliveryId`. */
export interface DigestedAlert {
	readonly type: AlertType | 'alert.removed'
	readonly timestamp: string
	readonly data: AlertData & { readonly deliveryId: string; readonly insteadOf?: string }
}

/**
 * `data` of `system.stalled`, `system.gap`, `system.refused` and `system.recovered`. Of a gap, and of its end, it names
 * the blocks that could not be read.
 */
export interface SystemData {
	readonly id: string
	readonly network: string
	readonly chainId: number
	readonly checkpoint: number | null
	readonly head: number | null
	/** One sentence for a person. */
	readonly reason: string
	/** Of a gap: first and last block of it, both included. */
	readonly fromBlock?: number
	readonly toBlock?: number
	/** Of a gap: when a person took it that these blocks may stay unread; ISO 8601. Absent: nobody did. */
	readonly acceptedAt?: string
	/** Of `system.recovered`: `refused`: the watchlists are right again. Absent: it ends a stall, or a gap. */
	readonly ends?: 'refused'
}

/**
 * `data` of `system.undelivered`, and of the `system.recovered` that `ends` it: a receiver takes nothing, or refuses
 * what it is sent. It goes to that receiver's fallback.
 */
export interface UndeliveredData {
	readonly id: string
	readonly receiver: string
	/** One mail address of the receiver, where it is about that one; else null. */
	readonly recipient: string | null
	/**
	 * `parked`: its deliveries wait until somebody has fixed something. `dead`: some are given up, each of which follows
	 * by itself.
	 */
	readonly state: 'parked' | 'dead'
	/** How many deliveries to the receiver are in that state, or about to be, at this moment. */
	readonly count: number
	/** What the other side says, without secrets; of the end, what came of it. */
	readonly reason: string
	/** ISO 8601 UTC. */
	readonly since: string
	readonly ends?: 'undelivered'
}
