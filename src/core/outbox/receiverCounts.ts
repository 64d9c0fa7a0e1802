import type { ReceiverSummary } from '../../model/state.js'

/** What waits for a receiver and what became of the rest, as `status --json` and the JSON of the pages say it. */
export function receiverCounts(found: ReceiverSummary | undefined) {
	const { pending = 0, aside = 0, failedAttempts = 0, held = 0 } = found ?? {}
	const { parked = 0, dead = 0, delivered = 0, lastDeliveredAtMs = null } = found ?? {}
	const lastDeliveredAt = lastDeliveredAtMs === null ? null : new Date(lastDeliveredAtMs).toISOString()
	return { pending, aside, failedAttempts, held, parked, dead, delivered, lastDeliveredAt }
}
