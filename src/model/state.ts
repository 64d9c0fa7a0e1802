/** What is remembered between polls and over restarts. */

import type { Alert } from './alert.js'
import type { Book, BookSet, BooksSummary } from './books.js'
import type { BlockRef } from './chain.js'
import type { Delivery } from './delivery.js'
import type { Address, Hash } from './glossary.js'
import type { UnprovedLogs } from './token.js'
import type { Backfill, Coverage } from './watch.js'

/** An alert that was announced, kept while its block may still leave the chain, so that it can be retracted. */
export interface Announcement {
	readonly id: string
	readonly block: BlockRef
	readonly txHash: Hash
	readonly alerts: readonly Alert[]
	/** `retracted`: its event has left the chain, and whoever was sent it was sent the removal too. */
	readonly status: 'announced' | 'retracted'
	/**
	 * What was said under this id, counted from 0: it grows with each retraction, and when the event enters the chain
	 * anew. Part of a delivery's id, so that the same alert can be sent again after it was retracted.
	 */
	readonly revision: number
	/**
	 * The balances prove its event: as long as its transaction stands in the same block, an answer without it is wrong.
	 */
	readonly proved?: true
}

/**
 * A block that fails, by every source of every endpoint that can be heard, while blocks around it are read. First only
 * suspected; once opened it was told and the chain went on after it. Kept until it was read.
 */
export interface Gap {
	/** With the hash that its header, or the header after it, says. */
	readonly block: BlockRef
	/** Whom it is still to be read for; null: everybody that is covered at it. */
	readonly addresses: readonly Address[] | null
	/** Times that everything was tried in vain before it was opened. */
	readonly tries: number
	/** When it first failed. */
	readonly sinceMs: number
	/** A block before it was read, too, by what fails at this one. */
	readonly isAfterGood: boolean
	/** When it was told of; null while it is only suspected. */
	readonly openedAtMs: number | null
	/** What was tried and how it failed, in words. */
	readonly reason: string
	/** When a person took it that this block may stay unread; it is asked for all the same. Absent: nobody did. */
	readonly acceptedAtMs?: number
	/** The acceptance was told. */
	readonly isAcceptanceAnnounced?: true
	/** When a person last wanted it to be asked for at once. */
	readonly wantedAtMs?: number
}

/** What a person says of open gaps. */
export interface GapMark {
	readonly act: 'accept' | 'retry'
	readonly atMs: number
}

/** What a poll saw beside what it did; shown by `status`, and nothing depends on it. */
export interface Seen {
	readonly head: number
	/** Source of the last span read; absent before the first. */
	readonly source?: string
	/** How far the books are; absent where none are kept. */
	readonly books?: BooksSummary
	/** Whose logs nothing proves; absent: none. */
	readonly logs?: UnprovedLogs
}

/** Somebody that a watch has paid. */
export interface Payee {
	readonly address: Address
	/** Last time, in whole coins or tokens. */
	readonly amount: string
	/**
	 * Who sent the transaction that paid it: the watch itself, or somebody else, who may have chosen whom a watched
	 * contract pays. Absent: not known, as in older states.
	 */
	readonly startedBy?: 'watch' | 'other'
}

export interface NetworkState {
	readonly chainId: number
	readonly checkpoint: BlockRef
	/** `settled.number <= checkpoint.number`. */
	readonly settled: BlockRef
	/** By alert id; until a commit forgets them. */
	readonly announcements: ReadonlyMap<string, Announcement>
	readonly covered: ReadonlyMap<Address, Coverage>
	readonly backfills: readonly Backfill[]
	/** When the checkpoint was last written. */
	readonly updatedAtMs: number
	/** How far the books were at the last commit that said it; absent: none are kept. */
	readonly booksSeen?: BooksSummary
	/** Blocks whose logs nothing proves; absent: none. */
	readonly logsSeen?: UnprovedLogs
	/** Where they are kept; by address. */
	readonly books: BookSet
	/** By block number. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Whom each watch has paid: by others' transactions first, then by its own, the latest last; absent: nobody. */
	readonly payees?: ReadonlyMap<Address, readonly Payee[]>
}

/** One atomic step of a network: all of it is on disk, or nothing is. Absent fields stay as they are. */
export interface Commit {
	readonly network: string
	readonly chainId: number
	readonly checkpoint?: BlockRef
	readonly settled?: BlockRef
	/** Announcements at or below this block are forgotten, but for those in a block that is a gap. */
	readonly forgetTo?: bigint
	/** Entries that are new or changed. */
	readonly announcements?: readonly Announcement[]
	readonly seen?: Seen
	/** How far a backfill has come; reaching its end removes it. */
	readonly backfill?: { readonly id: string; readonly scannedTo: bigint }
	/** Books that changed; null: there is none any more. */
	readonly books?: ReadonlyMap<Address, Book | null>
	/** Gaps that changed, by block number; null: closed, or suspected no more. */
	readonly gaps?: ReadonlyMap<bigint, Gap | null>
	/** Lists that changed. */
	readonly payees?: ReadonlyMap<Address, readonly Payee[]>
	/** Appended in this order; an id already pending, parked or dead is not added again. */
	readonly deliveries?: readonly Delivery[]
}

/** Changes of coverage; written apart from commits, so that a poll's write does not grow with the number of watches. */
export interface Enrolment {
	/** New or changed. */
	readonly covered: ReadonlyMap<Address, Coverage>
	/** All backfills from now on; null when they are as before. */
	readonly backfills: readonly Backfill[] | null
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
	/** At the last commit that brought it. */
	readonly seen?: Seen
	/** Open ones, in the order of the chain. */
	readonly gaps: readonly Gap[]
}

export interface ReceiverSummary {
	readonly pending: number
	/** How many of the pending ones are set aside (`core/aside.ts`); absent: none. */
	readonly aside?: number
	/** How many of the pending and held ones were parked or dead, and are tried once more; absent: none. */
	readonly again?: number
	readonly held: number
	readonly parked: number
	readonly dead: number
	/** Since the state was made; a digest counts as the alerts in it. */
	readonly delivered: number
	readonly lastDeliveredAtMs: number | null
}

/** The watchlists that are right, as they are kept for a restart that finds wrong ones. */
export interface KeptLists {
	/** The same only where the pieces are the same. */
	readonly key: string
	/** Each is JSON and has a meaning of its own, in this order. Made as they are taken, for there may be many. */
	pieces(): Iterable<string>
}
