/**
 * What is recorded of a delivery after an attempt or instead of one, and when it is tried again. Pure: the clock and
 * the random source are parameters.
 */

import { isRefusedAlone, restMs } from '../../core/outbox/refusals.js'
import { ALONE, isAlone } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome } from '../../model/delivery.js'

export type Failed = Outcome & { readonly result: 'retry' }
export type Refusal = Outcome & { readonly result: 'parked' }

/** A pause of a queue, or of a receiver that refuses the login of all its queues. */
export interface Pause {
	/** When its first refusal was seen; all that waits for it has this time. */
	sinceMs: number
	untilMs: number
	words: Refusal
	/** One message is being tried. */
	isProbed: boolean
}

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
/** A queue that fails is asked at most once a minute, whichever delivery stands first. */
const queueCeiling = 3

interface Failure {
	readonly nowMs: number
	readonly random: () => number
	/** Failures of the queue in a row, this one included. */
	readonly failures?: number
}

/** The receiver did not answer, or asked to come again later. */
export function afterFailure(delivery: Delivery, outcome: Failed, failure: Failure) {
	const { code, reason: error, afterMs = 0 } = outcome
	const nextAttemptAtMs = nextAttemptMs(delivery, { ...failure, afterMs })
	if (nextAttemptAtMs === null) return dead(delivery, expired(outcome), failure.nowMs)
	return { id: delivery.id, result: 'retry', code, error, nextAttemptAtMs } as const
}

/** The receiver refused it, and may accept others. */
export function afterRefusal(
	delivery: Delivery,
	{ code, reason }: Refusal,
	acceptedAtMs: number | null,
	nowMs: number,
) {
	const isAgain = isAlone(delivery)
	if (isAgain && isRefusedAlone(delivery, acceptedAtMs, nowMs))
		return dead(delivery, { code, reason: `given up, since it accepts other messages: ${reason}` }, nowMs)
	if (isExpired(delivery, nowMs)) return dead(delivery, expired({ reason }), nowMs)
	const { sinceMs, times } = (isAgain && delivery.refused) || { sinceMs: nowMs, times: 0 }
	const refused = { sinceMs, times: times + 1 }
	const nextAttemptAtMs = nowMs + restMs(sinceMs, nowMs)
	return { id: delivery.id, result: 'retry', code: ALONE, error: reason, nextAttemptAtMs, refused } as const
}

/**
 * The receiver refuses everything, which does not count against a message. One that has waited for that for 72 hours,
 * with seven attempts at all that waits, is given up.
 */
export function afterRefusalOfAll(delivery: Delivery, pause: Pause, attempts: number, nowMs: number) {
	const sinceMs = Math.max(delivery.createdAtMs, delivery.refused?.sinceMs ?? nowMs)
	const isOver = nowMs >= sinceMs + giveUpAfterMs && attempts >= retryCeilingsMs.length
	if (isOver || isExpired(delivery, nowMs)) return dead(delivery, expired(pause.words), nowMs)
	return atRest(delivery, pause)
}

/** No attempt: the receiver refuses everything. One that fails alone goes on to. */
export function untilPauseEnds(delivery: Delivery, pause: Pause) {
	const waits = { ...atRest(delivery, pause), untried: true } as const
	if (!isAlone(delivery)) return waits
	const { refused: _, ...alone } = { ...waits, code: ALONE, error: delivery.lastError ?? waits.error }
	return alone
}

/** No attempt: an earlier delivery about the same subject is not delivered yet. */
export function waitsBehind({ id }: Delivery, blocker: Delivery, nowMs: number) {
	const error = `waits for ${blocker.id}, which is about the same event and is retried separately`
	const nextAttemptAtMs = Math.max(nowMs, blocker.nextAttemptAtMs) + 1
	return { id, result: 'retry', code: ALONE, error, nextAttemptAtMs, untried: true } as const
}

function atRest({ id }: Delivery, { words: { code, reason }, untilMs, sinceMs }: Pause) {
	const refused = { sinceMs, times: 0 }
	return { id, result: 'retry', code, error: reason, nextAttemptAtMs: untilMs, refused } as const
}

type Reason = Pick<Refusal, 'code' | 'reason'>

function expired({ reason }: Pick<Refusal, 'reason'>): Reason {
	return { code: 'expired', reason: `given up after 72 hours: ${reason}` }
}

export function dead({ id }: Delivery, { code, reason: error }: Reason, nextAttemptAtMs: number) {
	return { id, result: 'dead', code, error, nextAttemptAtMs } as const
}

/** Whether a failure now is the last one: 72 hours old, and tried seven times with this attempt. */
function isExpired({ attempts, createdAtMs }: Pick<Delivery, 'attempts' | 'createdAtMs'>, nowMs: number): boolean {
	return nowMs >= createdAtMs + giveUpAfterMs && attempts + 1 >= retryCeilingsMs.length
}

/**
 * Time of the next attempt after a failure, in milliseconds since 1970; null: give the delivery up. Full jitter below
 * the ceiling, but never earlier than the receiver asked for (`afterMs`). A delivery that became too old while the
 * program was off still gets seven attempts.
 */
export function nextAttemptMs(
	delivery: Pick<Delivery, 'attempts' | 'createdAtMs'>,
	{ nowMs, random, failures = 1, afterMs = 0 }: Failure & { readonly afterMs?: number },
): number | null {
	const deadlineMs = delivery.createdAtMs + giveUpAfterMs
	if (isExpired(delivery, nowMs)) return null
	const before = Math.max(delivery.attempts, Math.min(failures - 1, queueCeiling))
	const ceilingMs = retryCeilingsMs[Math.min(before, retryCeilingsMs.length - 1)] ?? hourMs
	const waitMs = Math.max(leastWaitMs, Math.floor(random() * ceilingMs), afterMs)
	// The last attempt is at the deadline, not up to an hour later.
	return nowMs < deadlineMs ? Math.min(nowMs + waitMs, deadlineMs) : nowMs + waitMs
}
