/**
 * The room holds one record for each kind of alert: its ids, its defaults, which watches it concerns, its fields and
 * its words. `list.ts` lists the records, and the rest of the program iterates over that list. Pure: a record performs
 * no I/O. The room may not import from `core`.
 */

import type { z } from 'zod'
import type { AlertData } from '../model/alert.js'
import type { BlockRef } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Kind } from '../model/kind.js'
import type { Announcement } from '../model/state.js'
import type { KnownTokens, TokenWords } from '../model/token.js'
import type { Direction, Network, Watch, WatchRules } from '../model/watch.js'
import type { Fact } from './fact.js'
import type { Refusal } from './refusal.js'
import type { Missing, Standing } from './standing.js'

export interface Happened {
	readonly kind: Kind
	readonly block: BlockRef
}

export type SeenIn = 'frames' | 'calls' | 'logs' | 'header' | 'transactions' | 'state'

export interface KindRecord<E extends Happened = Happened> {
	readonly kind: Kind
	/** Whether a watch without `kinds` gets these alerts. */
	readonly isDefault: boolean
	/** Where its events appear: frames that move coins, calls, logs, headers, transactions, or the state. */
	readonly seenIn: SeenIn
	/** For a kind that two witnesses see: where, by the third part of the id. Absent: in `seenIn`. */
	seenInAt?(place: string): SeenIn
	/** `needed`: only closing books finds its events. `used`: books find some events that nothing else shows. */
	readonly books: 'needed' | 'used' | 'unused'
	/** Whether a watch that asks for it is remembered with its code and what rules it (`model/contract.ts`). */
	readonly ofContracts?: true
	/** Whether it reports the present state; it is then sent also to a watch whose first block is later. */
	readonly isOfNow: boolean
	/** Whether a watch with `direction: in` or `out` gets only the alerts of that direction. */
	readonly hasDirection: boolean

	/** Patterns of the second part of its ids, as sources of regular expressions. */
	readonly anchors: readonly string[]
	/** Second and third part of the id. Neither depends on the block that contains the transaction. */
	idParts(event: E): readonly [anchor: string, place: string]
	/** What the alert depends on besides the id: a transaction mined again may move another amount. */
	content(event: E): string
	/** The same content, read from an alert. */
	announcedContent(data: AlertData): string

	/** Whether an announcement still stands if a look at its block did not show its event. */
	missing(entry: Announcement, missing: Missing): Standing

	/** The addresses that the event concerns, each once, with the direction as that address sees it. */
	sides(event: E): readonly Side[]
	/** Why the rules of a watch suppress the alert, other than by `kinds` and `direction`; null: they do not. */
	refusal(event: E, watch: Watch, known: KnownTokens): Refusal | null
	fields(event: E, view: View): KindFields

	readonly frameTypes: readonly AlertData['frameType'][]
	/** The fields that only its alerts have. */
	readonly own: z.ZodObject

	/** With its article: `a withdrawal from staking`. */
	readonly noun: string
	/** What a watch gets of this kind, for `check`: `transfers in and out`; null: the watch gets none. */
	chosen(watch: WatchRules, names: Names): string | null
	/** Null: this kind is not an alarm. */
	readonly alarm: Alarm | null
	/** One sentence; for an alarm it begins with the mark. */
	sentence(data: AlertData): string
	/** Rows of the table, placed before those that every alert has. */
	facts(data: AlertData): readonly Fact[]
	/** Warnings shown first; empty: none. */
	warnings(data: AlertData, isRetracted: boolean): readonly string[]
	readonly retracted: string
	/** The amount for one cell of a digest: `+1.5 ETH`. */
	amount(data: AlertData): string
}

/** Properties of an alert that demands attention: its mark begins the subject, and mails frame it. */
export interface Alarm {
	/** 1 is the most severe. */
	readonly rank: number
	readonly marks: readonly string[]
	/** One of `marks`. */
	markOf(data: AlertData): string
}

/** How `check` writes names and amounts. */
export interface Names {
	/** Undefined: the settings do not contain the network. */
	readonly network: Pick<Network, 'symbol' | 'decimals' | 'tokens'> | undefined
	readonly checksum: (address: Address) => string
}

export interface Side {
	readonly address: Address
	readonly direction: Direction
}

/** The perspective of one watch on an event. */
export interface View {
	readonly watch: Watch
	readonly direction: Direction
	readonly network: Network
	/** EIP-55 spelling of an address. */
	readonly checksum: (address: Address) => string
	/** For a deployment: whether the node's index names the same creator. Absent or null: not asked, or no answer. */
	readonly creatorConfirmed?: boolean | null
	/** What a token's contract tells about itself; null: not asked, or no answer. */
	readonly tokenWords?: (contract: Address) => TokenWords | null
}

export type KindFields = Pick<
	AlertData,
	'txHash' | 'txIndex' | 'traceAddress' | 'frameType' | 'category' | 'from' | 'to' | 'value' | 'asset'
> &
	Partial<AlertData>
