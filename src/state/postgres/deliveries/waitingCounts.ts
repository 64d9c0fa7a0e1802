/** Counts waiting deliveries by receiver, for the summary and for one network. */

import type { ReceiverSummary } from '../../../model/state.js'
import type { Ask } from '../connection/database.js'
import type { Skew } from '../connection/skew.js'
import { QUARANTINED, REFUSED, RETRIED } from './outbox.js'

export async function readReceivers(ask: Ask, skew: Skew): Promise<ReadonlyMap<string, ReceiverSummary>> {
	const rows = await ask<
		Omit<ReceiverSummary, 'refusal'> & {
			readonly receiver: string
			readonly quarantined: number
			readonly retried: number
			readonly failed: number
			readonly refused: number
			readonly refusal: string | null
			readonly last: number | null
		}
	>(RECEIVERS)
	return new Map(
		rows.map(({ receiver, quarantined, retried, failed, refused, refusal, last, ...counts }) => [
			receiver,
			{
				...{ pending: counts.pending, held: counts.held, parked: counts.parked, dead: counts.dead },
				delivered: counts.delivered,
				...(quarantined > 0 ? { quarantined } : {}),
				...(retried > 0 ? { retried } : {}),
				...(refused > 0 ? { refused } : {}),
				...(refusal === null ? {} : { refusal }),
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
		coalesce(refused, 0) as refused, refusal, coalesce(delivered, 0) as delivered, last_delivered_at_ms as last
	from (
		select receiver,
			count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'held') as held,
			count(*) filter (where ${QUARANTINED}) as quarantined, count(*) filter (where ${RETRIED}) as retried,
			max(attempts) filter (where status = 'pending' and not ${QUARANTINED} and not ${RETRIED}) as failed,
			count(*) filter (where ${REFUSED}) as refused,
			(array_agg(last_error order by seq desc)
				filter (where last_error is not null and (status in ('parked', 'dead') or ${REFUSED})))[1] as refusal,
			count(*) filter (where status = 'parked') as parked, count(*) filter (where status = 'dead') as dead
		from tracewatch.delivery d group by receiver
	) waiting full join tracewatch.total using (receiver)
	order by receiver`

/** Searches the JSON text: a value in a message cannot look like the key, because its quotes are escaped. */
const WAITING = `
	select receiver, count(*) as waiting from tracewatch.delivery
	where status <> 'dead' and position($1 in content::text) > 0 group by receiver`
