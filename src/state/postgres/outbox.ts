/** Deliveries as rows: in order of posting, each in the lane of its receiver and recipient. */

import type { Delivery, DeliveryStatus, ReceiverSummary, Resolution } from '../../model.js'
import { pieces } from './coverage.js'
import type { Ask } from './database.js'
import type { Skew } from './skew.js'

/** Rows a statement; a message is some kilobytes. */
const PIECE = 500

export interface DeliveryRow {
	readonly lane: string
	readonly id: string
	readonly receiver: string
	readonly created_at_ms: number
	readonly status: DeliveryStatus
	readonly attempts: number
	readonly next_attempt_at_ms: number
	readonly last_error: string | null
	readonly content: Content
}

/** What never changes, whatever it is made of. */
type Content = Omit<
	Delivery,
	'id' | 'receiver' | 'createdAtMs' | 'status' | 'attempts' | 'nextAttemptAtMs' | 'lastError'
>

/** What `deliveryOf` needs, of `tracewatch.delivery d`. */
export const COLUMNS =
	'd.lane, d.id, d.receiver, d.created_at_ms, d.status, d.attempts, d.next_attempt_at_ms, d.last_error, d.content'

export function deliveryOf(row: DeliveryRow, skew: Skew): Delivery {
	const { id, receiver, status, attempts, content } = row
	return {
		id,
		receiver,
		...content,
		createdAtMs: skew.fromDatabase(row.created_at_ms),
		status,
		attempts,
		nextAttemptAtMs: skew.fromDatabase(row.next_attempt_at_ms),
		lastError: row.last_error,
	}
}

/** Of text that the database need not be able to compare: any two lanes have different names. */
export function laneOf({ receiver, recipient }: Pick<Delivery, 'receiver' | 'recipient'>): string {
	return JSON.stringify([receiver, recipient])
}

/** Inside a transaction. Resolves to how many were added: an id already there is not added again. */
export async function insertDeliveries(ask: Ask, deliveries: readonly Delivery[], skew: Skew): Promise<number> {
	let added = 0
	for (const piece of pieces(deliveries, PIECE)) {
		// In one order everywhere, so that two who add to the same lanes do not wait for each other.
		const lanes = [...new Set(piece.map(laneOf))].sort()
		await ask('insert into tracewatch.lane (lane) select unnest($1::text[]) on conflict do nothing', [lanes])
		const rows = await ask(INSERT, [
			piece.map(({ id }) => id),
			piece.map(laneOf),
			piece.map(({ receiver }) => receiver),
			piece.map(({ createdAtMs }) => skew.toDatabase(createdAtMs)),
			piece.map(({ status }) => status),
			piece.map(({ attempts }) => attempts),
			piece.map(({ nextAttemptAtMs }) => skew.toDatabase(nextAttemptAtMs)),
			piece.map(({ lastError }) => (lastError === null ? null : JSON.stringify(lastError))),
			piece.map((delivery) => JSON.stringify(contentOf(delivery))),
		])
		added += rows.length
	}
	return added
}

function contentOf(delivery: Delivery): Content {
	const { id, receiver, createdAtMs, status, attempts, nextAttemptAtMs, lastError, ...content } = delivery
	return content
}

const INSERT = `
	insert into tracewatch.delivery (id, lane, receiver, created_at_ms, status, attempts, next_attempt_at_ms, last_error, content)
	select id, lane, receiver, created_at_ms, status, attempts, next_attempt_at_ms, last_error::json, content::json
	from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::bigint[], $8::text[], $9::text[])
		with ordinality
		as d (id, lane, receiver, created_at_ms, status, attempts, next_attempt_at_ms, last_error, content, place)
	order by place
	on conflict (id) do nothing
	returning id`

/** In order of posting. */
export async function readDeliveries(ask: Ask, skew: Skew): Promise<readonly Delivery[]> {
	const rows = await ask<DeliveryRow>(`select ${COLUMNS} from tracewatch.delivery d order by d.seq`)
	return rows.map((row) => deliveryOf(row, skew))
}

/** Counts them and takes them away; one that is gone already is not counted again. `atMs` is by the database's clock. */
export async function deleteDelivered(ask: Ask, ids: readonly string[], atMs: number): Promise<void> {
	if (ids.length > 0) await ask(DELIVERED, [ids, atMs])
}

const DELIVERED = `
	with gone as (delete from tracewatch.delivery where id = any($1) returning receiver)
	insert into tracewatch.total as t (receiver, delivered, last_delivered_at_ms)
	select receiver, count(*), $2::bigint from gone group by receiver order by receiver
	on conflict (receiver) do update set
		delivered = t.delivered + excluded.delivered,
		last_delivered_at_ms = greatest(t.last_delivered_at_ms, excluded.last_delivered_at_ms)`

export type Failure = Exclude<Resolution, { result: 'delivered' }>

/**
 * Writes down attempts that did not succeed, each id once; `claim` is the one that it was taken under, null when it was not taken. One
 * whose lane has another claimer by now is passed over: that one's word counts.
 */
export async function updateFailed(
	ask: Ask,
	failures: readonly (Failure & { readonly claim: number | null })[],
	owner: string,
	skew: Skew,
): Promise<void> {
	if (failures.length === 0) return
	await ask(FAILED, [
		failures.map(({ id }) => id),
		failures.map(({ result }) => result),
		failures.map(({ nextAttemptAtMs }) => skew.toDatabase(nextAttemptAtMs)),
		failures.map(({ error }) => JSON.stringify(error)),
		failures.map(({ claim }) => claim),
		owner,
	])
}

const FAILED = `
	update tracewatch.delivery d set
		status = case r.result when 'retry' then 'pending' else r.result end,
		attempts = d.attempts + 1,
		next_attempt_at_ms = case r.result when 'retry' then r.next_ms else d.next_attempt_at_ms end,
		last_error = r.error::json
	from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) r (id, result, next_ms, error, claim),
		tracewatch.lane l
	where d.id = r.id and l.lane = d.lane and case
		when r.claim is not null then l.claim = r.claim and l.claimed_by = $6
		else l.claimed_by is null or l.claimed_by = $6 or l.claimed_until < clock_timestamp()
	end`

/** Resolves to how many were found. */
export async function updateDue(ask: Ask, ids: readonly string[], atMs: number): Promise<number> {
	const text = `update tracewatch.delivery set status = 'pending', next_attempt_at_ms = $2 where id = any($1) returning id`
	return (await ask(text, [ids, atMs])).length
}

/** Resolves to how many were found. */
export async function deleteDeliveries(ask: Ask, ids: readonly string[]): Promise<number> {
	return (await ask('delete from tracewatch.delivery where id = any($1) returning id', [ids])).length
}

export async function readReceivers(ask: Ask, skew: Skew): Promise<ReadonlyMap<string, ReceiverSummary>> {
	const rows = await ask<ReceiverSummary & { receiver: string; last: number | null }>(RECEIVERS)
	return new Map(
		rows.map(({ receiver, pending, parked, dead, delivered, last }) => [
			receiver,
			{ pending, parked, dead, delivered, lastDeliveredAtMs: last === null ? null : skew.fromDatabase(last) },
		]),
	)
}

const RECEIVERS = `
	select receiver, coalesce(pending, 0) as pending, coalesce(parked, 0) as parked, coalesce(dead, 0) as dead,
		coalesce(delivered, 0) as delivered, last_delivered_at_ms as last
	from (
		select receiver, count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'parked') as parked,
			count(*) filter (where status = 'dead') as dead
		from tracewatch.delivery group by receiver
	) waiting full join tracewatch.total using (receiver)
	order by receiver`
