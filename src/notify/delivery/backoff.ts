/** When a failed delivery is tried again. Pure: the clock and the dice are handed in. */
import type { Delivery } from '../../model/delivery.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Upper ends of the waits after the first, second, … failure; the last one repeats. Short outages cost seconds. */
export const retryCeilingsMs: readonly number[] = [1_000, 5_000, 15_000, minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs]

/** How long a delivery is tried, from its creation. */
export const giveUpAfterMs = 72 * hourMs

const leastWaitMs = 250

/**
 * The next attempt of a delivery that has just failed, in milliseconds since 1970; null when it is to be given up.
 * Full jitter below the ceiling, yet never earlier than the other side asked (`afterMs`). A delivery that grew old
 * while the program was off still gets a full row of attempts.
 */
export function nextAttemptMs(
	delivery: Pick<Delivery, 'attempts' | 'createdAtMs'>,
	nowMs: number,
	random: () => number,
	afterMs = 0,
): number | null {
	const deadlineMs = delivery.createdAtMs + giveUpAfterMs
	if (nowMs >= deadlineMs && delivery.attempts + 1 > retryCeilingsMs.length) return null
	const ceilingMs = retryCeilingsMs[Math.min(delivery.attempts, retryCeilingsMs.length - 1)] ?? hourMs
	const waitMs = Math.max(leastWaitMs, Math.floor(random() * ceilingMs), afterMs)
	// The last attempt falls on the deadline, not up to an hour after it.
	return nowMs < deadlineMs ? Math.min(nowMs + waitMs, deadlineMs) : nowMs + waitMs
}
