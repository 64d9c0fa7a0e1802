/** What waits for each receiver, counted; of one network too. */

import type { ReceiverSummary } from '../../model/state.js'
import type { Ask } from './database.js'
import { AGAIN, ASIDE } from './outbox.js'
import type { Skew } from './skew.js'

export async function readReceivers(ask: Ask, skew: Skew): Promise<ReadonlyMap<string, ReceiverSummary>> {
	const rows = await ask<ReceiverSummary & { receiver: string; aside: number; again: number; last: number | null }>(
		RECEIVERS,
	)
	return new Map(
		rows.map(({ receiver, aside, again, last, pending, held, parked, dead, delivered }) => [
			receiver,
			{
				...{ pending, ...(aside > 0 ? { aside } : {}), ...(again > 0 ? { again } : {}), held, parked, dead, delivered },
				lastDeliveredAtMs: last === null ? null : skew.fromDatabase(last),
			},
		]),
	)
}

export async function readWaiting(ask: Ask, network: string): Promise<ReadonlyMap<string, number>> {
	const rows = await ask<{ readonly receiver: string; readonly waiting: number }>(WAITING, [
		`"network":${JSON.stringify(network)}`,
	])
	return new Map(rows.map(({ receiver, waiting }) => [receiver, waiting]))
}

const RECEIVERS = `
	select receiver, coalesce(pending, 0) as pending, coalesce(aside, 0) as aside,
		coalesce(again, 0) as again, coalesce(held, 0) as held, coalesce(parked, 0) as parked,
		coalesce(dead, 0) as dead, coalesce(delivered, 0) as delivered, last_delivered_at_ms as last
	from (
		select receiver,
			count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'held') as held,
			count(*) filter (where ${ASIDE}) as aside, count(*) filter (where ${AGAIN}) as again,
			count(*) filter (where status = 'parked') as parked, count(*) filter (where status = 'dead') as dead
		from tracewatch.delivery d group by receiver
	) waiting full join tracewatch.total using (receiver)
	order by receiver`

/** As text: what a message says cannot look like a key of it, for its quotes are escaped. */
const WAITING = `
	select receiver, count(*) as waiting from tracewatch.delivery
	where status <> 'dead' and position($1 in content::text) > 0 group by receiver`
