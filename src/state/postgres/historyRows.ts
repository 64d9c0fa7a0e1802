/** Deliveries that leave the outbox with a row of history, in one statement: both, or neither. */

import type { Ask } from './database.js'
import { COUNTED } from './outbox.js'

/** As `deleteDelivered`, with what each receiver said. */
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

/** By an operator; with a row of history for each. Resolves to how many were found. */
export async function dropDeliveries(ask: Ask, ids: readonly string[], atMs: number): Promise<number> {
	return (await ask(DROPPED, [ids, atMs])).length
}

const DROPPED = `
	with gone as (delete from tracewatch.delivery where id = any($1) returning *)
	insert into tracewatch.history
		(ended_at_ms, result, id, receiver, created_at_ms, attempts, last_error, content)
	select $2::bigint, 'dropped', id, receiver, created_at_ms, attempts, last_error, content from gone order by seq
	returning id`
