/** What is watched, and from which block on. */

import type { WatchedCalls } from './abi.js'
import type { Span } from './chain.js'
import type { Address } from './glossary.js'
import type { Kind } from './kind.js'
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
	/** Smaller transfers are not sent; at least 1. Deployments are sent whatever their value. */
	readonly minValueWei: bigint
	readonly receivers: readonly string[]
	/** Null: from the first block after the watch was first seen. */
	readonly fromBlock: bigint | null
	/** File name of the watchlist, without its folder. */
	readonly watchlist: string
	/** Absent: the tokens that the network names. */
	readonly tokens?: TokenChoice
	/** Balances whose crossing makes an alert; absent: none. */
	readonly thresholds?: Thresholds
	/** Functions whose calls are reported; absent: none. */
	readonly calls?: WatchedCalls
	/** Code that it may run in its own storage; absent: none but its own and that of known libraries. */
	readonly allowedCode?: readonly Address[]
	/** Values that are read besides what rules a contract: `slot 7`, `governor()`; absent: none. */
	readonly reads?: readonly string[]
}

/** In wei; null: none. A balance equal to a threshold has not crossed it. */
export interface Thresholds {
	readonly belowWei: bigint | null
	readonly aboveWei: bigint | null
}

/** Everything in a watch except its address and label; watches with equal rules share one object. */
export type WatchRules = Omit<Watch, 'address' | 'label'>

/** All watches. A Watch object is made on access, because there may be a million. */
export interface WatchSet extends Iterable<Watch> {
	/** Number of watches. Their order is that of the watchlists, then of the entries in each. */
	readonly length: number
	/** A negative number counts from the end. */
	at(number: number): Watch | undefined
	/** The watchlists in order, each with the range of its watches. */
	readonly lists: readonly { readonly watchlist: string; readonly first: number; readonly length: number }[]
	readonly networks: ReadonlyMap<string, { readonly length: number; readonly index: WatchIndex }>
	/** Distinct rules of the watches; duplicates are possible. */
	readonly rules: readonly WatchRules[]
}

/** Watched addresses that a reload added and removed. */
export interface WatchChanges {
	readonly added: number
	readonly removed: number
	/** `network address (label)`, at most 20. */
	readonly addedWatches: readonly string[]
	readonly removedWatches: readonly string[]
}

type WatchMap = ReadonlyMap<Address, readonly Watch[]>
/** Watches of one network by address; each list is in the order of the watchlists. */
export interface WatchIndex extends Omit<WatchMap, 'entries' | 'forEach'> {
	/** Lowest of each address (null: none is set), without making Watch objects. Absent: iterate the watches. */
	fromBlocks?(): Iterable<readonly [address: Address, fromBlock: bigint | null]>
	/** Distinct rules of its watches; duplicates are possible. Absent: iterate the watches. */
	rules?(): readonly WatchRules[]
}

export type Confirmations = number | 'safe' | 'finalized'

/** A network as `core` needs it; the settings in `config` extend it. */
export interface Network {
	readonly name: string
	readonly chainId: number
	readonly confirmations: Confirmations
	/** Number of blocks after which a block counts as settled; `finalized`: as the node reports. */
	readonly settle: number | 'finalized'
	readonly symbol: string
	readonly decimals: number
	/** Without a trailing slash; null: no links. */
	readonly explorer: string | null
	/** Tokens that the operator has named; absent: none. */
	readonly tokens?: KnownTokens
}

/** The blocks in which one address is watched. */
export interface Coverage {
	/** First block for watches without `from_block`: the block after the head at which the address was first seen. */
	readonly since: bigint
	/** Lowest block that was ever covered for the address; after the head where its `from_block` is. */
	readonly from: bigint
	/** Checkpoint when the address left the watchlists; null while it is watched. */
	readonly leftAt: bigint | null
	/** Spans that were not scanned yet when the address left. */
	readonly missed: readonly Span[]
}

/** Blocks to scan for some addresses only; `span` is the part that remains. */
export interface Backfill {
	readonly id: string
	readonly span: Span
	readonly addresses: readonly Address[]
}
