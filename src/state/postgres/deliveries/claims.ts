/**
 * Claims of queues by instances. A queue is claimed as a whole, so that its order is kept whichever instance works on
 * it. The claim expires by the database's clock and is renewed while its deliveries are worked on; the claim of a dead
 * instance expires. Only the instance itself knows which deliveries it was handed and has not settled.
 */

import type { Delivery } from '../../../model/delivery.js'
import type { Log, Store } from '../../../model/ports.js'
import type { Database } from '../connection/database.js'
import type { Skew } from '../connection/skew.js'
import { COLUMNS, type DeliveryRow, deliveryOf, QUARANTINED } from './outbox.js'

export interface Claims {
	claim: Store['claim']
	nextDueMs: Store['nextDueMs']
	/** The claim under which a delivery was handed out; null if it was not, or is settled. */
	claimOf(id: string): number | null
	/**
	 * These are settled or released; a queue without further deliveries is released. Never throws: an unreleased claim
	 * expires.
	 */
	letGo(ids: readonly string[]): Promise<void>
	/** Renews the claims of queues that are worked on. */
	renew(): Promise<void>
	/** Releases all claims. */
	close(): Promise<void>
}

interface Claimed {
	readonly claim: number
	/** Ids that were handed out and are not settled. */
	readonly open: Set<string>
}

export interface ClaimsOptions {
	readonly database: Database
	/** Unique to this instance. */
	readonly owner: string
	readonly leaseMs: number
	readonly skew: Skew
	readonly log: Log | undefined
}

export function createClaims({ database, owner, leaseMs, skew, log }: ClaimsOptions): Claims {
	const claimed = new Map<string, Claimed>()
	const queueById = new Map<string, string>()
	let claiming: Promise<unknown> = Promise.resolve()

	async function claim({ nowMs, perQueue }: Parameters<Store['claim']>[0]): Promise<readonly (readonly Delivery[])[]> {
		const now = skew.toDatabase(nowMs)
		const taken = await database.ask<{ queue: string; claim: number }>(TAKE, [[...claimed.keys()], owner, leaseMs, now])
		if (taken.length === 0) return []
		// Read the deliveries only after claiming, when no other instance can settle any of them.
		const queues = taken.map(({ queue }) => queue)
		const rows = await database.ask<DeliveryRow & { claim: number }>(CONTENT, [queues, owner, perQueue, now])
		const handed: Delivery[][] = []
		const useless: { queue: string; claim: number }[] = []
		for (const { queue, claim } of taken) {
			const due = duePrefix(
				rows.filter((row) => row.queue === queue && row.claim === claim),
				now,
			)
			if (due.length === 0) {
				useless.push({ queue, claim })
				continue
			}
			claimed.set(queue, { claim, open: new Set(due.map(({ id }) => id)) })
			for (const { id } of due) queueById.set(id, queue)
			handed.push(due.map((row) => deliveryOf(row, skew)))
		}
		await free(useless)
		return handed
	}

	async function free(queues: readonly { readonly queue: string; readonly claim: number }[]): Promise<void> {
		if (queues.length === 0) return
		try {
			await database.ask(FREE, [queues.map(({ queue }) => queue), queues.map(({ claim }) => claim), owner])
		} catch (error) {
			log?.debug(
				{ err: error },
				'queues of deliveries could not be given back; they are free again when their time has run out',
			)
		}
	}

	return {
		claim(options) {
			// One call at a time, because a call must know the claims of the one before it.
			const result = claiming.then(() => claim(options))
			claiming = result.catch(() => undefined)
			return result
		},
		async nextDueMs() {
			const [row] = await database.ask<{ next: number | null }>(NEXT, [[...claimed.keys()]])
			return row?.next == null ? null : skew.fromDatabase(row.next)
		},
		claimOf(id) {
			const queue = queueById.get(id)
			return (queue !== undefined && claimed.get(queue)?.claim) || null
		},
		async letGo(ids) {
			const empty: { queue: string; claim: number }[] = []
			for (const id of ids) {
				const queue = queueById.get(id)
				const mark = queue === undefined ? undefined : claimed.get(queue)
				if (queue === undefined || mark === undefined) continue
				queueById.delete(id)
				mark.open.delete(id)
				if (mark.open.size > 0) continue
				claimed.delete(queue)
				empty.push({ queue, claim: mark.claim })
			}
			await free(empty)
		},
		async renew() {
			if (claimed.size === 0) return
			const claims = [...claimed.values()].map(({ claim }) => claim)
			await database.ask(RENEW, [[...claimed.keys()], claims, owner, leaseMs])
		},
		async close() {
			await claiming
			claimed.clear()
			queueById.clear()
			await database.ask('update tracewatch.queue set claimed_by = null, claimed_until = null where claimed_by = $1', [
				owner,
			])
		},
	}
}

/** Rows up to the first that is not due. */
function duePrefix(rows: readonly DeliveryRow[], now: number): readonly DeliveryRow[] {
	const wait = rows.findIndex((row) => row.next_attempt_at_ms > now)
	return wait < 0 ? rows : rows.slice(0, wait)
}

/** Skips quarantined deliveries that are not due. */
const isNext = (now: string) => `(not ${QUARANTINED} or d.next_attempt_at_ms <= ${now}::bigint)`

/** A claim of this instance that it does not know comes from an answer that was lost; it is taken again. */
const TAKE = `
	with free as (
		select q.queue from tracewatch.queue q
		where not (q.queue = any($1::text[]))
			and (q.claimed_by is null or q.claimed_by = $2 or q.claimed_until < clock_timestamp())
			and (
				select d.next_attempt_at_ms from tracewatch.delivery d
				where d.queue = q.queue and d.status = 'pending' and ${isNext('$4')} order by d.rank, d.seq limit 1
			) <= $4::bigint
		for update of q skip locked
	)
	update tracewatch.queue q
	set claimed_by = $2, claim = q.claim + 1, claimed_until = clock_timestamp() + $3 * interval '1 ms'
	from free where free.queue = q.queue
	returning q.queue, q.claim`

const CONTENT = `
	select ${COLUMNS}, q.claim from tracewatch.queue q cross join lateral (
		select * from tracewatch.delivery d
		where d.queue = q.queue and d.status = 'pending' and ${isNext('$4')} order by d.rank, d.seq limit $3
	) d
	where q.queue = any($1) and q.claimed_by = $2 and q.claimed_until > clock_timestamp()
	order by q.queue, d.rank, d.seq`

const FREE = `
	update tracewatch.queue q set claimed_by = null, claimed_until = null
	from unnest($1::text[], $2::bigint[]) mine (queue, claim)
	where q.queue = mine.queue and q.claim = mine.claim and q.claimed_by = $3`

const RENEW = `
	update tracewatch.queue q set claimed_until = clock_timestamp() + $4 * interval '1 ms'
	from unnest($1::text[], $2::bigint[]) mine (queue, claim)
	where q.queue = mine.queue and q.claim = mine.claim and q.claimed_by = $3`

/**
 * A queue that another instance has claimed counts from the end of that claim. Quarantined deliveries that come before
 * the first of the others count at their own time.
 */
const NEXT = `
	select min(greatest(
		d.next_attempt_at_ms,
		case when q.claimed_until > clock_timestamp() then (extract(epoch from q.claimed_until) * 1000)::bigint end
	)) as next
	from tracewatch.queue q
	left join lateral (
		select d.rank, d.seq, d.next_attempt_at_ms from tracewatch.delivery d
		where d.queue = q.queue and d.status = 'pending' and not ${QUARANTINED} order by d.rank, d.seq limit 1
	) f on true
	cross join lateral (
		select least(f.next_attempt_at_ms, min(d.next_attempt_at_ms)) as next_attempt_at_ms from tracewatch.delivery d
		where d.queue = q.queue and d.status = 'pending' and ${QUARANTINED}
			and (f.seq is null or (d.rank, d.seq) < (f.rank, f.seq))
	) d
	where not (q.queue = any($1::text[])) and d.next_attempt_at_ms is not null`
