/** What a process remembers of its queues; everything that must survive it stands in the state. */

import { queueOf } from '../../core/outbox/queue.js'
import { restMs } from '../../core/outbox/refusals.js'
import { isParked } from '../../core/outbox/waiting.js'
import type { Delivery, ReasonCode } from '../../model/delivery.js'
import { type Pause, type Refusal, retryCeilingsMs } from './deliveryBackoff.js'

export interface QueueState {
	/** The last delivery tried in order failed, and nothing was accepted since. */
	isFailing: boolean
	/** Failures since the last success. */
	failures: number
	/** Nothing is tried before then. */
	pausedUntilMs: number
	/** When it last accepted a message; null: not in this process. */
	acceptedAtMs: number | null
	/** When it accepted each message of late that counts for its digest rule. */
	sentAtMs: readonly number[]
	/** It asked for no message before then. */
	askedUntilMs: number
	/** Ids of messages refused for the first time since the last success. */
	readonly refused: Set<string>
	/** The state of which the log spoke last. */
	logged: 'ok' | 'failing' | 'parked'
}

export type QueueStates = ReturnType<typeof createQueueStates>

/** A queue waits at most this long after a failure. */
const LONGEST_PAUSE_MS = 60_000
/**
 * Different messages refused in a row after which the receiver is taken to refuse everything; deliveries beside the
 * queue that fail in a row before it is paused.
 */
const MOST_IN_ROW = 3
/** The same within a minute after an accepted message: what it refuses for ever may stand before all others. */
const MOST_WHILE_IT_WORKS = 12

/**
 * Refusals of a mail server before it sees a message. They count for all messages, because many failed logins lock an
 * account.
 */
const BEFORE_MESSAGE: ReadonlySet<ReasonCode | undefined> = new Set<ReasonCode>([
	'login-refused',
	'login-wanted',
	'no-login',
	'no-tls',
	'not-served',
])

/** Whether a refusal is of all recipients of a mail server. */
export function isOfAll({ recipient }: Pick<Delivery, 'recipient'>, code: ReasonCode | undefined): boolean {
	return recipient !== null && BEFORE_MESSAGE.has(code)
}

export function mostInRow({ acceptedAtMs }: QueueState, nowMs: number): number {
	return Math.abs(nowMs - (acceptedAtMs ?? 0)) < LONGEST_PAUSE_MS ? MOST_WHILE_IT_WORKS : MOST_IN_ROW
}

export function pauseQueue(queue: QueueState, nowMs: number): void {
	const ceilingMs = retryCeilingsMs[Math.min(queue.failures, retryCeilingsMs.length) - 1] ?? LONGEST_PAUSE_MS
	queue.pausedUntilMs = nowMs + Math.min(ceilingMs, LONGEST_PAUSE_MS)
}

/** One more pause, longer than the one before. */
export function prolong(pause: Pause, nowMs: number): void {
	pause.untilMs = nowMs + restMs(pause.sinceMs, nowMs)
}

export function createQueueStates() {
	const queues = new Map<string, QueueState>()
	/** By queue, or by receiver. */
	const pauses = new Map<string, Pause>()
	const scopeOf = (delivery: Delivery) => (pauses.has(delivery.receiver) ? delivery.receiver : queueOf(delivery))

	/** The receiver refuses everything, at least since then. */
	function begin(delivery: Delivery, words: Refusal, sinceMs: number): Pause {
		const before = pauses.get(scopeOf(delivery))
		const scope = isOfAll(delivery, words.code) ? delivery.receiver : scopeOf(delivery)
		const pause = pauses.get(scope) ?? { sinceMs: before?.sinceMs ?? sinceMs, untilMs: 0, words, isProbed: false }
		pause.words = words
		pauses.set(scope, pause)
		return pause
	}

	return {
		of(delivery: Delivery): QueueState {
			const name = queueOf(delivery)
			const known = queues.get(name)
			if (known !== undefined) return known
			const fresh: QueueState = {
				...{ isFailing: false, failures: 0, pausedUntilMs: 0, acceptedAtMs: null, refused: new Set() },
				...{ sentAtMs: [], askedUntilMs: 0, logged: 'ok' },
			}
			queues.set(name, fresh)
			return fresh
		},
		/** Whether nothing of the queue is tried now. */
		isPaused(delivery: Delivery, nowMs: number): boolean {
			const { pausedUntilMs = 0 } = queues.get(queueOf(delivery)) ?? {}
			// Longer than a pause can be: the clock was set back.
			return nowMs < pausedUntilMs && pausedUntilMs <= nowMs + LONGEST_PAUSE_MS
		},
		/** When the next pause of a queue ends; infinite: none. */
		nextEndMs: (nowMs: number): number =>
			[...queues.values()].reduce(
				(next, { pausedUntilMs }) => (pausedUntilMs > nowMs ? Math.min(next, pausedUntilMs) : next),
				Number.POSITIVE_INFINITY,
			),
		/** Null: its receiver does not refuse everything. */
		pauseOf: (delivery: Delivery): Pause | null => pauses.get(scopeOf(delivery)) ?? null,
		/** Whether the other delivery waits for the same pause. */
		isSharing: (delivery: Delivery, other: Delivery): boolean =>
			other.receiver === delivery.receiver && (pauses.has(delivery.receiver) || other.recipient === delivery.recipient),
		begin,
		end: (delivery: Delivery) => void pauses.delete(scopeOf(delivery)),
		/** Finds the pauses that an earlier process began. `pending`: all that waits. */
		learn(pending: readonly Delivery[]): void {
			for (const delivery of pending.filter(isParked)) {
				const { refused, lastError, lastErrorCode: code = 'message-refused', nextAttemptAtMs } = delivery
				const words: Refusal = { result: 'parked', code, reason: lastError ?? '' }
				const sinceMs = refused?.sinceMs ?? nextAttemptAtMs
				const pause = begin(delivery, words, sinceMs)
				// What waits from an earlier pause was not tried since: the receiver has accepted others meanwhile.
				pause.sinceMs = Math.max(pause.sinceMs, sinceMs)
				pause.untilMs = Math.max(pause.untilMs, nextAttemptAtMs)
			}
		},
	}
}
