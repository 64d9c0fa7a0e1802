/**
 * The room stores deliveries, and what became of them. This file: deliveries as rows, in order of posting, each in the
 * queue of its receiver and recipient.
 */

import { alertsIn } from '../../../core/outbox/digest.js'
import { quarantineCode } from '../../../core/outbox/quarantine.js'
import { queueOf } from '../../../core/outbox/queue.js'
import { againCodes } from '../../../core/outbox/retriedDeadLetters.js'
import { rankOf } from '../../../core/outbox/urgency.js'
import type { Delivery, DeliveryStatus, HeldBy, ReasonCode, Resolution } from '../../../model/delivery.js'
import type { Ask } from '../connection/database.js'
import { pieces } from '../connection/pieces.js'
import type { Skew } from '../connection/skew.js'

/** Rows per statement; a message has some kilobytes. */
const PIECE = 500

export interface DeliveryRow {
	readonly queue: string
	readonly id: string
	readonly receiver: string
	readonly created_at_ms: number
	readonly status: DeliveryStatus
	readonly attempts: number
	readonly next_attempt_at_ms: number
	readonly last_error: string | null
	readonly last_error_code: ReasonCode | null
	readonly refused_since_ms: number | null
	readonly refusals: number | null
	readonly held_by: HeldBy | null
	readonly alone: boolean
	readonly content: Content
}

/** The fields that never change. */
type Content = Omit<
	Delivery,
	| 'id'
	| 'receiver'
	| 'createdAtMs'
	| 'status'
	| 'attempts'
	| 'nextAttemptAtMs'
	| 'lastError'
	| 'lastErrorCode'
	| 'refused'
	| 'heldBy'
	| 'alone'
>

/** The columns of `tracewatch.delivery d` that `deliveryOf` needs. */
export const COLUMNS =
	'd.queue, d.id, d.receiver, d.created_at_ms, d.status, d.attempts, d.next_attempt_at_ms, d.last_error, ' +
	'd.last_error_code, d.refused_since_ms, d.refusals, d.held_by, d.alone, d.content'

export function deliveryOf(row: DeliveryRow, skew: Skew): Delivery {
	const { id, receiver, status, attempts, content, refused_since_ms: sinceMs, refusals } = row
	return {
		id,
		receiver,
		...content,
		createdAtMs: skew.fromDatabase(row.created_at_ms),
		status,
		attempts,
		nextAttemptAtMs: skew.fromDatabase(row.next_attempt_at_ms),
		lastError: row.last_error,
		...(row.last_error_code === null ? {} : { lastErrorCode: row.last_error_code }),
		...(sinceMs !== null && { refused: { sinceMs: skew.fromDatabase(sinceMs), times: refusals ?? 0 } }),
		...(row.held_by === null ? {} : { heldBy: row.held_by }),
		...(row.alone ? { alone: true } : {}),
	}
}

/** Inside a transaction. Resolves to the number added; an id that exists already is not added again. */
export async function insertDeliveries(ask: Ask, deliveries: readonly Delivery[], skew: Skew): Promise<number> {
	let added = 0
	for (const piece of pieces(deliveries, PIECE)) {
		await addQueues(ask, piece)
		added += (await ask(INSERT, columnsOf(piece, skew))).length
	}
	return added
}

/**
 * Inside a transaction. Inserts at a place that was just freed; there must be fewer deliveries than the gap to the next
 * place.
 */
export async function insertAt(ask: Ask, seq: number, deliveries: readonly Delivery[], skew: Skew): Promise<void> {
	await addQueues(ask, deliveries)
	await ask(INSERT_AT, [...columnsOf(deliveries, skew), seq])
}

async function addQueues(ask: Ask, deliveries: readonly Delivery[]): Promise<void> {
	// In the same order in all instances, so that two that add to the same queues do not deadlock.
	const queues = [...new Set(deliveries.map(queueOf))].sort()
	await ask('insert into tracewatch.queue (queue) select unnest($1::text[]) on conflict do nothing', [queues])
}

function columnsOf(deliveries: readonly Delivery[], skew: Skew): readonly unknown[] {
	return [
		deliveries.map(({ id }) => id),
		deliveries.map(queueOf),
		deliveries.map(({ receiver }) => receiver),
		deliveries.map(({ createdAtMs }) => skew.toDatabase(createdAtMs)),
		deliveries.map(({ status }) => status),
		deliveries.map(({ attempts }) => attempts),
		deliveries.map(({ nextAttemptAtMs }) => skew.toDatabase(nextAttemptAtMs)),
		deliveries.map(({ lastError }) => (lastError === null ? null : JSON.stringify(lastError))),
		deliveries.map(({ lastErrorCode }) => lastErrorCode ?? null),
		deliveries.map(({ heldBy }) => heldBy ?? null),
		deliveries.map(({ alone }) => alone ?? false),
		deliveries.map(({ message }) => alertsIn(message)),
		deliveries.map((delivery) => JSON.stringify(contentOf(delivery))),
		deliveries.map(rankOf),
		deliveries.map(({ refused }) => (refused === undefined ? null : skew.toDatabase(refused.sinceMs))),
		deliveries.map(({ refused }) => refused?.times ?? null),
	]
}

export function contentOf(delivery: Delivery): Content {
	const { id, receiver, createdAtMs, status, attempts, nextAttemptAtMs, lastError, lastErrorCode, ...rest } = delivery
	const { heldBy, alone, refused, ...content } = rest
	return content
}

const TO =
	'id, queue, receiver, created_at_ms, status, attempts, next_attempt_at_ms, last_error, last_error_code, held_by, ' +
	'alone, alerts, content, rank, refused_since_ms, refusals'
const FROM = `
	id, queue, receiver, created_at_ms, status, attempts, next_attempt_at_ms, last_error::json, last_error_code,
		held_by, alone, alerts, content::json, rank, refused_since_ms, refusals
	from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::bigint[], $8::text[],
		$9::text[], $10::text[], $11::boolean[], $12::int[], $13::text[], $14::int[],
		$15::bigint[], $16::int[]) with ordinality as d (${TO}, place)
	order by place
	on conflict (id) do nothing
	returning id`
const INSERT = `insert into tracewatch.delivery (${TO}) select ${FROM}`
const INSERT_AT = `
	insert into tracewatch.delivery (seq, ${TO}) overriding system value select $17::bigint + place - 1, ${FROM}`

/** In order of posting; restricted to one status or one queue where given. */
export async function readDeliveries(
	ask: Ask,
	skew: Skew,
	status?: DeliveryStatus,
	queue?: Pick<Delivery, 'receiver' | 'recipient'>,
): Promise<readonly Delivery[]> {
	const text = `
		select ${COLUMNS} from tracewatch.delivery d
		where ($1::text is null or d.status = $1) and ($2::text is null or (d.receiver = $2 and d.queue = $3))
		order by d.seq`
	const values = [status ?? null, queue?.receiver ?? null, queue === undefined ? null : queueOf(queue)]
	return (await ask<DeliveryRow>(text, values)).map((row) => deliveryOf(row, skew))
}

/** Whether a row `d` of the outbox is quarantined; must agree with `isQuarantined`. */
export const QUARANTINED = `(d.status = 'pending' and d.last_error_code is not distinct from '${quarantineCode}')`
export const RETRIED = `(d.status in ('pending', 'held')
	and coalesce(d.last_error_code in (${againCodes.map((code) => `'${code}'`).join(', ')}), false))`
/** Must agree with `isRefused`. */
export const REFUSED = `(d.status in ('pending', 'held') and d.refused_since_ms is not null)`

/** Quarantined deliveries of one queue, in sending order. */
export async function readQuarantined(
	ask: Ask,
	skew: Skew,
	queue: Pick<Delivery, 'receiver' | 'recipient'>,
): Promise<readonly Delivery[]> {
	const text = `
		select ${COLUMNS} from tracewatch.delivery d
		where d.queue = $1 and d.status = 'pending' and d.last_error_code = '${quarantineCode}' order by d.rank, d.seq`
	return (await ask<DeliveryRow>(text, [queueOf(queue)])).map((row) => deliveryOf(row, skew))
}

/**
 * Counts and deletes delivered rows; one that is already gone is not counted again. `atMs` is by the database's clock.
 */
export async function deleteDelivered(ask: Ask, ids: readonly string[], atMs: number): Promise<void> {
	if (ids.length > 0) await ask(DELIVERED, [ids, atMs])
}

/** End of a statement that has deleted rows in `gone`. */
export const COUNTED = `
	insert into tracewatch.total as t (receiver, delivered, last_delivered_at_ms)
	select receiver, sum(alerts), $2::bigint from gone group by receiver order by receiver
	on conflict (receiver) do update set
		delivered = t.delivered + excluded.delivered,
		last_delivered_at_ms = greatest(t.last_delivered_at_ms, excluded.last_delivered_at_ms)`

const DELIVERED = `
	with gone as (delete from tracewatch.delivery where id = any($1) returning receiver, alerts)
	${COUNTED}`

export type Failure = Exclude<Resolution, { result: 'delivered' | 'held' | 'split' }>

/**
 * Records failed attempts, each id once; `claim` is the one that the delivery was handed out under, null if it was not.
 * Deliveries whose queue another instance has claimed meanwhile are skipped, because that instance decides.
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
		failures.map(({ code }) => code),
		failures.map(({ claim }) => claim),
		owner,
		failures.map(({ refused }) => (refused === undefined ? null : skew.toDatabase(refused.sinceMs))),
		failures.map(({ refused }) => refused?.times ?? null),
		failures.map(({ untried }) => untried === true),
	])
}

/** Whether this instance may change a row; `q` is its queue, `claim` the one that it was handed out under. */
export const mayJudge = (claim: string, owner: string) => `case
		when ${claim} is not null then q.claim = ${claim} and q.claimed_by = ${owner}
		else q.claimed_by is null or q.claimed_by = ${owner} or q.claimed_until < clock_timestamp()
	end`

const FAILED = `
	update tracewatch.delivery d set
		status = case r.result when 'retry' then 'pending' else r.result end,
		attempts = d.attempts + case when r.untried then 0 else 1 end,
		next_attempt_at_ms = case r.result when 'dead' then d.next_attempt_at_ms else r.next_ms end,
		last_error = r.error::json,
		last_error_code = r.code,
		refused_since_ms = coalesce(r.refused_since_ms, d.refused_since_ms),
		refusals = coalesce(r.refusals, d.refusals),
		held_by = null
	from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[],
			$8::bigint[], $9::int[], $10::boolean[])
			r (id, result, next_ms, error, code, claim, refused_since_ms, refusals, untried),
		tracewatch.queue q
	where d.id = r.id and q.queue = d.queue and ${mayJudge('r.claim', '$7')}`

/** Resolves to the number found. */
export async function updateDue(ask: Ask, ids: readonly string[], atMs: number): Promise<number> {
	const text = `
		update tracewatch.delivery
		set status = 'pending', next_attempt_at_ms = $2, alone = alone or status = 'held', held_by = null
		where id = any($1) returning id`
	return (await ask(text, [ids, atMs])).length
}

/** Resolves to the number found. */
export async function deleteDeliveries(ask: Ask, ids: readonly string[]): Promise<number> {
	return (await ask('delete from tracewatch.delivery where id = any($1) returning id', [ids])).length
}
