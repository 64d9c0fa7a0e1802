/** Deliveries that are held, merged into a digest, or split again. */

import type { Resolution } from '../../../model/delivery.js'
import type { Ask } from '../connection/database.js'
import type { Skew } from '../connection/skew.js'
import { deleteDeliveries, mayJudge } from './outbox.js'

export type Deferral = Extract<Resolution, { result: 'held' }>

/**
 * Each id once; `claim` is the one that the delivery was handed out under, null if it was not. Deliveries whose queue
 * another instance has claimed meanwhile are skipped.
 */
export async function updateHeld(
	ask: Ask,
	holds: readonly (Deferral & { readonly claim: number | null })[],
	owner: string,
	skew: Skew,
): Promise<void> {
	if (holds.length === 0) return
	await ask(HELD, [
		holds.map(({ id }) => id),
		holds.map(({ by }) => by),
		holds.map(({ untilMs }) => skew.toDatabase(untilMs)),
		holds.map(({ claim }) => claim),
		owner,
	])
}

const HELD = `
	update tracewatch.delivery d set status = 'held', held_by = r.by, next_attempt_at_ms = r.until_ms
	from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) r (id, by, until_ms, claim), tracewatch.queue q
	where d.id = r.id and q.queue = d.queue and ${mayJudge('r.claim', '$5')}`

/**
 * Resolves to the place that becomes free, or null if another instance has claimed the queue. `keptAtMs`: time for the
 * history; null: no history is kept.
 */
export async function deleteSplit(
	ask: Ask,
	id: string,
	{
		claim,
		owner,
		keptAtMs,
	}: { readonly claim: number | null; readonly owner: string; readonly keptAtMs: number | null },
): Promise<number | null> {
	if (keptAtMs !== null) await ask(SPLIT_KEPT, [id, claim, owner, keptAtMs])
	const [gone] = await ask<{ seq: number }>(SPLIT, [id, claim, owner])
	return gone?.seq ?? null
}

const SPLIT_KEPT = `
	insert into tracewatch.history
		(ended_at_ms, result, id, receiver, created_at_ms, attempts, last_error, content)
	select $4::bigint, 'split', d.id, receiver, created_at_ms, attempts + 1, last_error, content
	from tracewatch.delivery d join tracewatch.queue q on q.queue = d.queue
	where d.id = $1 and ${mayJudge('$2::bigint', '$3')}`

const SPLIT = `
	delete from tracewatch.delivery d using tracewatch.queue q
	where d.id = $1 and q.queue = d.queue and ${mayJudge('$2::bigint', '$3')}
	returning d.seq`

/**
 * Inside a transaction. Resolves to the place of the first; to null, with nothing changed, when one of them is no
 * longer held.
 */
export async function deleteHeld(ask: Ask, ids: readonly string[]): Promise<number | null> {
	const text = `select id, seq from tracewatch.delivery where id = any($1) and status = 'held' order by seq for update`
	const held = await ask<{ id: string; seq: number }>(text, [ids])
	if (held.length < ids.length) return null
	await deleteDeliveries(ask, ids)
	return held.find(({ id }) => id === ids[0])?.seq ?? null
}
