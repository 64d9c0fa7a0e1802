/**
 * The room keeps the state. This file defines it as plain readonly data, with its views; `changes.ts` has the changes,
 * and `file/` and `postgres/` store it.
 */

import { isOpen } from '../core/gaps.js'
import { isAbout } from '../core/outbox/backlog.js'
import { failedAttempts, isAlone, statusOf } from '../core/outbox/waiting.js'
import { StateError } from '../errors.js'
import type { Addressee, Delivery } from '../model/delivery.js'
import type { Gap, NetworkState, NetworkSummary, ReceiverSummary, Seen, StateSummary } from '../model/state.js'
import type { Troubles } from '../model/trouble.js'
import type { Backfill } from '../model/watch.js'

/** The whole state. */
export interface StateDoc {
	readonly networks: ReadonlyMap<string, NetworkRecord>
	/** By id, in order of posting; delivered ones are removed. */
	readonly deliveries: ReadonlyMap<string, Delivery>
	/** By receiver. */
	readonly totals: ReadonlyMap<string, Total>
	/** Number of the next row of history. */
	readonly nextRow: number
	readonly troubles: Troubles
}

/** The stored form of `NetworkState`. */
export interface NetworkRecord extends Omit<NetworkState, 'backfills' | 'booksSeen' | 'logsSeen'> {
	/** Finished ones are removed. */
	readonly backfills: readonly BackfillRecord[]
	readonly seen?: Seen
}

/** `span`: as it was enrolled; `next`: the block that is scanned next. */
export interface BackfillRecord extends Backfill {
	readonly next: bigint
}

export interface Total {
	readonly delivered: number
	readonly lastDeliveredAtMs: number | null
}

export const emptyState: StateDoc = {
	networks: new Map(),
	deliveries: new Map(),
	totals: new Map(),
	nextRow: 1,
	troubles: { open: [], timesAccepted: 0 },
}

function remaining({ backfills }: NetworkRecord): readonly Backfill[] {
	return backfills.map(({ id, span, addresses, next }) => ({ id, span: { from: next, to: span.to }, addresses }))
}

export function networkState({ seen, ...record }: NetworkRecord): NetworkState {
	return {
		...record,
		backfills: remaining(record),
		...(seen?.books && { booksSeen: seen.books }),
		...(seen?.logs && { logsSeen: seen.logs }),
	}
}

function openGaps({ gaps }: NetworkRecord): readonly Gap[] {
	return [...gaps.values()].filter(isOpen).sort((a, b) => (a.block.number < b.block.number ? -1 : 1))
}

/** `nameOf`: the name under which a delivery is counted. Default: that of its receiver. */
export function summarize(
	doc: StateDoc,
	nameOf: (addressee: Addressee) => string = ({ receiver }) => receiver,
): StateSummary {
	const networks = new Map<string, NetworkSummary>()
	for (const [name, record] of doc.networks) {
		networks.set(name, {
			chainId: record.chainId,
			checkpoint: record.checkpoint,
			settled: record.settled,
			backfills: remaining(record),
			updatedAtMs: record.updatedAtMs,
			...(record.seen === undefined ? {} : { seen: record.seen }),
			gaps: openGaps(record),
		})
	}
	const receivers = new Map<string, ReceiverSummary>()
	const blank = { pending: 0, held: 0, parked: 0, dead: 0, delivered: 0, lastDeliveredAtMs: null }
	for (const [name, total] of doc.totals) receivers.set(name, { ...blank, ...total })
	for (const delivery of doc.deliveries.values()) {
		const receiver = nameOf(delivery)
		const status = statusOf(delivery)
		const seen: ReceiverSummary = receivers.get(receiver) ?? blank
		const aside = isAlone(delivery) ? { aside: (seen.aside ?? 0) + 1 } : {}
		const failed = failedAttempts(delivery)
		const isWorst = failed > (seen.failedAttempts ?? 0)
		const tried = isWorst ? { failedAttempts: failed, failure: delivery.lastError ?? '' } : {}
		const isDead = status === 'dead'
		const isRefused = delivery.refused !== undefined
		const refused = isRefused && !isDead && status !== 'parked' ? { refused: (seen.refused ?? 0) + 1 } : {}
		const refusal = (isRefused || isDead) && delivery.lastError !== null ? { refusal: delivery.lastError } : {}
		const more = { ...aside, ...tried, ...refused, ...refusal }
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
