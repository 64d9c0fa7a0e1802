/** What waits for each receiver, counted. */

import type { ReceiverSummary } from '../../model/state.js'
import type { Ask } from './database.js'
import { ASIDE } from './outbox.js'
import type { Skew } from './skew.js'

export async function readReceivers(ask: Ask, skew: Skew): Promise<ReadonlyMap<string, ReceiverSummary>> {
	const rows = await ask<ReceiverSummary & { receiver: string; aside: number; last: number | null }>(RECEIVERS)
	return new Map(
		rows.map(({ receiver, aside, last, pending, held, parked, dead, delivered }) => [
			receiver,
			{
				...{ pending, ...(aside > 0 ? { aside } : {}), held, parked, dead, delivered },
				lastDeliveredAtMs: last === null ? null : skew.fromDatabase(last),
			},
		]),
	)
}

const RECEIVERS = `
	select receiver, coalesce(pending, 0) as pending, coalesce(aside, 0) as aside,
		coalesce(held, 0) as held, coalesce(parked, 0) as parked,
		coalesce(dead, 0) as dead, coalesce(delivered, 0) as delivered, last_delivered_at_ms as last
	from (
		select receiver,
			count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'held') as held,
			count(*) filter (where ${ASIDE}) as aside,
			count(*) filter (where status = 'parked') as parked, count(*) filter (where status = 'dead') as dead
		from tracewatch.delivery d group by receiver
	) waiting full join tracewatch.total using (receiver)
	order by receiver`
