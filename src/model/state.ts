/** The state: what is kept between polls and across restarts. */

import type { Alert } from './alert.js'
import type { Book, BookSet, BooksSummary } from './books.js'
import type { BlockRef, TouchedBlock } from './chain.js'
import type { Contract } from './contract.js'
import type { Delivery } from './delivery.js'
import type { Address, Hash } from './glossary.js'
import type { UnprovedLogs } from './token.js'
import type { Backfill, Coverage } from './watch.js'

/** An announced alert, kept while its block may still leave the chain, so that it can be retracted. */
export interface Announcement {
	readonly id: string
	readonly block: BlockRef
	readonly txHash: Hash
	readonly alerts: readonly Alert[]
	/** `retracted`: its event left the chain or was refuted; the removal was sent to the same receivers. */
	readonly status: 'announced' | 'retracted'
	/**
	 * Counts what was sent under this id, from 0: it grows with each retraction, and when the event returns to the chain.
	 * It is part of the delivery's id, so that an alert can be sent again after its retraction.
	 */
	readonly revision: number
	/** Balances prove the status: while the block stays in the chain, an answer that contradicts it is wrong. */
	readonly proved?: true
	/** Ids of its deliveries that the fallback of their receiver was sent instead: it gets their retraction, too. */
	readonly instead?: readonly string[]
}

/**
 * A block that every source of every endpoint that answers failed to read, while blocks around it could be read. It is
 * first suspected; when it is opened, it is announced and the scanner continues after it. Kept until the block is read.
 */
export interface Gap {
	/** Number and hash, from its header or from the header after it. */
	readonly block: BlockRef
	/** Addresses that the block must still be read for; null: all that are covered at it. */
	readonly addresses: readonly Address[] | null
	/** Number of times that every source failed before the gap was opened. */
	readonly tries: number
	/** The block was read but for these transactions. Absent: nothing of it was read. */
	readonly transactions?: readonly Hash[]
	/** First failure. */
	readonly sinceMs: number
	/** The sources that fail at this block also read an earlier block. */
	readonly isAfterGood: boolean
	/** When the gap was announced; null while it is only suspected. */
	readonly openedAtMs: number | null
	/** Sources and their errors, in words. */
	readonly reason: string
	/** When the operator accepted that this block stays unread; it is retried anyway. Absent: not accepted. */
	readonly acceptedAtMs?: number
	/** The acceptance was announced. */
	readonly isAcceptanceAnnounced?: true
	/** When the operator last requested an immediate retry. */
	readonly wantedAtMs?: number
	/** When the block was read. The gap then stays until the auditor has taken in its movements. */
	readonly readAtMs?: number
}

/** A block that was near the head when it was scanned; the authorisations signed in it are still to be read. */
export interface SignedInBlock {
	readonly number: bigint
	/** Null: its header was not read. */
	readonly hash: Hash | null
}

/** A transaction in which watches ran code in their own storage; it is still to be judged. */
export interface RanInTransaction extends BlockRef {
	readonly txHash: Hash
	/** The watch whose code is judged; absent: all. */
	readonly contract?: Address
	/** Failed tries before the commit that wrote this; absent: none. */
	readonly tries?: number
}

export interface AuditState {
	/** Last block whose movements are in the books; null: no books are kept. */
	readonly taken: bigint | null
	/** In order of block. */
	readonly signed: readonly SignedInBlock[]
	/** In the order in which they were scanned; absent: none. */
	readonly ran?: readonly RanInTransaction[]
	/** Blocks after which contracts are still to be read, in order; absent: none. */
	readonly touched?: readonly TouchedBlock[]
}

/** An operator's command for open gaps. */
export interface GapMark {
	readonly act: 'accept' | 'retry'
	readonly atMs: number
}

/** Facts from a poll that `status` shows; nothing depends on them. */
export interface Seen {
	readonly head: number
	/** Source of the last span; absent before the first. */
	readonly source?: string
	/** Progress of the books; absent where the network has none. */
	readonly books?: BooksSummary
	/** Blocks with unproved logs; absent: none. */
	readonly logs?: UnprovedLogs
}

/** An address that a watch has paid. */
export interface Payee {
	readonly address: Address
	/** Amount of the last payment, in whole coins or tokens. */
	readonly amount: string
	/** Sender of the paying transaction; another account may have chosen the payee. Absent: not known. */
	readonly startedBy?: 'watch' | 'other'
}

export interface NetworkState {
	readonly chainId: number
	readonly checkpoint: BlockRef
	/** `settled.number <= checkpoint.number`. */
	readonly settled: BlockRef
	/** By alert id; kept until a commit forgets them. */
	readonly announcements: ReadonlyMap<string, Announcement>
	readonly covered: ReadonlyMap<Address, Coverage>
	readonly backfills: readonly Backfill[]
	/** When the checkpoint was last written. */
	readonly updatedAtMs: number
	/** Progress of the books at the last commit that included it; absent: the network has none. */
	readonly booksSeen?: BooksSummary
	/** Blocks with unproved logs; absent: none. */
	readonly logsSeen?: UnprovedLogs
	/** Absent: the auditor is at the checkpoint. */
	readonly audit?: AuditState
	readonly books: BookSet
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Of each watch: first those of others' transactions, then its own, the latest last; absent: none. */
	readonly payees?: ReadonlyMap<Address, readonly Payee[]>
	/** Watches that have code; empty where no watch asks what rules it. */
	readonly contracts: ReadonlyMap<Address, Contract>
}

/** One atomic change of a network: either all of it is on disk or nothing. Absent fields stay unchanged. */
export interface Commit {
	readonly network: string
	readonly chainId: number
	readonly checkpoint?: BlockRef
	readonly settled?: BlockRef
	/** Forgets announcements at or below this block, except those in a gap. */
	readonly forgetTo?: bigint
	readonly announcements?: readonly Announcement[]
	readonly seen?: Seen
	/** Progress of a backfill; at its end the backfill is removed. */
	readonly backfill?: { readonly id: string; readonly scannedTo: bigint }
	readonly audit?: AuditState
	/** Changed books; null removes one. */
	readonly books?: ReadonlyMap<Address, Book | null>
	/** Changed gaps by block number; null: closed, or no longer suspected. */
	readonly gaps?: ReadonlyMap<bigint, Gap | null>
	readonly payees?: ReadonlyMap<Address, readonly Payee[]>
	/** Changed contracts; null: the watch has no code, or no longer asks what rules it. */
	readonly contracts?: ReadonlyMap<Address, Contract | null>
	/** Appended in this order; an id that is pending, parked or dead is not added again. */
	readonly deliveries?: readonly Delivery[]
	/** Represented by others of `deliveries` (`core/outbox/fold.ts`): kept only in the history. */
	readonly folded?: readonly Delivery[]
}

/** Changes of coverage. Written apart from commits, so that a poll's write does not grow with the number of watches. */
export interface Enrolment {
	readonly covered: ReadonlyMap<Address, Coverage>
	/** All remaining backfills; null: unchanged. */
	readonly backfills: readonly Backfill[] | null
}

export type StatePlace =
	/** `dir` is an absolute path. */
	| { readonly kind: 'folder'; readonly dir: string }
	/** `postgres://user:password@host:port/database`; a secret. */
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
	/** From the last commit that included it. */
	readonly seen?: Seen
	/** Open gaps in chain order. */
	readonly gaps: readonly Gap[]
}

export interface ReceiverSummary {
	readonly pending: number
	/** Number of pending deliveries that fail alone (`core/outbox/waiting.ts`); absent: none. */
	readonly aside?: number
	/** Highest number of failed attempts of a pending delivery that blocks its queue; absent: none failed. */
	readonly failedAttempts?: number
	/** Why that one failed last. */
	readonly failure?: string
	/** Number of pending and held deliveries that the receiver refused, or that waited for its rest; absent: none. */
	readonly refused?: number
	/** The receiver's words about one that is refused, parked or dead; absent: none is. */
	readonly refusal?: string
	readonly held: number
	readonly parked: number
	readonly dead: number
	/** Since the state was created; a digest counts once for each of its alerts. */
	readonly delivered: number
	readonly lastDeliveredAtMs: number | null
}

/** Plain copies of the last good watchlists and their address files, for a restart that finds wrong ones. */
export interface WatchlistCopies {
	/** Hash of the paths and contents of the files. */
	readonly revision: string
	/** Absolute paths of the watchlists, in order. */
	readonly watchlists: readonly string[]
	/** The watchlists and address files, each with its SHA-256 in hex. */
	readonly files: readonly { readonly path: string; readonly digest: string }[]
	/** The bytes of the file with this path. */
	chunks(path: string): AsyncGenerator<Uint8Array>
}
