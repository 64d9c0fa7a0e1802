/** What is watched, and from where on. */

import type { Span } from './chain.js'
import type { Address } from './glossary.js'
import type { KnownTokens, TokenChoice } from './token.js'

export type Direction = 'in' | 'out' | 'self'

/** One address of one watchlist with its options. */
export interface Watch {
	readonly network: string
	readonly address: Address
	readonly label: string | null
	readonly tags: readonly string[]
	readonly kinds: readonly Kind[]
	readonly direction: 'in' | 'out' | 'both'
	/** Transfers below are not sent; at least 1. Deployments are sent whatever they carry. */
	readonly minValueWei: bigint
	readonly receivers: readonly string[]
	/** Null: from the first block after the watch was first seen. */
	readonly fromBlock: bigint | null
	/** Name of the watchlist file, without its folder. */
	readonly watchlist: string
	/** Absent: those that its network names. */
	readonly tokens?: TokenChoice
	/** When its alerts are held back; absent: never. */
	readonly silences?: readonly Silence[]
	/** Balances whose crossing is told; absent: none. */
	readonly thresholds?: Thresholds
}

/** In wei; null: none. A balance that equals one has not crossed it. */
export interface Thresholds {
	readonly belowWei: bigint | null
	readonly aboveWei: bigint | null
}

/** What a watch says besides its address and label; watches that say the same share it. */
export type WatchRules = Omit<Watch, 'address' | 'label'>

/** All that is watched. A Watch is made when it is asked for: there may be a million. */
export interface WatchSet extends Iterable<Watch> {
	/** How many, in the order of the watchlists, then as they stand in each. */
	readonly length: number
	/** A number below 0 counts from the end. */
	at(number: number): Watch | undefined
	/** The watchlists in order: what each is called, and which of the watches are its own. */
	readonly lists: readonly { readonly watchlist: string; readonly first: number; readonly length: number }[]
	/** Of the networks that are watched. */
	readonly networks: ReadonlyMap<string, { readonly length: number; readonly index: WatchIndex }>
	/** What the watches say, each saying once or more. */
	readonly rules: readonly WatchRules[]
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
export interface WatchIndex extends ReadonlyMap<Address, readonly Watch[]> {
	/** The lowest `fromBlock` of each address (null: none is written), without making its watches. Absent: by them. */
	fromBlocks?(): Iterable<readonly [address: Address, fromBlock: bigint | null]>
	/** What its watches say, each saying once or more. Absent: by them. */
	rules?(): readonly WatchRules[]
}

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
	/** Those that the operator has named; absent: none. */
	readonly tokens?: KnownTokens
}

/** What frames tell. */
export type EventKind = 'transfer' | 'deployment'

/**
 * `token`: what logs tell. `withdrawal`: paid by the consensus layer. `delegation`: its code was set, changed or
 * cleared by an EIP-7702 authorisation. `income`: priority fees of a block that it is the author of. `balance`: the
 * balance crossed a threshold. `unexplained`: a balance moved by what nothing told of explains.
 */
export type Kind = EventKind | 'token' | 'withdrawal' | 'delegation' | 'income' | 'balance' | 'unexplained'

/** From where on one address is watched. */
export interface Coverage {
	/** First block for watches without `from_block`: the one after the head at which the address was first seen. */
	readonly since: bigint
	/** Lowest block from which on the address was ever covered. */
	readonly from: bigint
	/** Checkpoint when the address left the watchlists; null while it is watched. */
	readonly leftAt: bigint | null
	/** What was still to be scanned for it when it left. */
	readonly missed: readonly Span[]
}

/** Blocks to be scanned for some addresses only; `span` is what remains. */
export interface Backfill {
	readonly id: string
	readonly span: Span
	readonly addresses: readonly Address[]
}
