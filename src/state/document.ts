/**
 * The room keeps the state. This file defines it as plain readonly data, with its views; `changes.ts` has the changes,
 * and `file/` and `postgres/` store it.
 */

import { isOpen } from '../core/gaps.js'
import { isAbout } from '../core/outbox/backlog.js'
import { isRefused, saysRefusal } from '../core/outbox/refusals.js'
import { isReread } from '../core/outbox/retriedDeadLetters.js'
import { failedAttempts, isAlone, isParked, statusOf } from '../core/outbox/waiting.js'
import { StateError } from '../errors.js'
import type { BookSet } from '../model/books.js'
import type { BlockRef } from '../model/chain.js'
import type { Delivery } from '../model/delivery.js'
import type { Address } from '../model/glossary.js'
import type { HistoryEntry } from '../model/history.js'
import type {
	Announcement,
	AuditState,
	Gap,
	NetworkState,
	NetworkSummary,
	ReceiverSummary,
	Seen,
	StateSummary,
} from '../model/state.js'
import type { Troubles } from '../model/trouble.js'
import type { Backfill, Coverage } from '../model/watch.js'

/** Checkpoints, announcements, books and deliveries. */
export interface StateDoc {
	readonly networks: ReadonlyMap<string, NetworkRecord>
	/** By id, in order of posting; delivered ones are removed. */
	readonly deliveries: ReadonlyMap<string, Delivery>
	/** By receiver. */
	readonly totals: ReadonlyMap<string, Total>
	readonly history: HistoryQueue
}

/**
 * Rows of history that still have to be written to their own files. They are part of the write that made them, so that
 * a kill loses none.
 */
export interface HistoryQueue {
	/** Number of the next row. */
	readonly next: number
	/** In order of their numbers. */
	readonly entries: readonly HistoryEntry[]
}

/** The stored form of `NetworkState`. Separate, because the progress of backfills is stored by token. */
export interface NetworkRecord {
	readonly chainId: number
	readonly checkpoint: BlockRef
	readonly settled: BlockRef
	readonly announcements: ReadonlyMap<string, Announcement>
	/** Next block of each backfill, by its token. */
	readonly progress: ReadonlyMap<string, bigint>
	/** When the checkpoint was last written. */
	readonly updatedAtMs: number
	readonly seen?: Seen
	readonly audit?: AuditState
	/** By address. */
	readonly books: BookSet
	/** By block number. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Payees of each watch; absent: none. */
	readonly payees?: NonNullable<NetworkState['payees']>
	readonly contracts: NetworkState['contracts']
}

export interface Total {
	readonly delivered: number
	readonly lastDeliveredAtMs: number | null
}

/** Coverage of each address, by network. */
export type CoverageDoc = ReadonlyMap<string, CoverageRecord>

export interface CoverageRecord {
	readonly covered: ReadonlyMap<Address, Coverage>
	readonly backfills: readonly Definition[]
}

/**
 * A backfill as requested. Its progress is stored under `token`, which is new for each backfill, so that the progress
 * of an earlier backfill with the same id is never used for this one.
 */
export interface Definition extends Backfill {
	readonly token: string
}

/** A definition in a change. Without addresses: those of the backfill that has this token already. */
export type GivenDefinition = Omit<Definition, 'addresses'> & Partial<Pick<Definition, 'addresses'>>

/** The whole state. */
export interface Whole {
	readonly state: StateDoc
	readonly coverage: CoverageDoc
	/** Absent: none are known. */
	readonly troubles?: Troubles
}

const emptyHistory: HistoryQueue = { next: 1, entries: [] }
export const emptyState: StateDoc = {
	networks: new Map(),
	deliveries: new Map(),
	totals: new Map(),
	history: emptyHistory,
}
export const emptyCoverage: CoverageDoc = new Map()

/** What remains of each backfill; finished ones are left out. */
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
		...(record.audit && { audit: record.audit }),
		books: record.books,
		gaps: record.gaps,
		...(record.seen?.books && { booksSeen: record.seen.books }),
		...(record.seen?.logs && { logsSeen: record.seen.logs }),
		...(record.payees && { payees: record.payees }),
		contracts: record.contracts,
	}
}

function openGaps({ gaps }: NetworkRecord): readonly Gap[] {
	return [...gaps.values()].filter(isOpen).sort((a, b) => (a.block.number < b.block.number ? -1 : 1))
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
		const { receiver } = delivery
		const status = statusOf(delivery)
		const seen: ReceiverSummary = receivers.get(receiver) ?? blank
		const aside = isAlone(delivery) ? { aside: (seen.aside ?? 0) + 1 } : {}
		const retried = isReread(delivery) && !isParked(delivery) ? { retried: (seen.retried ?? 0) + 1 } : {}
		const failed = failedAttempts(delivery)
		const tried = failed === 0 ? {} : { failedAttempts: Math.max(seen.failedAttempts ?? 0, failed) }
		const refused = isRefused(delivery) ? { refused: (seen.refused ?? 0) + 1 } : {}
		const refusal = saysRefusal(delivery) && delivery.lastError !== null ? { refusal: delivery.lastError } : {}
		const more = { ...aside, ...retried, ...tried, ...refused, ...refusal }
		receivers.set(receiver, { ...seen, [status]: seen[status] + 1, ...more })
	}
	return { networks, receivers }
}

/** Number of waiting deliveries about a network, by receiver. */
export function waitingOf({ deliveries }: StateDoc, network: string): ReadonlyMap<string, number> {
	const waiting = new Map<string, number>()
	for (const { receiver, status, message } of deliveries.values()) {
		if (status !== 'dead' && isAbout(message, network)) waiting.set(receiver, (waiting.get(receiver) ?? 0) + 1)
	}
	return waiting
}

/** Returns the record of a network. Throws StateError `mismatch` where there is none. */
export function mustHave(network: string, record: NetworkRecord | undefined): NetworkRecord {
	if (record === undefined) throw noCheckpoint(network)
	return record
}

export function noCheckpoint(network: string): StateError {
	return new StateError('mismatch', `network '${network}' has no checkpoint yet, and the first step must bring one`)
}
