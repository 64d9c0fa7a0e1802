/** Alerts, and the messages that carry them. */

import type { BlockRef, FrameType } from './chain.js'
import type { FoldedAlerts } from './folded.js'
import type { Address, Hash } from './glossary.js'
import type { EventKind, Kind, OwnData } from './kind.js'
import type { TokenData, TokenEvent } from './token.js'
import type { Direction } from './watch.js'

export type Finality = 'latest' | 'safe' | 'finalized'

/** An on-chain event, read from frames or from logs. */
export type ChainEvent = FrameEvent | TokenEvent

export interface FrameEvent {
	readonly kind: EventKind
	readonly frameType: FrameType
	readonly from: Address | null
	readonly to: Address
	readonly valueWei: bigint
	/** Hash of the transaction; for a reward, of the block. */
	readonly txHash: Hash
	readonly txIndex: number | null
	readonly traceAddress: readonly number[]
	/** `root`, `0_1_2`, or `reward_0` for the first reward of a block. */
	readonly trace: string
	readonly block: BlockRef
	/** Sender of the transaction; null for a reward, and where the node does not name the sender. */
	readonly initiator: Address | null
}

/**
 * `data` of a webhook's envelope. Every value is text or a JSON number. The fields are those of the public contract.
 */
export interface AlertData extends Partial<OwnData> {
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
	/** Without a frame: `log`, `storage`, or the kind; `balance` for an unexplained balance. */
	readonly frameType:
		| FrameType
		| Exclude<Kind, EventKind | 'call' | 'request' | 'token' | 'control' | 'unexplained'>
		| 'log'
		| 'storage'
	readonly category: 'external' | 'internal'
	readonly from: string | null
	readonly to: string
	readonly contractAddress?: string
	/** Sender of the transaction; absent where it is not known. */
	readonly initiator?: string
	/** Whether `ots_getContractCreator` names the same creator; absent where the node did not answer. */
	readonly creatorConfirmed?: boolean
	/** Absent for tokens. */
	readonly valueWei?: string
	/** Null for a token with unknown decimals. */
	readonly value: string | null
	/** Null for a token without a symbol. */
	readonly asset: string | null
	/** Only for kind `token`. */
	readonly token?: TokenData
	/** Operator in the ERC-1155 log; absent where it equals `from`. */
	readonly operator?: string
	/**
	 * How many further flood alerts (unknown tokens, or transfers of nothing) this watch had in the block; they are not
	 * sent.
	 */
	readonly more?: number
	/** Contracts of those further alerts, at most 20. */
	readonly moreContracts?: readonly string[]
	/** Alerts that this one stands for, because too many deliveries to the receiver are pending; absent: none. */
	readonly folded?: FoldedAlerts
	/** The counterparty's address imitates another address; absent: it does not. */
	readonly lookalike?: Lookalike
	readonly watch: AlertWatch
	/** Label of the counterparty, if it is watched too. */
	readonly counterpartyLabel?: string
	readonly direction: Direction
	readonly finality: Finality
	readonly detectedAt: string
	/** Seconds from the block's timestamp to its detection. */
	readonly lagSeconds: number
	readonly late: boolean
	/** Why the alert is late, in a few words; absent unless `late`. */
	readonly lateReason?: string
	readonly links?: { readonly tx: string; readonly from?: string; readonly to: string; readonly block: string }
}

/** The address that another one imitates: a payee of the watch, or another watched address. */
export interface Lookalike {
	/** The imitated address, with its EIP-55 checksum. */
	readonly of: string
	readonly label: string | null
	/** Number of equal hex digits at the front and at the end. */
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
 * An alert for some receivers. An address in two watchlists makes two alerts with the same id and no receiver in
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
	/** ISO 8601 UTC; the same in every attempt. */
	readonly timestamp: string
	readonly data: MessageData
}

export type MessageData = MessageContent & {
	readonly deliveryId: string
	readonly test?: true
	/** In a message to a fallback: name of the receiver that refused it for good. */
	readonly insteadOf?: string
}

export type MessageContent = AlertData | DigestData | SystemData | UndeliveredData

/** `data` of `alert.digest`: several alerts in one message. */
export interface DigestData {
	readonly id: string
	/** In sending order; at least two. */
	readonly alerts: readonly DigestedAlert[]
}

/** An alert as it would have been sent alone; `deliveryId` is the same in both cases. */
export interface DigestedAlert {
	readonly type: AlertType | 'alert.removed'
	readonly timestamp: string
	readonly data: AlertData & { readonly deliveryId: string; readonly insteadOf?: string }
}

/**
 * `data` of `system.stalled`, `system.gap`, `system.refused` and `system.recovered`. For a gap and its recovery it
 * names the blocks that could not be read.
 */
export interface SystemData {
	readonly id: string
	readonly network: string
	readonly chainId: number
	readonly checkpoint: number | null
	readonly head: number | null
	/** One sentence for people. */
	readonly reason: string
	/** For a gap: its first and last block, both included. */
	readonly fromBlock?: number
	readonly toBlock?: number
	/** For a gap: when the operator accepted that these blocks stay unread, ISO 8601; absent: not accepted. */
	readonly acceptedAt?: string
	/** Only in `system.recovered`. `refused`: the watchlists are valid again. Absent: a stall or a gap ended. */
	readonly ends?: 'refused'
}

/**
 * `data` of `system.undelivered`, and of the `system.recovered` that ends it: a receiver accepts nothing, or refuses
 * some messages. Sent to that receiver's fallback.
 */
export interface UndeliveredData {
	readonly id: string
	readonly receiver: string
	/** The mail address concerned; null where the message concerns the whole receiver. */
	readonly recipient: string | null
	/**
	 * `parked`: the receiver refuses messages, which wait and are sent to you too. `dead`: some messages were given up;
	 * each of them follows in a delivery of its own. `failing`: attempts have failed for minutes; deliveries are pending
	 * and retried.
	 */
	readonly state: 'parked' | 'dead' | 'failing'
	/** Deliveries to the receiver that are in this state, or wait because of it, when the message is made. */
	readonly count: number
	/** What the receiver answered, without secrets; in a recovery, the outcome. */
	readonly reason: string
	/** ISO 8601 UTC. */
	readonly since: string
	readonly ends?: 'undelivered'
}
