/** Counts waiting deliveries by receiver, for the summary and for one network. */

import type { ReceiverSummary } from '../../../model/state.js'
import type { Ask } from '../connection/database.js'
import type { Skew } from '../connection/skew.js'
import { QUARANTINED, RETRIED } from './outbox.js'

export async function readReceivers(ask: Ask, skew: Skew): Promise<ReadonlyMap<string, ReceiverSummary>> {
	const rows = await ask<
		ReceiverSummary & { receiver: string; quarantined: number; retried: number; failed: number; last: number | null }
	>(RECEIVERS)
	return new Map(
		rows.map(({ receiver, quarantined, retried, failed, last, pending, held, parked, dead, delivered }) => [
			receiver,
			{
				...{
					pending,
					...(quarantined > 0 ? { quarantined } : {}),
					...(retried > 0 ? { retried } : {}),
					held,
					parked,
					dead,
					delivered,
				},
				...(failed > 0 ? { failedAttempts: failed } : {}),
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
	select receiver, coalesce(pending, 0) as pending, coalesce(quarantined, 0) as quarantined,
		coalesce(retried, 0) as retried, coalesce(failed, 0) as failed, coalesce(held, 0) as held,
		coalesce(parked, 0) as parked, coalesce(dead, 0) as dead,
		coalesce(delivered, 0) as delivered, last_delivered_at_ms as last
	from (
		select receiver,
			count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'held') as held,
			count(*) filter (where ${QUARANTINED}) as quarantined, count(*) filter (where ${RETRIED}) as retried,
			max(attempts) filter (where status = 'pending' and not ${QUARANTINED} and not ${RETRIED}) as failed,
			count(*) filter (where status = 'parked') as parked, count(*) filter (where status = 'dead') as dead
		from tracewatch.delivery d group by receiver
	) waiting full join tracewatch.total using (receiver)
	order by receiver`

/** Searches the JSON text: a value in a message cannot look like the key, because its quotes are escaped. */
const WAITING = `
	select receiver, count(*) as waiting from tracewatch.delivery
	where status <> 'dead' and position($1 in content::text) > 0 group by receiver`
