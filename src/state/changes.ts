/** All changes of the state, without any I/O: each function takes a draft and returns the result. */

import { alertsIn } from '../core/outbox/digest.js'
import { historyRowOf } from '../core/outbox/historyEntries.js'
import { isAlert } from '../core/outbox/messageKinds.js'
import { resolved, waiting } from '../core/outbox/resolved.js'
import { isHeld } from '../core/outbox/waiting.js'
import { StateError } from '../errors.js'
import type { Delivery, Resolution } from '../model/delivery.js'
import type { HistoryEntry } from '../model/history.js'
import type { Announcement, Commit } from '../model/state.js'
import type { Troubles } from '../model/trouble.js'
import { booksOf, noBooks } from './bookShards.js'
import type { NetworkRecord, StateDoc, Total } from './document.js'
import { noCheckpoint } from './document.js'
import { keepingMarks } from './gapMarks.js'

/**
 * A copy that a batch of changes may modify; the original maps are not modified. A change that throws does so before it
 * modifies the draft.
 */
export interface Draft {
	readonly networks: Map<string, NetworkRecord>
	readonly deliveries: Map<string, Delivery>
	readonly totals: Map<string, Total>
	nextRow: number
	/** Of the deliveries that have left the outbox; null: no history is kept. */
	rows: HistoryEntry[] | null
	troubles: Troubles
	changed: boolean
}

/** `firstRow`: number of the next row of history; null: none is kept. */
export function draftOf(doc: StateDoc, firstRow: number | null = null): Draft {
	return {
		networks: new Map(doc.networks),
		deliveries: new Map(doc.deliveries),
		totals: new Map(doc.totals),
		nextRow: firstRow ?? doc.nextRow,
		rows: firstRow === null ? null : [],
		troubles: doc.troubles,
		changed: false,
	}
}

/** The state after the changes of a draft. */
export function docOf({ networks, deliveries, totals, nextRow, troubles }: Draft): StateDoc {
	return { networks, deliveries, totals, nextRow, troubles }
}

function keepRow(draft: Draft, delivery: Delivery, ended: Parameters<typeof historyRowOf>[1]): void {
	draft.rows?.push({ seq: draft.nextRow++, ...historyRowOf(delivery, ended) })
}

/** `added`: number of deliveries added. */
export function applyCommit(
	draft: Draft,
	change: Commit,
	nowMs: number,
): { readonly record: NetworkRecord; readonly added: number } {
	const before = draft.networks.get(change.network) ?? newRecord(change)
	if (before.chainId !== change.chainId) {
		throw new StateError(
			'mismatch',
			`the state of network '${change.network}' is of chain ${before.chainId}, ` +
				`but it now says chain ${change.chainId}: ` +
				'give the other chain a network name of its own, or a state folder of its own',
		)
	}
	const checkpoint = change.checkpoint ?? before.checkpoint
	const wished = change.settled ?? before.settled
	// If a reorganisation goes below the settled block, that block moves back too.
	const settled = wished.number > checkpoint.number ? checkpoint : wished
	const record: NetworkRecord = {
		...before,
		checkpoint,
		settled,
		announcements: announcementsAfter(before, change),
		backfills: backfillsAfter(before, change),
		updatedAtMs: change.checkpoint ? nowMs : before.updatedAtMs,
		...(change.seen && { seen: change.seen }),
		...(change.audit && { audit: change.audit }),
		books: change.books?.size ? booksOf(before.books).after(change.books) : before.books,
		gaps: changed(before.gaps, keepingMarks(before.gaps, change.gaps)),
		...(change.payees?.size && { payees: changed(before.payees ?? new Map(), change.payees) }),
		contracts: changed(before.contracts, change.contracts),
	}
	draft.networks.set(change.network, record)
	draft.changed = true
	for (const delivery of change.folded ?? []) keepRow(draft, delivery, { result: 'folded', atMs: nowMs })
	return {
		record,
		added: applyPost(
			draft,
			(change.deliveries ?? []).map((one) => marked(one, before)),
		),
	}
}

function newRecord(change: Commit): NetworkRecord {
	if (!change.checkpoint) throw noCheckpoint(change.network)
	const { chainId, checkpoint } = change
	return {
		chainId,
		checkpoint,
		settled: checkpoint,
		announcements: new Map(),
		covered: new Map(),
		backfills: [],
		updatedAtMs: 0,
		books: noBooks,
		gaps: new Map(),
		contracts: new Map(),
	}
}

/** A copy with the changes applied; null removes an entry. */
function changed<K, V>(before: ReadonlyMap<K, V>, changes?: ReadonlyMap<K, V | null>): ReadonlyMap<K, V> {
	if (changes === undefined || changes.size === 0) return before
	const after = new Map(before)
	for (const [key, value] of changes) {
		if (value === null) after.delete(key)
		else after.set(key, value)
	}
	return after
}

function announcementsAfter(before: NetworkRecord, change: Commit): NetworkRecord['announcements'] {
	const forgetTo = change.forgetTo ?? -1n
	// Announcements in a gap are kept, because they are compared with the block once it is read.
	const isForgotten = ({ block: { number } }: Announcement) => number <= forgetTo && !before.gaps.has(number)
	const forgets = forgetTo >= 0n && [...before.announcements.values()].some(isForgotten)
	if (!change.announcements?.length && !forgets) return before.announcements
	const announcements = new Map(before.announcements)
	for (const entry of change.announcements ?? []) {
		// A delivery may have been refused since the look read the announcement.
		const { instead } = before.announcements.get(entry.id) ?? {}
		announcements.set(entry.id, instead === undefined ? entry : { ...entry, instead })
	}
	for (const [id, entry] of announcements) if (isForgotten(entry)) announcements.delete(id)
	return announcements
}

/** Retractions of alerts that fallbacks were sent are marked. */
function marked(delivery: Delivery, network: NetworkRecord | undefined): Delivery {
	const { answers, message } = delivery
	if (message.type !== 'alert.removed' || answers === null) return delivery
	const entry = network?.announcements.get(message.data.id)
	// If the alert is no longer remembered, `insteadOf` shows that it went to a fallback.
	const isMarked =
		entry === undefined ? message.data.insteadOf !== undefined : entry.instead?.includes(answers) === true
	return isMarked ? { ...delivery, instead: true } : delivery
}

/** Alerts that the fallback is sent, so that their retraction finds the way there whatever becomes of the delivery. */
function markInstead({ networks }: Draft, deliveries: readonly Delivery[]): void {
	/** One copy a network: thousands may be refused at once. */
	const copies = new Map<string, Map<string, Announcement>>()
	for (const { id, message } of deliveries) {
		const { data } = message
		if (!isAlert(data)) continue
		const announcements = copies.get(data.network) ?? networks.get(data.network)?.announcements
		const entry = announcements?.get(data.id)
		if (entry === undefined || entry.instead?.includes(id)) continue
		const copy = copies.get(data.network) ?? new Map(announcements)
		copies.set(data.network, copy.set(entry.id, { ...entry, instead: [...(entry.instead ?? []), id] }))
	}
	for (const [network, announcements] of copies)
		networks.set(network, { ...(networks.get(network) as NetworkRecord), announcements })
}

function backfillsAfter({ backfills }: NetworkRecord, { backfill }: Commit): NetworkRecord['backfills'] {
	if (backfill === undefined) return backfills
	const next = backfill.scannedTo + 1n
	return backfills
		.map((one) => (one.id === backfill.id && next > one.next ? { ...one, next } : one))
		.filter((one) => one.next <= one.span.to)
}

/** Returns the number added; an id that exists already is not added again. */
export function applyPost(draft: Draft, deliveries: readonly Delivery[]): number {
	let added = 0
	for (const delivery of deliveries) {
		if (draft.deliveries.has(delivery.id)) continue
		draft.deliveries.set(delivery.id, delivery)
		added++
	}
	if (added > 0) draft.changed = true
	return added
}

/** Ignores deliveries that were dropped meanwhile. `post` is added as by `applyPost`. */
export function applyResolutions(
	draft: Draft,
	{ resolutions, post }: { readonly resolutions: readonly Resolution[]; readonly post: readonly Delivery[] },
	nowMs: number,
): number {
	const instead: Delivery[] = []
	for (const resolution of resolutions) {
		const delivery = draft.deliveries.get(resolution.id)
		if (!delivery) continue
		draft.changed = true
		if (resolution.result === 'delivered') {
			draft.deliveries.delete(delivery.id)
			keepRow(draft, delivery, { result: 'delivered', atMs: nowMs, answer: resolution.answer })
			const { delivered = 0 } = draft.totals.get(delivery.receiver) ?? {}
			const alerts = alertsIn(delivery.message)
			draft.totals.set(delivery.receiver, { delivered: delivered + alerts, lastDeliveredAtMs: nowMs })
		} else {
			const after = resolved(delivery, resolution)
			draft.deliveries.set(delivery.id, after)
			if (after.refused !== undefined || after.status === 'dead') instead.push(after)
		}
	}
	markInstead(draft, instead)
	return applyPost(
		draft,
		post.map((one) =>
			marked(one, isAlert(one.message.data) ? draft.networks.get(one.message.data.network) : undefined),
		),
	)
}

export function applyRetry(
	draft: Draft,
	{ ids, atMs }: { readonly ids: readonly string[]; readonly atMs: number },
): number {
	return eachFound(draft, ids, (delivery) => {
		const due = { ...delivery, status: 'pending', nextAttemptAtMs: atMs } as const
		draft.deliveries.set(delivery.id, isHeld(delivery) ? waiting(delivery, { as: 'alone', untilMs: atMs }) : due)
	})
}

export function applyDrop(draft: Draft, ids: readonly string[], nowMs: number): number {
	return eachFound(draft, ids, (delivery) => {
		draft.deliveries.delete(delivery.id)
		keepRow(draft, delivery, { result: 'dropped', atMs: nowMs })
	})
}

export function applyTroubles(draft: Draft, troubles: Troubles): void {
	draft.troubles = troubles
	draft.changed = true
}

function eachFound(draft: Draft, ids: readonly string[], act: (delivery: Delivery) => void): number {
	const found = [...new Set(ids)].flatMap((id) => draft.deliveries.get(id) ?? [])
	for (const delivery of found) act(delivery)
	if (found.length > 0) draft.changed = true
	return found.length
}
