/** Alerts, and the messages that carry them. */

import { z } from 'zod'
import type { BlockRef, FrameType } from './chain.js'
import type { Address, Hash } from './glossary.js'
import type { EventKind, Kind } from './kind.js'
import { address, count, decimal, digits, type Fixed, hash, type OwnData, text } from './ownFields.js'
import type { TokenEvent } from './token.js'

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

const time = z.iso.datetime()
const link = z.url()

export const deliveryFields = z.object({
	deliveryId: z
		.string()
		.regex(/^[^.]+$/)
		.describe('Equals the header webhook-id; the same over retries and restarts.'),
	test: z.literal(true).exactOptional().describe('Only in samples sent by `test-send`.'),
	insteadOf: text
		.exactOptional()
		.describe('Receiver that did not accept this message, where a fallback is sent it instead.'),
})

const networkFields = {
	network: text.describe('Name from the settings.'),
	chainId: count.describe('0 in samples only, which are on no chain.'),
}

const direction = z.enum(['in', 'out', 'self'])

const foldedFields = z.object({
	count: count.describe('How many, without this one.'),
	fromBlock: count,
	toBlock: count,
	sums: z.array(
		z.object({
			direction,
			asset: text.nullable().describe('Null: unknown tokens, which share a sum, and alerts without an amount.'),
			contract: address.exactOptional().describe('Of a known token.'),
			count,
			amountRaw: text.nullable().describe('In the smallest unit.'),
			amount: text.nullable().describe('In whole coins or tokens; null for tokens with ids.'),
		}),
	),
})

export const alertFields = z.object({
	id: text as z.ZodType<string>,
	...networkFields,
	blockNumber: count.describe('The block.'),
	blockHash: hash.describe('Its hash.'),
	blockTimestamp: time.describe('Its time, as all times in ISO 8601 and UTC.'),
	txHash: hash.describe('The transaction; the block for what belongs to none (a reward, a withdrawal, a balance).'),
	txIndex: count.nullable().describe('Its place in the block, from 0; null: no transaction.'),
	traceAddress: z.array(count).describe('Path of the frame from the root call; empty for the root.'),
	kind: text as unknown as z.ZodType<Kind>,
	frameType: text as unknown as z.ZodType<AlertFrameType>,
	category: z
		.enum(['external', 'internal'])
		.describe('`external` for the root call, and for withdrawals, income, delegations and balances; else `internal`.'),
	from: address
		.nullable()
		.describe(
			'EIP-55 spelling; null without a sender: a reward, a withdrawal, a balance, a change of code or storage.',
		),
	to: address.describe('EIP-55 spelling.'),
	initiator: address
		.exactOptional()
		.describe(
			'Who sent the transaction, where known. Another account may start a payment out of a contract; out of a plain ' +
				'address it means a used key or delegation.',
		),
	valueWei: digits.exactOptional().describe('Exact; absent for tokens.'),
	value: decimal.nullable().describe('In whole coins or tokens, exact; null where the decimals are not known.'),
	asset: text.nullable().describe('Symbol of the coin or token; null for a token that has none.'),
	lookalike: z
		.object({
			of: address,
			label: text.nullable(),
			prefix: count.describe('Hex digits that agree at the front.'),
			suffix: count.describe('Hex digits that agree at the end.'),
		})
		.exactOptional()
		.describe(
			'The other side imitates an address that the watch has paid, or a watch: `of`, `label`, and how many hex ' +
				'digits agree at the front (`prefix`) and the end (`suffix`).',
		),
	watch: z
		.object({
			address,
			label: text.nullable(),
			tags: z.array(text),
			watchlist: text.describe('Name of the file.'),
		})
		.describe('The watch: `address`, `label`, `tags`, `watchlist`.'),
	counterpartyLabel: text.exactOptional().describe('Label of the other side, where that is watched too.'),
	direction: direction.describe('`in`, `out` or `self`, seen from the watch.'),
	finality: z
		.enum(['latest', 'safe', 'finalized'])
		.describe(
			'`latest` may leave the chain, `finalized` does not. To pay out on alerts, set `confirmations: finalized`.',
		),
	detectedAt: time.describe('When it was seen.'),
	lagSeconds: z.number().min(0).describe('From the block to its detection.'),
	late: z
		.boolean()
		.describe(
			'True after a pause, from a backfill, found by the second look, or brought in by a reorganisation: look at ' +
				'`blockTimestamp`.',
		),
	lateReason: text.exactOptional().describe('Why it is late.'),
	folded: foldedFields
		.exactOptional()
		.describe(
			'Under a flood (5,000 wait for a receiver): the `count` of alerts that this one replaces, with `fromBlock`, ' +
				'`toBlock` and `sums`.',
		),
	links: z
		.object({ tx: link, from: link.exactOptional(), to: link, block: link })
		.exactOptional()
		.describe('`tx`, `from`, `to` and `block` at the `explorer`, where one is set.'),
})

/** Without a frame: `log`, `storage`, or the kind; `balance` for an unexplained balance. */
type AlertFrameType =
	| FrameType
	| Exclude<Kind, EventKind | 'call' | 'request' | 'token' | 'control' | 'unexplained'>
	| 'log'
	| 'storage'

type Common = Fixed<z.infer<typeof alertFields>>
/** `data` of a webhook's envelope. Every value is text or a JSON number. */
export interface AlertData extends Common, Partial<OwnData> {}
export type Finality = AlertData['finality']
/** The address that another one imitates: a payee of the watch, or another watched address. */
export type Lookalike = NonNullable<AlertData['lookalike']>
/** Alerts of one watch that its first alert stands for, because too many deliveries to the receiver are pending. */
export type FoldedAlerts = NonNullable<AlertData['folded']>
export type FoldedSum = FoldedAlerts['sums'][number]

export type AlertType = `alert.${Kind}`

/** An address in two watchlists makes two alerts with the same id and no receiver in common. */
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

export type MessageData = MessageContent & Fixed<z.infer<typeof deliveryFields>>

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
export const systemFields = z.object({
	id: text,
	...networkFields,
	checkpoint: z.int().nullable().describe('Last block scanned.'),
	head: z.int().nullable(),
	reason: text.describe('One sentence.'),
	fromBlock: count.exactOptional().describe('Of a gap, and of its end: first block that could not be read.'),
	toBlock: count.exactOptional().describe('Its last block.'),
	acceptedAt: time.exactOptional().describe('Of a gap: when a person accepted that these blocks may stay unread.'),
	ends: z
		.literal('refused')
		.exactOptional()
		.describe('Of a recovery: the watchlists are right again. Absent: a stall is over, or a gap was read.'),
})
export type SystemData = Fixed<z.infer<typeof systemFields>>

/**
 * `data` of `system.undelivered`, and of the `system.recovered` that ends it: a receiver accepts nothing, or refuses
 * some messages. Sent to that receiver's fallback.
 */
export const undeliveredFields = z.object({
	id: text,
	receiver: text.describe('Name from the settings.'),
	recipient: text.nullable().describe('Mail address, where it is about one of several.'),
	state: z
		.enum(['parked', 'dead', 'failing'])
		.describe(
			'parked: refused, kept and tried again, and each sent to the fallback too; dead: given up, each sent there; ' +
				'failing: every attempt has failed for five minutes, and its deliveries are kept and retried.',
		),
	count: count.describe('How many messages wait for it; of `dead`, how many were given up.'),
	reason: text.describe('What the other side says.'),
	since: time,
	ends: z
		.literal('undelivered')
		.exactOptional()
		.describe('Of a recovery: nothing is left of what the receiver refused.'),
})
export type UndeliveredData = Fixed<z.infer<typeof undeliveredFields>>
