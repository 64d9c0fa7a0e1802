/** Removes deliveries from the outbox and adds their history rows in one statement: both or neither. */

import type { Delivery } from '../../../model/delivery.js'
import type { Ask } from '../connection/database.js'
import { pieces } from '../connection/pieces.js'
import type { Skew } from '../connection/skew.js'
import { COUNTED, contentOf } from './outbox.js'

/** As `deleteDelivered`, with each receiver's answer. */
export async function keepDelivered(
	ask: Ask,
	delivered: readonly { readonly id: string; readonly answer?: string }[],
	atMs: number,
): Promise<void> {
	if (delivered.length === 0) return
	const ids = delivered.map(({ id }) => id)
	const answers = delivered.map(({ answer }) => (answer === undefined ? null : JSON.stringify(answer)))
	await ask(DELIVERED_AND_KEPT, [ids, atMs, answers])
}

const DELIVERED_AND_KEPT = `
	with gone as (
		delete from tracewatch.delivery where id = any($1) returning *
	), kept as (
		insert into tracewatch.history
			(ended_at_ms, result, id, receiver, created_at_ms, attempts, last_error, answer, content)
		select $2::bigint, 'delivered', gone.id, receiver, created_at_ms, attempts + 1, last_error, a.answer::json, content
		from gone join unnest($1::text[], $3::text[]) a (id, answer) on a.id = gone.id order by seq
	)
	${COUNTED}`

/** Drops deliveries for an operator, with a history row for each. Resolves to the number found. */
export async function dropDeliveries(ask: Ask, ids: readonly string[], atMs: number): Promise<number> {
	return (await ask(DROPPED, [ids, atMs])).length
}

const DROPPED = `
	with gone as (delete from tracewatch.delivery where id = any($1) returning *)
	insert into tracewatch.history
		(ended_at_ms, result, id, receiver, created_at_ms, attempts, last_error, content)
	select $2::bigint, 'dropped', id, receiver, created_at_ms, attempts, last_error, content from gone order by seq
	returning id`

/** Deliveries that another delivery stands for, and that were never in the outbox. */
export async function keepFolded(ask: Ask, folded: readonly Delivery[], skew: Skew, nowMs: number): Promise<void> {
	for (const piece of pieces(folded, 500)) {
		await ask(FOLDED, [
			skew.toDatabase(nowMs),
			piece.map(({ id }) => id),
			piece.map(({ receiver }) => receiver),
			piece.map(({ createdAtMs }) => skew.toDatabase(createdAtMs)),
			piece.map((delivery) => JSON.stringify(contentOf(delivery))),
		])
	}
}

const FOLDED = `
	insert into tracewatch.history (ended_at_ms, result, id, receiver, created_at_ms, attempts, content)
	select $1::bigint, 'folded', d.id, d.receiver, d.created_at_ms, 0, d.content::json
	from unnest($2::text[], $3::text[], $4::bigint[], $5::text[]) with ordinality
		as d (id, receiver, created_at_ms, content, place)
	order by place`
