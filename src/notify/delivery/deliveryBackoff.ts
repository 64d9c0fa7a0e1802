/** When a failed delivery is retried. Pure: the clock and the random source are parameters. */
import type { Delivery } from '../../model/delivery.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/**
 * Upper limits of the wait after the first, second, … failure; the last one repeats. The first ones are short, so that
 * a short outage delays alerts by seconds only.
 */
export const retryCeilingsMs: readonly number[] = [1_000, 5_000, 15_000, minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs]

/** Time from creation after which a delivery is given up. */
export const giveUpAfterMs = 72 * hourMs

const leastWaitMs = 250

/** Whether a failure now is the last one: 72 hours old, and tried seven times with this attempt. */
export function isExpired(
	{ attempts, createdAtMs }: Pick<Delivery, 'attempts' | 'createdAtMs'>,
	nowMs: number,
): boolean {
	return nowMs >= createdAtMs + giveUpAfterMs && attempts + 1 >= retryCeilingsMs.length
}

/**
 * The same for a delivery of a receiver that rests: one that refused everything since then, with that many attempts at
 * all that waits, counts as tried often enough.
 */
export function isExpiredAtRest(delivery: Delivery, nowMs: number, attemptsOfAll: number): boolean {
	const sinceMs = Math.max(delivery.createdAtMs, delivery.refused?.sinceMs ?? nowMs)
	return isExpired(delivery, nowMs) || (nowMs >= sinceMs + giveUpAfterMs && attemptsOfAll >= retryCeilingsMs.length)
}

/** The ceiling of a minute. */
const queueCeiling = 3

interface Failure {
	readonly nowMs: number
	readonly random: () => number
	/** Failures of the queue in a row, this one included. */
	readonly failures?: number
	readonly afterMs?: number
}

/**
 * Time of the next attempt after a failure, in milliseconds since 1970; null: give the delivery up. Full jitter below
 * the ceiling, but never earlier than the receiver asked for (`afterMs`). A delivery that became too old while the
 * program was off still gets seven attempts.
 */
export function nextAttemptMs(
	delivery: Pick<Delivery, 'attempts' | 'createdAtMs'>,
	{ nowMs, random, failures = 1, afterMs = 0 }: Failure,
): number | null {
	const deadlineMs = delivery.createdAtMs + giveUpAfterMs
	if (isExpired(delivery, nowMs)) return null
	// A queue that fails is asked at most once a minute, whichever delivery stands first.
	const before = Math.max(delivery.attempts, Math.min(failures - 1, queueCeiling))
	const ceilingMs = retryCeilingsMs[Math.min(before, retryCeilingsMs.length - 1)] ?? hourMs
	const waitMs = Math.max(leastWaitMs, Math.floor(random() * ceilingMs), afterMs)
	// The last attempt is at the deadline, not up to an hour later.
	return nowMs < deadlineMs ? Math.min(nowMs + waitMs, deadlineMs) : nowMs + waitMs
}
