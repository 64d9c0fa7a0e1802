import type { ReceiverSummary } from '../../model/state.js'

/**
 * What waits for a receiver and what became of the rest, as `status --json` and the JSON of the pages say it. `none`:
 * the count where nothing is found; null where the state cannot be read.
 */
export function receiverCounts<None>(found: ReceiverSummary | undefined, none: None) {
	const { pending = none, aside = none, failedAttempts = none, held = none } = found ?? {}
	const { parked = none, dead = none, delivered = none, lastDeliveredAtMs = null } = found ?? {}
	const lastDeliveredAt = lastDeliveredAtMs === null ? null : new Date(lastDeliveredAtMs).toISOString()
	return { pending, aside, failedAttempts, held, parked, dead, delivered, lastDeliveredAt }
}

/** The configured names, then names that only the state knows. */
export function knownNames(configured: readonly string[], stored: ReadonlyMap<string, unknown> | undefined) {
	return [...new Set([...configured, ...(stored?.keys() ?? [])])]
}
