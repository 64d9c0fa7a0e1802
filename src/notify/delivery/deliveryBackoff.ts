/**
 * What becomes of a delivery after an attempt, and when it is retried. Pure: the clock and the random source are
 * parameters.
 */

import { isRefusedAlone, restMs } from '../../core/outbox/refusals.js'
import { ALONE, isAlone } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import type { Failed, Pause, QueueState, Refusal } from './queueStates.js'

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

/** What the result depends on besides the delivery and the outcome. */
export interface Standing {
	readonly queue: Pick<QueueState, 'failures' | 'acceptedAtMs'>
	readonly nowMs: number
	readonly random: () => number
	/** Present while the receiver refuses everything. */
	readonly rest?: Rest
}

export interface Rest {
	readonly pause: Pick<Pause, 'sinceMs' | 'untilMs'>
	/** Attempts at all that waits with it; 0: not counted. */
	readonly attempts: number
	/** `refused`: earlier, as one of the last, which does not count. `untried`: it waits with the others. */
	readonly delivery: 'tried' | 'refused' | 'untried'
}

/** What to record of an attempt. */
export function resolutionOf(delivery: Delivery, outcome: Outcome, standing: Standing): Resolution {
	const { id } = delivery
	if (outcome.result === 'delivered') {
		return { id, result: 'delivered', ...(outcome.answer === undefined ? {} : { answer: outcome.answer }) }
	}
	if (outcome.result === 'dead') return dead(delivery, outcome, standing)
	if (outcome.result === 'retry') return failed(delivery, outcome, standing)
	return standing.rest === undefined
		? refused(delivery, outcome, standing)
		: resting(delivery, outcome, { ...standing.rest, nowMs: standing.nowMs })
}

function failed(delivery: Delivery, outcome: Failed, { queue: { failures }, nowMs, random }: Standing): Resolution {
	const { result, code, reason: error, afterMs = 0 } = outcome
	const nextAttemptAtMs = nextAttemptMs(delivery, { nowMs, random, failures, afterMs })
	if (nextAttemptAtMs === null) return dead(delivery, expired(outcome), { nowMs })
	return { id: delivery.id, result, code, error, nextAttemptAtMs }
}

/** The receiver may accept others. */
function refused(delivery: Delivery, { code, reason }: Refusal, { queue, nowMs }: Standing): Resolution {
	if (isAlone(delivery) && isRefusedAlone(delivery, queue.acceptedAtMs, nowMs))
		return dead(delivery, { code, reason: `given up, since it accepts other messages: ${reason}` }, { nowMs })
	if (isExpired(delivery, nowMs)) return dead(delivery, expired({ reason }), { nowMs })
	const { sinceMs, times } = isAlone(delivery) && delivery.refused ? delivery.refused : { sinceMs: nowMs, times: 0 }
	const nextAttemptAtMs = nowMs + restMs(sinceMs, nowMs)
	const counted = { sinceMs, times: times + 1 }
	return { id: delivery.id, result: 'retry', code: ALONE, error: reason, nextAttemptAtMs, refused: counted }
}

/** Refusals of everything do not count against a message, nor do those before. */
function resting(delivery: Delivery, refusal: Refusal, rest: Rest & { readonly nowMs: number }): Resolution {
	const { pause, attempts, nowMs } = rest
	const isTried = rest.delivery === 'tried'
	const own = { id: delivery.id, ...(!isTried && { untried: true as const }) }
	if (isExpiredAtRest(delivery, nowMs, attempts)) return { ...dead(delivery, expired(refusal), { nowMs }), ...own }
	const { code, reason: error } = refusal
	const waits = { ...own, result: 'retry', nextAttemptAtMs: pause.untilMs } as const
	if (isAlone(delivery) && rest.delivery === 'untried')
		return { ...waits, code: ALONE, error: delivery.lastError ?? error }
	return { ...waits, code, error, refused: { sinceMs: pause.sinceMs, times: 0 } }
}

/** No attempt: an earlier delivery about the same subject is not delivered yet. */
export function waitsBehind({ id }: Delivery, blocker: Delivery, nowMs: number) {
	const error = `waits for ${blocker.id}, which is about the same event and is retried separately`
	const nextAttemptAtMs = Math.max(nowMs, blocker.nextAttemptAtMs) + 1
	return { id, result: 'retry', code: ALONE, error, nextAttemptAtMs, untried: true } as const
}

type Reason = Pick<Refusal, 'code' | 'reason'>

function expired({ reason }: Pick<Refusal, 'reason'>): Reason {
	return { code: 'expired', reason: `given up after 72 hours: ${reason}` }
}

function dead({ id }: Delivery, { code, reason: error }: Reason, { nowMs }: Pick<Standing, 'nowMs'>) {
	return { id, result: 'dead', code, error, nextAttemptAtMs: nowMs } as const
}

/** Whether a failure now is the last one: 72 hours old, and tried seven times with this attempt. */
function isExpired({ attempts, createdAtMs }: Pick<Delivery, 'attempts' | 'createdAtMs'>, nowMs: number): boolean {
	return nowMs >= createdAtMs + giveUpAfterMs && attempts + 1 >= retryCeilingsMs.length
}

/**
 * The same for a delivery of a receiver that rests: one that refused everything since then, with that many attempts at
 * all that waits, counts as tried often enough.
 */
function isExpiredAtRest(delivery: Delivery, nowMs: number, attemptsOfAll: number): boolean {
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
