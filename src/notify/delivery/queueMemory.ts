/** What a process remembers of its queues; everything that must survive it stands in the state. */

import { queueOf } from '../../core/outbox/queue.js'
import { isParked } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome, ReasonCode } from '../../model/delivery.js'

export type Refusal = Outcome & { readonly result: 'parked' }

/** The receiver refuses everything. */
export interface Pause {
	/** When its first refusal was seen; all that waits for it has this time. */
	readonly sinceMs: number
	readonly untilMs: number
	readonly words: Refusal
	/** It refuses the login of all its recipients: the pause is of all its queues. */
	readonly isOfAll: boolean
}

export interface Queue {
	/** The last delivery tried in order failed, and nothing was accepted since. */
	readonly isFailing: boolean
	/** Failures since the last success. */
	readonly failures: number
	/** Deliveries beside it that failed in a row, in this pass. */
	readonly failedBeside: number
	/** Nothing is tried before then. */
	readonly pausedUntilMs: number
	/** When it last accepted a message; null: not in this process. */
	readonly acceptedAtMs: number | null
	/** When it accepted each message of late that counts for its digest rule. */
	readonly sentAtMs: readonly number[]
	/** It asked for no message before then. */
	readonly askedUntilMs: number
	/** Ids of messages refused for the first time since the last success. */
	readonly refused: ReadonlySet<string>
	/** Null: it does not refuse everything. */
	readonly pause: Pause | null
	/** The state of which the log spoke last. */
	readonly logged: 'ok' | 'failing' | 'parked'
}

export type QueueMemory = ReturnType<typeof createQueueMemory>

/** A queue waits at most this long after a failure. */
export const LONGEST_PAUSE_MS = 60_000

export const FRESH_QUEUE: Queue = {
	...{ isFailing: false, failures: 0, failedBeside: 0, pausedUntilMs: 0, acceptedAtMs: null },
	...{ sentAtMs: [], askedUntilMs: 0, refused: new Set<string>(), pause: null, logged: 'ok' },
}

/** Whether a refusal is of all recipients of a mail server: many failed logins lock an account. */
export function isOfAll(code: ReasonCode): boolean {
	return code === 'login-refused'
}

export function createQueueMemory() {
	const queues = new Map<string, Queue>()
	/** Pauses of all queues of a receiver. */
	const pauses = new Map<string, Pause>()

	function of(delivery: Delivery): Queue {
		const own = queues.get(queueOf(delivery)) ?? FRESH_QUEUE
		return { ...own, pause: pauses.get(delivery.receiver) ?? own.pause }
	}

	/** Only with what `of` has just returned: a pause may be of other queues as well. */
	function change(delivery: Delivery, changed: Partial<Queue>): void {
		const queue = { ...of(delivery), ...changed }
		const shared = queue.pause?.isOfAll ? queue.pause : null
		if (shared === null) pauses.delete(delivery.receiver)
		else pauses.set(delivery.receiver, shared)
		queues.set(queueOf(delivery), shared === null ? queue : { ...queue, pause: null })
	}

	return {
		of,
		change,
		/** Whether nothing of the queue is tried now. */
		isPaused(delivery: Delivery, nowMs: number): boolean {
			const { pausedUntilMs } = of(delivery)
			// Longer than a pause can be: the clock was set back.
			return nowMs < pausedUntilMs && pausedUntilMs <= nowMs + LONGEST_PAUSE_MS
		},
		/** When the next pause after a failure ends; infinite: none. */
		nextEndMs: (nowMs: number): number =>
			Math.min(...[...queues.values()].flatMap(({ pausedUntilMs: atMs }) => (atMs > nowMs ? atMs : [])), Infinity),
		/** Finds the pauses that an earlier process began. `pending`: all that waits. */
		learn(pending: readonly Delivery[]): void {
			for (const delivery of pending.filter(isParked)) {
				const { refused, lastError, lastErrorCode: code = 'refused', nextAttemptAtMs } = delivery
				const { pause: before } = of(delivery)
				const pause: Pause = {
					// What waits from an earlier pause was not tried since: the receiver has accepted others meanwhile.
					sinceMs: Math.max(before?.sinceMs ?? 0, refused?.sinceMs ?? nextAttemptAtMs),
					untilMs: Math.max(before?.untilMs ?? 0, nextAttemptAtMs),
					words: { result: 'parked', code, reason: lastError ?? '' },
					isOfAll: before?.isOfAll === true || isOfAll(code),
				}
				change(delivery, { pause })
			}
		},
	}
}
