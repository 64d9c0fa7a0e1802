/**
 * The room remembers: here is what, as plain readonly data, with the views of it; `changes.ts` says how it changes, and
 * `file/` and `postgres/` keep it.
 */

import { isAgain } from '../core/again.js'
import { isAside } from '../core/aside.js'
import { isAbout } from '../core/backlog.js'
import type { BookSet } from '../model/books.js'
import type { BlockRef } from '../model/chain.js'
import type { Delivery } from '../model/delivery.js'
import type { Address } from '../model/glossary.js'
import type { HistoryEntry } from '../model/history.js'
import type {
	Announcement,
	Gap,
	NetworkState,
	NetworkSummary,
	ReceiverSummary,
	Seen,
	StateSummary,
} from '../model/state.js'
import type { Troubles } from '../model/trouble.js'
import type { Backfill, Coverage } from '../model/watch.js'

/** Content of `state.json`. */
export interface StateDoc {
	readonly networks: ReadonlyMap<string, NetworkRecord>
	/** By id, in order of posting; delivered ones are forgotten. */
	readonly deliveries: ReadonlyMap<string, Delivery>
	/** By receiver. */
	readonly totals: ReadonlyMap<string, Total>
	readonly history: HistoryQueue
}

/** Rows of history on their way to their own files: in the write that made them, so that a kill loses none. */
export interface HistoryQueue {
	/** Number of the next row. */
	readonly next: number
	/** In order of their numbers. */
	readonly entries: readonly HistoryEntry[]
}

/** As `NetworkState`, which is a view of it; apart on purpose, since progress of backfills is kept by token. */
export interface NetworkRecord {
	readonly chainId: number
	readonly checkpoint: BlockRef
	readonly settled: BlockRef
	readonly announcements: ReadonlyMap<string, Announcement>
	/** Next block of a backfill, by its token. */
	readonly progress: ReadonlyMap<string, bigint>
	/** When the checkpoint was last written. */
	readonly updatedAtMs: number
	readonly seen?: Seen
	/** Of each address whose balance is explained up to a block. */
	readonly books: BookSet
	/** By block number. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Whom each watch has paid; absent: nobody. */
	readonly payees?: NonNullable<NetworkState['payees']>
}

export interface Total {
	readonly delivered: number
	readonly lastDeliveredAtMs: number | null
}

/** Content of `coverage.json`, by network. */
export type CoverageDoc = ReadonlyMap<string, CoverageRecord>

export interface CoverageRecord {
	readonly covered: ReadonlyMap<Address, Coverage>
	readonly backfills: readonly Definition[]
}

/**
 * A backfill as it was asked for. Its progress is kept in the other file under `token`, which is new whenever the
 * backfill is: progress of an earlier one of the same id can never be taken for this one's.
 */
export interface Definition extends Backfill {
	readonly token: string
}

/** All that is remembered. */
export interface Whole {
	readonly state: StateDoc
	readonly coverage: CoverageDoc
	/** Absent: none are known, as in documents of earlier versions. */
	readonly troubles?: Troubles
}

export const emptyHistory: HistoryQueue = { next: 1, entries: [] }
export const emptyState: StateDoc = {
	networks: new Map(),
	deliveries: new Map(),
	totals: new Map(),
	history: emptyHistory,
}
export const emptyCoverage: CoverageDoc = new Map()

/** What remains of each backfill; those that came to their end are left out. */
export function remaining(record: NetworkRecord, coverage: CoverageRecord | undefined): readonly Definition[] {
	return (coverage?.backfills ?? []).flatMap((definition) => {
		const next = record.progress.get(definition.token) ?? definition.span.from
		const from = next > definition.span.from ? next : definition.span.from
		return from > definition.span.to ? [] : [{ ...definition, span: { from, to: definition.span.to } }]
	})
}

function backfills(record: NetworkRecord, coverage: CoverageRecord | undefined): readonly Backfill[] {
	return remaining(record, coverage).map(({ id, span, addresses }) => ({ id, span, addresses }))
}

export function networkState(record: NetworkRecord, coverage: CoverageRecord | undefined): NetworkState {
	return {
		chainId: record.chainId,
		checkpoint: record.checkpoint,
		settled: record.settled,
		announcements: record.announcements,
		covered: coverage?.covered ?? new Map(),
		backfills: backfills(record, coverage),
		updatedAtMs: record.updatedAtMs,
		books: record.books,
		gaps: record.gaps,
		...(record.seen?.books && { booksSeen: record.seen.books }),
		...(record.seen?.logs && { logsSeen: record.seen.logs }),
		...(record.payees && { payees: record.payees }),
	}
}

function openGaps({ gaps }: NetworkRecord): readonly Gap[] {
	return [...gaps.values()]
		.filter(({ openedAtMs }) => openedAtMs !== null)
		.sort((a, b) => (a.block.number < b.block.number ? -1 : 1))
}

export function summarize(doc: StateDoc, coverage: CoverageDoc): StateSummary {
	const networks = new Map<string, NetworkSummary>()
	for (const [name, record] of doc.networks) {
		networks.set(name, {
			chainId: record.chainId,
			checkpoint: record.checkpoint,
			settled: record.settled,
			backfills: backfills(record, coverage.get(name)),
			updatedAtMs: record.updatedAtMs,
			...(record.seen === undefined ? {} : { seen: record.seen }),
			gaps: openGaps(record),
		})
	}
	const receivers = new Map<string, ReceiverSummary>()
	const blank = { pending: 0, held: 0, parked: 0, dead: 0, delivered: 0, lastDeliveredAtMs: null }
	for (const [name, total] of doc.totals) receivers.set(name, { ...blank, ...total })
	for (const delivery of doc.deliveries.values()) {
		const { receiver, status } = delivery
		const seen: ReceiverSummary = receivers.get(receiver) ?? blank
		const aside = isAside(delivery) ? { aside: (seen.aside ?? 0) + 1 } : {}
		const again = isAgain(delivery) ? { again: (seen.again ?? 0) + 1 } : {}
		receivers.set(receiver, { ...seen, [status]: seen[status] + 1, ...aside, ...again })
	}
	return { networks, receivers }
}

/** How much of a network waits for each receiver. */
export function waitingOf({ deliveries }: StateDoc, network: string): ReadonlyMap<string, number> {
	const waiting = new Map<string, number>()
	for (const { receiver, status, message } of deliveries.values()) {
		if (status !== 'dead' && isAbout(message, network)) waiting.set(receiver, (waiting.get(receiver) ?? 0) + 1)
	}
	return waiting
}
