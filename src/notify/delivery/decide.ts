/**
 * What comes of an attempt: what is recorded, what the queue remembers, what becomes due and whether the queue goes on.
 * Pure: the clock and the random source are parameters.
 */

import { isRefusedAlone, restMs } from '../../core/outbox/refusals.js'
import { resolved } from '../../core/outbox/resolved.js'
import { ALONE, blockerOf, isAlone, isAside, isHeld, isParked } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import { type DigestRate, digestTimeOf, sentTimes } from './batch.js'
import { isOfAll, LONGEST_PAUSE_MS, type Pause, type Queue, type Refusal } from './queueMemory.js'

/** What one message carries: a delivery itself, or the digest of several. */
export interface Parcel {
	readonly sent: Delivery
	readonly members: readonly Delivery[]
}

/** What is recorded of a parcel: of each member the same. */
export interface Result extends Parcel {
	readonly resolution: Resolution
	/** As counted and logged; null: it was not tried, and is not dead. */
	readonly outcome: Outcome | null
}

export interface Decision {
	readonly queue: Queue
	/** Recorded in one write. */
	readonly results: readonly Result[]
	/** Ids of what is due at once. */
	readonly freed: readonly string[]
	/** Whether to go on with the next delivery of the queue. */
	readonly next: 'continue' | 'stop'
}

export interface Facts {
	readonly nowMs: number
	/** From 0 up to, but not including, 1. */
	readonly random: () => number
	/** Null: each alert is sent alone. */
	readonly rate: DigestRate | null
	/** Deliveries that wait beside the queue or for a digest, in sending order. */
	readonly aside: ReadonlyMap<string, Delivery>
	/** All that waits, where the receiver refuses or refused everything. */
	readonly pending: readonly Delivery[]
}

type Failed = Outcome & { readonly result: 'retry' }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/**
 * Upper limits of the wait after the first, second, … failure; the last one repeats. The first ones are short, so that
 * a short outage delays alerts by seconds only.
 */
export const RETRY_CEILINGS_MS = [1_000, 5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS] as const

/** Time from creation after which a delivery is given up. */
export const GIVE_UP_AFTER_MS = 72 * HOUR_MS

const LEAST_WAIT_MS = 250
/** A queue that fails is asked at most once a minute, whichever delivery stands first. */
const QUEUE_CEILING = 3
/**
 * Different messages refused in a row after which the receiver is taken to refuse everything; deliveries beside the
 * queue that fail in a row before it is paused.
 */
const MOST_IN_ROW = 3
/** The same within a minute after an accepted message: what it refuses for ever may stand before all others. */
const MOST_WHILE_IT_WORKS = 12

export function decide(queue: Queue, parcel: Parcel, outcome: Outcome, facts: Facts): Decision {
	if (outcome.result === 'delivered') return accepted(queue, parcel, outcome, facts)
	if (outcome.result === 'retry') return failed(queue, parcel, outcome, facts)
	if (outcome.result === 'parked') return refused(queue, parcel, outcome, facts)
	if (isDigest(parcel)) return takenApart(queue, parcel, outcome, facts.nowMs)
	return { ...unchanged, queue, results: [resultOf(parcel, outcome, dead(parcel.sent, outcome, facts.nowMs))] }
}

/** Why a delivery is not tried now: a pause, a digest, or an earlier one of its subject; null: it is tried. */
export function waitOf(delivery: Delivery, queue: Queue, { rate, aside, nowMs }: Omit<Facts, 'pending'>) {
	const { id } = delivery
	const { pause } = queue
	if (pause !== null) return isParked(delivery) || pause.untilMs <= nowMs ? null : untilPauseEnds(delivery, pause)
	const untilMs = digestTimeOf(delivery, { rate, queue, aside: aside.values(), nowMs })
	if (untilMs !== null) return { id, result: 'wait', as: 'digest', untilMs } as const
	const blocker = blockerOf(delivery, aside.values())
	if (blocker === null) return null
	const error = `waits for ${blocker.id}, which is about the same event and is retried separately`
	const nextAttemptAtMs = Math.max(nowMs, blocker.nextAttemptAtMs) + 1
	// The fallback got the other one, and gets this one as well.
	const refused = blocker.refused === undefined ? null : { refused: delivery.refused ?? { sinceMs: nowMs, times: 0 } }
	return { id, result: 'retry', code: ALONE, error, nextAttemptAtMs, untried: true, ...refused } as const
}

/** How long a queue waits after failures in a row. */
export function queuePauseMs(failures: number): number {
	return Math.min(RETRY_CEILINGS_MS[failures - 1] ?? LONGEST_PAUSE_MS, LONGEST_PAUSE_MS)
}

const unchanged = { freed: [], next: 'continue' } as const

/** The receiver works: what waited for that is due at once. */
function accepted(before: Queue, parcel: Parcel, outcome: Outcome & { result: 'delivered' }, facts: Facts): Decision {
	const { sent } = parcel
	const { nowMs, rate, pending } = facts
	const beside = [...facts.aside.values()].filter((one) => !isHeld(one))
	const isFreed = (one: Delivery) => (before.isFailing && one.refused === undefined) || blockerOf(one, [sent]) !== null
	const { pause } = before
	const paused = pause === null ? [] : pending.filter((one) => isParked(one) && isUnder(pause, sent, one))
	// A delivery that is dead by now is not tried again.
	const refusedBefore = [...before.refused].filter((id) => facts.aside.has(id))
	const freed = [...refusedBefore, ...[...beside.filter(isFreed), ...paused].map(({ id }) => id)]
	const queue: Queue = {
		...{ ...before, isFailing: false, failures: 0, failedBeside: 0, pausedUntilMs: 0, acceptedAtMs: nowMs },
		...{ refused: new Set(), pause: null, sentAtMs: sentTimes(sent, rate, before, nowMs) },
	}
	return { queue, results: [{ ...parcel, outcome, resolution: { id: sent.id, ...outcome } }], freed, next: 'continue' }
}

/** The receiver did not answer, or asked to come again later. */
function failed(before: Queue, parcel: Parcel, outcome: Failed, facts: Facts): Decision {
	const { sent, members } = parcel
	const { nowMs, random } = facts
	const { code, reason: error, afterMs } = outcome
	const isBeside = isAside(sent)
	const isOwn = isAlone(sent) || (isBeside && !before.isFailing && before.acceptedAtMs !== null)
	const queue: Queue = {
		...before,
		failures: before.failures + 1,
		// The message tried after a pause: the receiver does not accept yet.
		pause: before.pause && prolonged(before.pause, nowMs, afterMs),
		// A message that fails alone says nothing about the others.
		...(afterMs !== undefined && !isAlone(sent) && { askedUntilMs: nowMs + afterMs }),
	}
	if (isOwn && isDigest(parcel)) return takenApart(queue, parcel, outcome, nowMs)
	// All that is due with the end of a pause waits for the end of the next one: one message is tried after each.
	const others = queue.pause === null ? [] : othersUnder(queue.pause, parcel, before, facts).results
	const nextMs = nextAttemptMs(sent, { nowMs, random, failures: queue.failures, afterMs })
	if (nextMs === null)
		return { ...unchanged, queue, results: [resultOf(parcel, outcome, dead(sent, expired(error), nowMs)), ...others] }
	const nextAttemptAtMs = Math.max(nextMs, queue.pause?.untilMs ?? 0)
	const resolution = { id: sent.id, result: 'retry', code: isOwn ? ALONE : code, error, nextAttemptAtMs } as const
	const results = [resultOf(parcel, outcome, resolution), ...others]
	if (isBeside) return besideFailed(queue, results, nowMs)
	// The others wait as well, although this delivery does not hold them back any longer.
	const isNowBeside = members.some((one) => isAside(resolved(one, resolution)))
	const pausedMs = isNowBeside ? nowMs + queuePauseMs(queue.failures) : queue.pausedUntilMs
	return { queue: { ...queue, isFailing: true, pausedUntilMs: pausedMs }, results, freed: [], next: 'stop' }
}

/** The receiver refused it, and may accept others. */
function refused(before: Queue, parcel: Parcel, refusal: Refusal, facts: Facts): Decision {
	const { sent } = parcel
	const { nowMs } = facts
	const isFirst = sent.refused === undefined || (isParked(sent) && sent.attempts === 0)
	const queue = isFirst ? { ...before, refused: new Set([...before.refused, sent.id]) } : before
	const isAll = queue.refused.size >= mostInRow(queue, nowMs) || isOfAll(refusal.code)
	if (queue.pause !== null || isAll) return refusesAll(queue, parcel, refusal, facts)
	const resolution = afterRefusal(sent, refusal, queue.acceptedAtMs, nowMs)
	if (resolution.result === 'retry' && isDigest(parcel)) return takenApart(queue, parcel, refusal, nowMs)
	const results = [resultOf(parcel, refusal, resolution)]
	return isFirst ? { ...unchanged, queue, results } : besideFailed(queue, results, nowMs)
}

/** The receiver refuses everything: all that waits for it waits until the end of the next pause. */
function refusesAll(before: Queue, parcel: Parcel, words: Refusal, facts: Facts): Decision {
	const { sent } = parcel
	const { nowMs } = facts
	const ofAll = before.pause?.isOfAll === true || isOfAll(words.code)
	const pause = prolonged({ sinceMs: before.pause?.sinceMs ?? nowMs, untilMs: 0, words, isOfAll: ofAll }, nowMs)
	const { attempts, results } = othersUnder(pause, parcel, before, facts)
	const first = resultOf(parcel, words, afterRefusalOfAll(sent, pause, attempts, nowMs))
	return { ...unchanged, queue: { ...before, pause, refused: new Set() }, results: [first, ...results] }
}

/** What else waits for the end of a pause, and the attempts at all of it. */
function othersUnder(pause: Pause, { sent, members }: Parcel, { refused }: Queue, { nowMs, pending }: Facts) {
	const own = new Set(members.map(({ id }) => id))
	const waiting = pending.filter(
		(one) => !own.has(one.id) && isUnder(pause, sent, one) && (isParked(one) || refused.has(one.id)),
	)
	const attempts = waiting.reduce((sum, one) => sum + one.attempts, sent.attempts)
	const results = waiting.map((one): Result => {
		const resolution = { ...afterRefusalOfAll(one, pause, attempts, nowMs), untried: true } as const
		const outcome = resolution.result === 'dead' ? finalOf(pause.words, resolution) : null
		return { ...alone(one), resolution, outcome }
	})
	return { attempts, results }
}

/** Probably one alert of the digest is the reason: each is sent alone, before the rest of the queue. */
function takenApart(queue: Queue, parcel: Parcel, outcome: Exclude<Outcome, { result: 'delivered' }>, nowMs: number) {
	const { code, reason } = outcome
	const resolution = { id: parcel.sent.id, result: 'wait', as: 'alone', untilMs: nowMs } as const
	const logged = { result: 'retry', code, reason: `${reason}; its alerts are sent one by one` } as const
	return { queue, results: [{ ...parcel, resolution, outcome: logged }], freed: [], next: 'stop' } as const
}

function besideFailed(before: Queue, results: readonly Result[], nowMs: number): Decision {
	const queue = { ...before, failedBeside: before.failedBeside + 1 }
	if (queue.failedBeside < mostInRow(queue, nowMs)) return { ...unchanged, queue, results }
	return { queue: { ...queue, pausedUntilMs: nowMs + queuePauseMs(queue.failures) }, results, freed: [], next: 'stop' }
}

export const alone = (delivery: Delivery): Parcel => ({ sent: delivery, members: [delivery] })
const isDigest = ({ sent, members }: Parcel): boolean => members[0] !== sent

function resultOf(parcel: Parcel, outcome: Outcome, resolution: Resolution): Result {
	return { ...parcel, resolution, outcome: finalOf(outcome, resolution) }
}

function finalOf(outcome: Outcome, resolution: Resolution): Outcome {
	if (resolution.result !== 'dead') return outcome
	return { result: 'dead', code: resolution.code, reason: resolution.error }
}

function mostInRow({ acceptedAtMs }: Queue, nowMs: number): number {
	return Math.abs(nowMs - (acceptedAtMs ?? 0)) < LONGEST_PAUSE_MS ? MOST_WHILE_IT_WORKS : MOST_IN_ROW
}

/** One more pause, longer than the one before, and at least as long as the receiver asked for. */
function prolonged(pause: Pause, nowMs: number, afterMs = 0): Pause {
	return { ...pause, untilMs: nowMs + Math.max(restMs(pause.sinceMs, nowMs), afterMs) }
}

/** Whether the other delivery waits for the end of the same pause. */
function isUnder({ isOfAll }: Pause, { receiver, recipient }: Delivery, other: Delivery): boolean {
	return other.receiver === receiver && (isOfAll || other.recipient === recipient)
}

function afterRefusal(delivery: Delivery, { code, reason }: Refusal, acceptedAtMs: number | null, nowMs: number) {
	const isAgain = isAlone(delivery)
	if (isAgain && isRefusedAlone(delivery, acceptedAtMs, nowMs))
		return dead(delivery, { code, reason: `given up, since it accepts other messages: ${reason}` }, nowMs)
	if (isExpired(delivery, nowMs)) return dead(delivery, expired(reason), nowMs)
	const { sinceMs, times } = (isAgain && delivery.refused?.times && delivery.refused) || { sinceMs: nowMs, times: 0 }
	const refused = { sinceMs, times: times + 1 }
	const nextAttemptAtMs = nowMs + restMs(sinceMs, nowMs)
	return { id: delivery.id, result: 'retry', code: ALONE, error: reason, nextAttemptAtMs, refused } as const
}

/**
 * The receiver refuses everything, which does not count against a message. One that has waited for that for 72 hours,
 * with seven attempts at all that waits, is given up.
 */
function afterRefusalOfAll(delivery: Delivery, pause: Pause, attempts: number, nowMs: number) {
	const sinceMs = Math.max(delivery.createdAtMs, delivery.refused?.sinceMs ?? nowMs)
	const isOver = nowMs >= sinceMs + GIVE_UP_AFTER_MS && attempts >= RETRY_CEILINGS_MS.length
	if (isOver || isExpired(delivery, nowMs)) return dead(delivery, expired(pause.words.reason), nowMs)
	return atRest(delivery, pause)
}

/** A message that failed alone before the pause is still taken to fail alone. */
function untilPauseEnds(delivery: Delivery, pause: Pause): Resolution {
	const rest = { ...atRest(delivery, pause), untried: true } as const
	if (!isAlone(delivery)) return rest
	const { refused: _, ...own } = { ...rest, code: ALONE, error: delivery.lastError ?? rest.error }
	return own
}

function atRest({ id }: Delivery, { words: { code, reason }, untilMs, sinceMs }: Pause) {
	const refused = { sinceMs, times: 0 }
	return { id, result: 'retry', code, error: reason, nextAttemptAtMs: untilMs, refused } as const
}

type Reason = Pick<Refusal, 'code' | 'reason'>

const expired = (reason: string): Reason => ({ code: 'expired', reason: `given up after 72 hours: ${reason}` })

function dead({ id }: Delivery, { code, reason: error }: Reason, nextAttemptAtMs: number) {
	return { id, result: 'dead', code, error, nextAttemptAtMs } as const
}

/** Whether a failure now is the last one: 72 hours old, and tried seven times with this attempt. */
function isExpired({ attempts, createdAtMs }: Delivery, nowMs: number): boolean {
	return nowMs >= createdAtMs + GIVE_UP_AFTER_MS && attempts + 1 >= RETRY_CEILINGS_MS.length
}

interface Failure extends Pick<Facts, 'nowMs' | 'random'> {
	/** Failures of the queue in a row, this one included. */
	readonly failures: number
	/** The receiver asked for this wait. */
	readonly afterMs: number | undefined
}

/**
 * Time of the next attempt after a failure, in milliseconds since 1970; null: give the delivery up. Full jitter below
 * the ceiling, but never earlier than the receiver asked for. A delivery that became too old while the program was off
 * still gets seven attempts.
 */
function nextAttemptMs(delivery: Delivery, { nowMs, random, failures, afterMs = 0 }: Failure): number | null {
	if (isExpired(delivery, nowMs)) return null
	const before = Math.max(delivery.attempts, Math.min(failures - 1, QUEUE_CEILING))
	const waitMs = Math.max(LEAST_WAIT_MS, Math.floor(random() * (RETRY_CEILINGS_MS[before] ?? HOUR_MS)), afterMs)
	const deadlineMs = delivery.createdAtMs + GIVE_UP_AFTER_MS
	// The last attempt is at the deadline, not up to an hour later.
	return nowMs < deadlineMs ? Math.min(nowMs + waitMs, deadlineMs) : nowMs + waitMs
}
